"""Requests made from the published document, valid and invalid, with all of schemathesis's checks.

Starts the service with a store of its own, and lets schemathesis try every operation by itself and
in sequences along the document's links, again and again until the time is up. What it is told,
and what is left out and why: `schemathesis.toml` and `hooks.py` beside this.

    python -m tests.fuzz.by_document [--seconds N] [--examples N] [--seed N]
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.health import Watch
from tests.support.paths import ROOT
from tests.support.service import serving

CONFIG = Path(__file__).with_name("schemathesis.toml")


def run(url: str, seconds: int, examples: int, seed: int) -> tuple[int, str]:
    """Schemathesis's exit code, and all that it says."""
    command = [sys.executable, "-m", "schemathesis.cli", f"--config-file={CONFIG}", "run"]
    command += [str(ROOT / "openapi.yaml"), f"--url={url}", "--no-color"]
    command += [f"--max-time={seconds}", f"--max-examples={examples}", f"--seed={seed}"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--examples", type=int, default=50, help="of each operation, at a time")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as directory,
        serving(directory, APPEND_FSYNC="everysec", RATE_LIMITS="off") as service,
    ):
        watch = Watch(service)
        code, said = run(service.url, chosen.seconds, chosen.examples, chosen.seed)
        print(said)
        watch.check()
    return code


if __name__ == "__main__":
    raise SystemExit(main())
