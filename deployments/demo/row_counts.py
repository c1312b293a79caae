"""How many rows each analysis has after the demo, as it was counted once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import yaml

# Analysis → its rows after the demo, and after `--everything`: written by `python -m tests.benchmarks.demo_rows`.
ROW_COUNTS: Final = Path(__file__).with_suffix(".yaml")


def read_row_counts() -> dict[str, list[int]]:
    """Rows of every analysis after `proctor demo` and after `proctor demo --everything`."""
    return dict(yaml.safe_load(ROW_COUNTS.read_text("utf-8")))
