"""Questions at a terminal."""

from __future__ import annotations

import os
import pty
import sys
import time

import pytest
import typer

from deployments.command_line.printing import ask

# Polars takes Ctrl-C over as soon as it computes.
ASKS = """
import polars
from deployments.command_line.printing import ask
polars.DataFrame({"a": [1]}).lazy().select(polars.col("a") + 1).collect()
ask("Your name")
"""
PATIENCE_S = 20.0


def test_ctrl_c_ends_a_question_at_once() -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", ASKS])
    try:
        shown = b""
        while b"Your name" not in shown:
            shown += os.read(terminal, 4096)
        # The question is read a moment after it is shown.
        time.sleep(0.3)
        os.write(terminal, b"\x03")
        deadline = time.monotonic() + PATIENCE_S
        ended = 0
        while not ended and time.monotonic() < deadline:
            ended, _ = os.waitpid(child, os.WNOHANG)
            time.sleep(0.05)
        assert ended == child
        child = 0
    finally:
        os.close(terminal)
        if child:
            os.kill(child, 9)
            os.waitpid(child, 0)


def test_an_empty_password_is_an_answer_of_which_the_caller_says_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = iter([""])
    monkeypatch.setattr(f"{typer.prompt.__module__}.hidden_prompt_func", lambda _: next(asked))
    assert ask("Password", hide_input=True) == ""
