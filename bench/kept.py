"""The figures that are kept in `bench/results`, from which the documents are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

RESULTS = ROOT / "bench" / "results"
KEPT = ("http", "growth", "waiting", "memory", "engine", "traffic")
"""The benchmarks whose figures are kept."""


def read(directory: Path = RESULTS) -> dict[str, Any]:
    """The figures that are kept, by benchmark."""
    return {name: json.loads((directory / f"{name}.json").read_text()) for name in KEPT}
