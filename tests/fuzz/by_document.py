"""Valid and invalid requests from the published document, with all checks of schemathesis.

Starts a service with an embedded store. Schemathesis tries each operation alone and in sequences
along the document's links, until the time is up. Its configuration, and the checks that are left
out, each with its reason, are in `schemathesis.toml` and `hooks.py`.

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
    """Run schemathesis, and return its exit code and its output."""
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
