"""All proofs, in their long form or, with `--quick`, in the short one.

python -m tests.proofs [--quick] [--seconds N] [--json FILE] [SCENARIO …]
"""

from tests.proofs import abuse, failover, faults, matches, memory, races, stopping
from tests.proofs.report import Scenario, run

SCENARIOS: dict[str, Scenario] = {
    f"{module.__name__.rpartition('.')[2]}/{name}": scenario
    for module in (abuse, races, matches, faults, failover, stopping, memory)
    for name, scenario in module.SCENARIOS.items()
}

if __name__ == "__main__":
    run(SCENARIOS, __doc__)
