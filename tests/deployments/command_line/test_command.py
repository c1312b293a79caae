"""A command that a signal ended says so, whatever a library made of the signal."""

from __future__ import annotations

import errno
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


def run(body: Callable[..., None], *typed: str) -> Result:
    """Run a command that needs no home."""
    app = typer.Typer()
    app.callback()(lambda: None)
    app.command("init", cls=Command)(body)
    return CliRunner().invoke(app, ["init", *typed])


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


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/srv/home/progress.json", "/srv/home/progress.json"),
        (None, "A disk (of the home, of temporary files, or of what was to be written)"),
    ],
)
def test_what_the_system_refuses_of_a_file_that_nobody_typed_is_a_failure_in_one_sentence(
    path: str | None, place: str
) -> None:
    def write() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", path)

    done = run(write)
    assert done.exit_code == 1
    assert f"Error: {place} cannot be used: No space left on device." in done.output


@pytest.mark.parametrize("code", [0, 2, 5])
def test_an_exit_keeps_its_code(code: int) -> None:
    def leave() -> None:
        raise typer.Exit(code)

    assert run(leave).exit_code == code


@pytest.mark.parametrize(
    ("typed", "code"),
    [(["--outside", "a", "--outside=b"], 2), (["--outside", "a"], 0), (["--yes", "--yes"], 0)],
)
def test_an_option_that_takes_one_value_is_given_once(typed: list[str], code: int) -> None:
    """Click takes the last: of two candidates one would have been left out without a word."""

    def plan(outside: str = "", yes: bool = False) -> None:
        pass

    done = run(plan, *typed)
    assert done.exit_code == code
    assert ("given more than once" in done.output) is (code == 2)
