"""Every proof in its quick form: all that must not happen does not, under a load that is real."""

import pytest

from tests.proofs.__main__ import SCENARIOS
from tests.proofs.report import QUICK, Report, Row
from tests.support.tools import find_program

NEED_REDIS = ("-of-redis", "sentinel-without-wait", "resharding", "sharded-channels", "tls")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_what_must_not_happen_does_not(name: str) -> None:
    if name.endswith(NEED_REDIS):
        find_program("redis-server")
    if name.endswith("/tls"):
        find_program("openssl")
    report = Report()
    report.scenario = name
    SCENARIOS[name](report, QUICK)
    assert report.rows
    assert not report.failures, "\n".join([*report.failures, report.table()])


def test_a_report_fails_for_each_demand_that_is_not_met() -> None:
    report = Report()
    report.none("lost", 0)
    report.at_least("moves", 10, 10)
    report.at_most("seconds", 1.5, 2)
    report.tell("anything", 99)
    assert not report.failures
    report.none("lost", 1, "this one")
    report.at_least("moves", 9, 10)
    report.at_most("seconds", 2.5, 2)
    assert [row.is_met for row in report.rows] == [True] * 4 + [False] * 3
    assert len(report.failures) == 4  # the example comes last
    assert report.table().count("NOT MET") == 3
    assert isinstance(report.rows[0], Row)
