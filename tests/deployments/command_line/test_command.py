"""A command that a signal ended says so, whatever a library made of the signal."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import typer
from pydantic import BaseModel, model_serializer
from typer.testing import CliRunner, Result

from deployments.command_line.command import Command
from schemas.errors import INTERRUPTED


class Told(BaseModel):
    @model_serializer
    def serialize(self) -> str:
        raise KeyboardInterrupt


def run(body: Callable[[], None]) -> Result:
    """Run a command that needs no home."""
    app = typer.Typer()
    app.callback()(lambda: None)
    app.command("init", cls=Command)(body)
    return CliRunner().invoke(app, ["init"])


def test_a_signal_that_pydantic_wrapped_is_an_interruption() -> None:
    def tell() -> None:
        Told().model_dump()

    done = run(tell)
    assert done.exit_code == INTERRUPTED
    assert "Error: Interrupted." in done.output


def test_a_fault_of_ours_is_no_interruption() -> None:
    def break_down() -> None:
        raise ValueError("broken")

    assert isinstance(run(break_down).exception, ValueError)


@pytest.mark.parametrize("code", [0, 2, 5])
def test_an_exit_keeps_its_code(code: int) -> None:
    def leave() -> None:
        raise typer.Exit(code)

    assert run(leave).exit_code == code
