"""The guide asks again for what cannot be; an interrupted command puts away what it holds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import typer

from deployments.guide import talking
from deployments.guide.talking import StepError, Talk, split_names
from schemas.errors import INTERRUPTED, UsageError
from schemas.settings import load_settings

# A command that needs a second to end: interrupted as a terminal would, or told to.
SLOW = """
import pathlib, signal, sys, time
def end(*_):
    time.sleep(1)
    pathlib.Path(sys.argv[1]).write_text("put away")
    sys.exit(0)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, end)
pathlib.Path(sys.argv[1]).write_text("begun")
time.sleep(60)
"""


def only_even(text: str) -> None:
    if int(text) % 2:
        raise UsageError(f"{text} is odd. Give an even number.")


def test_what_is_refused_is_said_and_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = iter(["3", " 4 "])
    monkeypatch.setattr(typer, "prompt", lambda *_, **__: next(typed))
    assert Talk().ask("A number", check=only_even) == "4"
    assert capsys.readouterr().out == "3 is odd. Give an even number.\n"


@pytest.mark.parametrize("talk", [Talk(), Talk(is_silent=True)])
def test_what_was_given_beforehand_is_refused_once(talk: Talk) -> None:
    with pytest.raises(UsageError, match="3 is odd"):
        talk.ask("A number", "2", given="3", check=only_even)


def test_with_nobody_to_ask_the_default_is_taken_or_the_option_named() -> None:
    assert Talk(is_silent=True).ask("A number", "2", check=only_even) == "2"
    with pytest.raises(UsageError, match="A number: with --yes nobody is asked; give --number"):
        Talk(is_silent=True).ask("A number", option="--number")


def test_what_a_command_that_is_read_refuses_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "none"))
    load_settings.cache_clear()
    with pytest.raises(StepError):
        Talk().read("status")
    load_settings.cache_clear()
    assert "holds no home of Proctor. Run `proctor init`" in capsys.readouterr().err


def test_an_interrupted_command_ends_by_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script, mark = tmp_path / "slow.py", tmp_path / "mark"
    script.write_text(SLOW)
    monkeypatch.setattr(talking, "_PROGRAM", (sys.executable, str(script)))
    monkeypatch.setattr(talking, "_ENDS_BY_ITSELF_S", 0.2)

    def interrupt() -> None:
        while not mark.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    # Whoever runs tests in the background of a shell has SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    waiting = threading.Thread(target=interrupt)
    waiting.start()
    try:
        with pytest.raises(StepError) as ended:
            Talk().run(str(mark))
    finally:
        waiting.join()
        signal.signal(signal.SIGINT, before)
    assert ended.value.code == INTERRUPTED
    assert mark.read_text() == "put away"


def test_a_command_that_fails_is_run_again_where_somebody_wants_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    # Fails until it has been there once.
    once = "import pathlib, sys; mark = pathlib.Path(sys.argv[1]); there = mark.exists(); mark.touch(); sys.exit(0 if there else 2)"
    monkeypatch.setattr(talking, "_PROGRAM", (sys.executable, "-c", once))
    with pytest.raises(StepError):
        Talk(is_silent=True).insist(str(mark))
    mark.unlink()
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: True)
    Talk().insist(str(mark))
    assert subprocess.run([sys.executable, "-c", once, str(mark)], check=False).returncode == 0


def test_names_count_once() -> None:
    assert split_names(" anna, ben,anna,, ") == ["anna", "ben"]
