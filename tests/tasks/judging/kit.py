"""What tests of other rooms need of the judging beside its face, in one place."""

from __future__ import annotations

from tasks.judging.controls.trials import list_control_trials
from tasks.judging.error_labels import parse_label
from tasks.judging.judge import name_unit
from tasks.judging.landing import judge_landed, land_judgements, read_put_responses
from tasks.judging.parsing import parse_judgement

__all__ = [
    "judge_landed",
    "land_judgements",
    "list_control_trials",
    "name_unit",
    "parse_judgement",
    "parse_label",
    "read_put_responses",
]
