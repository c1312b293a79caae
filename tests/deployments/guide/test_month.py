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
from deployments.guide.month import _make_home, _write_command
from deployments.guide.talking import GivenAnswers, Talk
from schemas.errors import UsageError
from schemas.settings import load_settings
from tests.deployments.conftest import copy_new_home
from tests.fresh import open_new_lake
from tests.tasks.bank.exchange.test_exports import make_bank_row
from tests.warehouse.bank_rows import BANK, land_bank_rows


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
def test_a_paper_whose_discipline_is_not_known_is_asked_about_before_anybody_reviews_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Path
) -> None:
    monkeypatch.setattr(talking, "_PROGRAM", (str(warm / "proctor"),))
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PROCTOR_NO_SERVER", "true")
    copy_new_home(tmp_path / "home")
    load_settings.cache_clear()
    papers = tmp_path / "papers"
    papers.mkdir()
    for name, word in (("a [1]", "榫头"), ("b", "刨刀")):
        lines = [
            f"{number}. {word}的第{number}种做法合用吗？（B）\nA. 合用\nB. 不合用" for number in (1, 2, 3)
        ]
        (papers / f"{name}.txt").write_text("\n".join(lines), "utf-8")
    # A word that is no discipline is asked for again; small letters will do.
    given = iter(["carpentry", "engineering", "none"])
    asked: list[str] = []

    def answer(question: str, **_: object) -> str:
        asked.append(question)
        return next(given)

    monkeypatch.setattr(talking, "ask", answer)
    try:
        month._read_papers(Talk(), GivenAnswers(papers=str(papers)), is_later=False)
        assert month._count_read(Talk()) == {"Engineering": 3, "unknown": 3}
        # What is left out stays so, and is not asked about again.
        month._read_papers(Talk(), GivenAnswers(papers=str(papers)), is_later=False)
        # Whoever reads them again by hand need not know where it was kept.
        Talk().run("ingest", str(papers), "--again")
        assert month._count_read(Talk()) == {"Engineering": 3, "unknown": 3}
    finally:
        load_settings.cache_clear()
    assert [question.split(" (")[0] for question in asked] == [
        f"Discipline of {name}.txt" for name in ("a [1]", "a [1]", "b")
    ]


def test_a_set_is_proposed_of_the_questions_that_it_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    load_settings.cache_clear()
    picture = [{"number": 1, "sha256": "ab" * 32, "place": "stem"}]
    rows = [make_bank_row(f"What is {number}?", discipline="Law") for number in range(4)]
    rows += [
        make_bank_row(f"What does [picture:1] show, {number}?", discipline="Law", pictures=picture)
        for number in range(2)
    ]
    rows.append(make_bank_row("Why?", discipline=None))
    with open_new_lake(load_settings()) as lake:
        land_bank_rows(lake, BANK.frame(rows))
    for share, law, left_out in (("0", 4, 2), ("0.2", 5, 1), ("1", 6, 0)):
        monkeypatch.setenv("PROCTOR_PICTURE_SHARE", share)
        load_settings.cache_clear()
        assert month._count_drawable() == ({"Law": law, "unknown": 1}, left_out)
    load_settings.cache_clear()


@pytest.mark.slow
def test_in_the_clone_the_exam_lies_in_a_folder_of_its_own_beside_the_home_of_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Path
) -> None:
    monkeypatch.setattr(talking, "_PROGRAM", (str(warm / "proctor"),))
    monkeypatch.setattr(month, "_CLONE", tmp_path)
    monkeypatch.chdir(tmp_path)
    copy_new_home(tmp_path / ".proctor")
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


@pytest.mark.parametrize(("is_silent", "agrees"), [(True, False), (False, False), (False, True)])
def test_a_file_of_settings_above_is_written_into_by_nobody_who_was_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_silent: bool, agrees: bool
) -> None:
    (tmp_path / "proctor.toml").write_text("set_size = 7\n")
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path / "own")
    monkeypatch.delenv("PROCTOR_HOME", raising=False)
    asked: list[str] = []
    begun: list[tuple[str, ...]] = []

    def answer(question: str, *, default: bool) -> bool:
        asked.append(question)
        return agrees

    monkeypatch.setattr(talking, "ask_whether", answer)
    monkeypatch.setattr(Talk, "run", lambda _, *command, **__: begun.append(command))
    load_settings.cache_clear()
    try:
        if agrees:
            _make_home(Talk(), GivenAnswers())
        else:
            with pytest.raises(
                UsageError, match=rf"{tmp_path / 'proctor.toml'} holds here, too.*touch proctor"
            ):
                _make_home(Talk(is_silent), GivenAnswers())
        assert begun == ([("init",)] if agrees else [])
        assert len(asked) == (not is_silent)
        # Nobody is asked about one's own.
        Path("proctor.toml").touch()
        load_settings.cache_clear()
        _make_home(Talk(is_silent=True), GivenAnswers())
    finally:
        load_settings.cache_clear()
    assert begun[-1] == ("init",) and len(asked) == (not is_silent)
