"""Of the demo, what tests of other rooms need beside its face: reviewers and models."""

from __future__ import annotations

from deployments.demo.reviewing import Verdict, fill_workbook, read_verdicts
from deployments.demo.simulation import running_models

__all__ = ["Verdict", "fill_workbook", "read_verdicts", "running_models"]
