"""The alerts and the dashboard: their queries are right, and name only what is measured."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.support.api_client import new_player, seat_two
from tests.support.paths import ROOT
from tests.support.service import Service, fresh_metrics, serving
from tests.support.tools import find_program

HERE = Path(__file__).parent
ALERTS = ROOT / "deploy" / "alerts.yaml"
RULES = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
DASHBOARD = json.loads((ROOT / "deploy" / "grafana.json").read_text(encoding="utf-8"))
TARGETS = [
    (panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]
]
QUERIES = [rule["expr"] for rule in RULES] + [query for _, query in TARGETS]

ADDED = {"job", "instance", "le"}
"""The labels that Prometheus and histograms add."""


def promtool(*arguments: str) -> str:
    command = [find_program("promtool"), *arguments]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_prometheus_takes_the_alerts() -> None:
    assert f"{len(RULES)} rules found" in promtool("check", "rules", str(ALERTS))


def test_each_alert_fires_when_it_should_and_only_then() -> None:
    assert "SUCCESS" in promtool("test", "rules", "alerts.test.yaml")


def test_no_alert_is_left_out_of_these_tests() -> None:
    tests = yaml.safe_load((HERE / "alerts.test.yaml").read_text(encoding="utf-8"))["tests"]
    expected = [each for test in tests for each in test["alert_rule_test"]]
    for rule in RULES:
        of_rule = [each for each in expected if each["alertname"] == rule["alert"]]
        assert any(each.get("exp_alerts") for each in of_rule), rule["alert"]
        assert not all(each.get("exp_alerts") for each in of_rule), rule["alert"]


def test_prometheus_takes_the_queries_of_the_dashboard(tmp_path: Path) -> None:
    shown = {"$job": "ludotheque", "$__rate_interval": "1m"}
    rules = []
    for number, (_, query) in enumerate(TARGETS):
        plain = re.sub(r"\$\w+", lambda variable: shown[variable[0]], query)
        rules.append({"record": f"query:{number}", "expr": plain})
    file = tmp_path / "queries.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    promtool("check", "rules", str(file))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The labels of each series that a service exports, by the series' name."""
    with serving(tmp_path_factory.mktemp("service")) as service:
        use(service)
        labels: dict[str, set[str]] = {}
        for family in text_string_to_metric_families(fresh_metrics(service)):
            labels.setdefault(f"{family.name}{'_total' if family.type == 'counter' else ''}", set())
            for sample in family.samples:
                labels.setdefault(sample.name, set()).update(sample.labels)
    return labels


def use(service: Service) -> None:
    players, game_id = seat_two(service.url)
    mover = next(each for each in players if each.game(game_id)["legal_moves"])
    mover.play_first(game_id)
    new_player(service.url).get("/v1/me/turns?wait=1")


def selectors(query: str) -> Iterator[tuple[str, set[str]]]:
    """The series of a query, each with the labels that it is selected by."""
    for name, matchers in re.findall(r"\b(ludotheque_\w+|up)\b(?:\{(.*?)\}(?=[\[ )]|$))?", query):
        yield name, set(re.findall(r"(\w+)\s*(?:=~|!=|=|!~)\s*\"", matchers))


@pytest.mark.parametrize("query", QUERIES)
def test_every_query_names_only_metrics_and_labels_that_exist(
    query: str, measured: dict[str, set[str]]
) -> None:
    names = dict(selectors(query))
    assert names
    grouped = {
        label.strip()
        for labels in re.findall(r"\bby \((.*?)\)", query)
        for label in labels.split(",")
    }
    known = {"up": set[str](), **measured}
    exported = set().union(*(known[name] for name in names))
    assert grouped <= exported | ADDED
    for name, labels in selectors(query):
        assert labels <= known[name] | ADDED, name


def test_every_metric_is_on_the_dashboard(measured: dict[str, set[str]]) -> None:
    shown = {name for _, query in TARGETS for name, _ in selectors(query)}
    bases = {re.sub(r"_(bucket|count|sum)$", "", name) for name in measured}
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in shown} == bases


def test_no_panel_hides_another() -> None:
    cells: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        own = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not own & cells, panel["title"]
        assert at["x"] + at["w"] <= 24
        cells |= own


def test_every_panel_asks_the_data_source_that_is_chosen() -> None:
    chosen: list[Any] = [panel["datasource"] for panel in DASHBOARD["panels"]]
    chosen += [each["datasource"] for panel in DASHBOARD["panels"] for each in panel["targets"]]
    assert {each["uid"] for each in chosen} == {"${datasource}"}
