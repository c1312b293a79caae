"""What the guide says of the way on."""

from __future__ import annotations

import os
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from deployments.cli import app
from deployments.guide import month, talking
from deployments.guide.answers import GivenAnswers
from deployments.guide.month import _make_home, _write_command
from deployments.guide.talking import Talk
from schemas.settings import load_settings
from tests.deployments.test_cli import invoke


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


@pytest.mark.slow
def test_in_the_clone_the_exam_lies_in_a_folder_of_its_own_beside_the_home_of_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Path
) -> None:
    monkeypatch.setattr(talking, "_PROGRAM", (str(warm / "proctor"),))
    monkeypatch.setattr(month, "_CLONE", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert invoke(tmp_path / ".proctor", "init").exit_code == 0
    monkeypatch.setattr(
        os, "environ", {name: value for name, value in os.environ.items() if name != "PROCTOR_HOME"}
    )
    load_settings.cache_clear()
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "law.txt").write_text("1. Why?")
    try:
        for _ in range(2):
            answers = _make_home(Talk(is_silent=True), GivenAnswers(papers="papers"))
            assert answers.papers == str(tmp_path / "papers")
            assert load_settings().home.resolve() == tmp_path / "exam" / ".proctor"
            # Typed again in the clone, it comes to the same folder.
            os.chdir(tmp_path)
            os.environ.pop("PROCTOR_HOME")
            load_settings.cache_clear()
    finally:
        load_settings.cache_clear()
