"""All benchmarks, one after the other, each in a process of its own.

    python -m bench [--quick] [--json DIRECTORY] [--keep] [NAME ...]

They take forty minutes, with `--quick` three minutes, and want a machine that is quiet.
`--json` writes the figures of each to a file there. `--keep` writes them to `bench/results`, and
the tables and the picture of docs/performance.md and docs/scaling.md from them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from bench.kept import KEPT, RESULTS

BENCHMARKS = ("engine", "house", "memory", "waiting", "traffic", "http", "boardgame_io", "growth")


def main() -> None:
    """Run them."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="briefly, to see that they work")
    parser.add_argument("--json", type=Path, metavar="DIRECTORY")
    parser.add_argument("--keep", action="store_true", help="as what the documents tell")
    given = parser.parse_args()
    if unknown := set(given.names) - set(BENCHMARKS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    directory = RESULTS if given.keep else given.json
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    for name in given.names or BENCHMARKS:
        run(name, quick=given.quick, directory=directory, keep=given.keep)
    for part in ("report", "picture") if given.keep else ():
        subprocess.run([sys.executable, "-m", f"bench.{part}"], check=True)


def run(name: str, *, quick: bool, directory: Path | None, keep: bool) -> None:
    """Run one."""
    command = [sys.executable, "-m", f"bench.{name}"]
    if quick:
        command.append("--quick")
    if directory is not None and (name in KEPT or not keep):
        command += ["--json", str(directory / f"{name}.json")]
    print(f"\n=== {name}\n", flush=True)
    begin = time.monotonic()
    subprocess.run(command, check=True)
    print(f"\n{time.monotonic() - begin:.0f} seconds", flush=True)


if __name__ == "__main__":
    main()
