"""What the guide says of the way on."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import Any

import pytest

from deployments.cli import app
from deployments.guide.answers import GivenAnswers
from deployments.guide.month import _write_command


def test_the_command_that_goes_on_has_what_was_answered_for_later_steps() -> None:
    answers = GivenAnswers(
        papers="p",
        annotators="a,b",
        url="http://127.0.0.1:1/v1",
        candidates="one,two",
        judge="j",
        are_simulated=True,
    )
    assert _write_command(answers, "2026-11", is_silent=True) == (
        "proctor start --url http://127.0.0.1:1/v1 --candidates one,two --judge j --simulated --month 2026-11 --yes"
    )
    # Without candidates somebody must be there to name them.
    assert _write_command(GivenAnswers(papers="p"), "", is_silent=True) == "proctor start"


def test_every_answer_has_the_option_that_the_command_writes(capsys: pytest.CaptureFixture[str]) -> None:
    given: dict[str, Any] = dict.fromkeys((field.name for field in fields(GivenAnswers)), "1")
    given["are_simulated"] = True
    written = shlex.split(_write_command(GivenAnswers(**given), "", is_silent=False))
    with pytest.raises(SystemExit):
        app(["start", "--help"])
    shown = capsys.readouterr().out
    options = [word for word in written if word.startswith("--")]
    assert len(options) == len(fields(GivenAnswers)) - 2
    assert [option for option in options if f"{option} " not in shown] == []
