"""What tests of other rooms need of the judging beside its face, in one place."""

from __future__ import annotations

from tasks.judging.controls.trials import list_control_trials as list_control_trials
from tasks.judging.error_labels import parse_label as parse_label
from tasks.judging.judge import name_unit as name_unit
from tasks.judging.landing import judge_landed as judge_landed
from tasks.judging.landing import land_judgements as land_judgements
from tasks.judging.landing import read_put_responses as read_put_responses
from tasks.judging.parsing import parse_judgement as parse_judgement
