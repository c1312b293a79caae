"""Options that travel together reach a command as one value, typed like any others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from deployments.command_line.command import with_option_groups


@dataclass(frozen=True)
class Trip:
    """Where to, and how."""

    place: Annotated[str, typer.Option("--to", help="Where to.")]
    days: Annotated[int, typer.Option("--days", min=1, help="How long.")] = 3
    stops: Annotated[list[str] | None, typer.Option("--stop", help="On the way.")] = None


@pytest.fixture
def calls() -> list[tuple[str, Trip, bool]]:
    return []


@pytest.fixture
def app(calls: list[tuple[str, Trip, bool]]) -> typer.Typer:
    made = typer.Typer()

    @made.command()
    @with_option_groups
    def travel(
        who: Annotated[str, typer.Argument(help="Who travels.")],
        trip: Trip,
        quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing.")] = False,
    ) -> None:
        """Travel."""
        calls.append((who, trip, quiet))

    return made


def test_a_group_is_one_value_of_what_was_typed_and_of_its_defaults(
    app: typer.Typer, calls: list[tuple[str, Trip, bool]]
) -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["ann", "--to", "Rome"]).exit_code == 0
    typed = ["bo", "--quiet", "--days", "5", "--stop", "Pisa", "--stop", "Siena", "--to", "Rome"]
    assert runner.invoke(app, typed).exit_code == 0
    assert calls == [("ann", Trip("Rome"), False), ("bo", Trip("Rome", 5, ["Pisa", "Siena"]), True)]


def test_what_a_field_says_of_its_option_holds(app: typer.Typer, calls: list[tuple[str, Trip, bool]]) -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["ann"]).exit_code == 2
    assert runner.invoke(app, ["ann", "--to", "Rome", "--days", "0"]).exit_code == 2
    assert calls == []


def test_options_of_a_group_are_explained_in_its_place(app: typer.Typer) -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    places = [shown.index(name) for name in ("who", "--to", "--days", "--stop", "--quiet")]
    assert places == sorted(places)
    assert "How long." in shown
    assert "Travel." in shown
