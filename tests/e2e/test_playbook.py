"""Plays of a dishonest operator on the demo's home, by the real commands.

`tests/tasks/exam/public/test_playbook.py` has all of them on made folders; here the operator has a home, every key in it and Proctor itself. Two
witnesses run `proctor witness`; whoever looks runs `proctor exam verify`, alone, and with their heads and a grade.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from tests.e2e.conftest import BIN, Demo, Home
from tests.tasks.proof.changes import CHANGES, in_lake
from warehouse.lake import open_lake

pytestmark = [pytest.mark.prefect, pytest.mark.long]

RUN, NEXT_MONTH, CANDIDATES = "sim-2026-11", "2026-12", "sim-aurora-2,sim-summit-1"


@dataclass
class Play:
    """A home that is played with, and two witnesses of what was true before."""

    home: Home
    folder: Path

    @property
    def heads(self) -> list[Path]:
        return [self.folder / name for name in ("one.jsonl", "two.jsonl")]

    def keep_heads(self) -> None:
        """Sign the head, and let both witnesses keep it."""
        self.home.run("exam", "seal")
        for path in self.heads:
            self.home.run("witness", str(path))

    def go_back(self, act: Callable[[], object]) -> None:
        """Let something happen that the witnesses keep, and put the home of before in its place."""
        before = self.folder / "before"
        shutil.copytree(self.home.path, before)
        act()
        self.keep_heads()
        shutil.rmtree(self.home.path)
        before.rename(self.home.path)

    def commit(self, month: str = NEXT_MONTH) -> None:
        """Commit to a month, as somebody does who has a value to come in mind."""
        self.home.run(
            *(
                "exam",
                "commit",
                "--month",
                month,
                "--candidates",
                CANDIDATES,
                "--beacon",
                "close of the exchange",
            )
        )

    def publish(self) -> None:
        """Publish a correction of the last month."""
        self.home.run("publish", RUN, "--revise", "--reason", "a fault of the judge")
        self.home.run("exam", "seal")

    def change(self, name: str) -> None:
        """One of the changes past Proctor."""
        CHANGES[name].act(self.home.path)

    def look(self, *, is_witnessed: bool = False) -> dict[str, Any]:
        """What `proctor exam verify --json` says; its exit code says whether all holds."""
        asked = [part for path in self.heads for part in ("--head", str(path))] + ["--require", "witnessed"]
        done = self.home.run("exam", "verify", "--json", *(asked if is_witnessed else ()), exit_code=None)
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (0 if found["holds"] else 1)
        return found

    def list_faults(self, *, is_witnessed: bool = False) -> set[str]:
        return {fault["statement"] for fault in self.look(is_witnessed=is_witnessed)["faults"]}


@pytest.fixture
def play(demo: Demo, tmp_path: Path) -> Play:
    home = demo.home.copy(
        tmp_path / "home", PROCTOR_NO_SERVER="true", PROCTOR_SIMULATED_URL="http://127.0.0.1:9/v1"
    )
    shutil.rmtree(home.path / "prefect", ignore_errors=True)
    play = Play(home, tmp_path)
    play.keep_heads()
    assert play.list_faults(is_witnessed=True) == set()
    return play


def raise_stars(home: Path, seq: int) -> None:
    """Other stars for a position of every session, in a lake that agrees with itself."""
    where = f"run_id = '{RUN}' AND seq = {seq}"
    in_lake("judgements", f"UPDATE judgements SET stars = (stars + 1) % 4 WHERE {where}")(home)


def drop_a_session(settings: Settings) -> None:
    tables = ("sessions", "allocations", "responses", "judgements")
    with open_lake(settings) as lake:
        name = lake.query(
            "SELECT session_id FROM sessions WHERE run_id = $run ORDER BY ALL LIMIT 1", {"run": RUN}
        ).item()
        with lake.transaction(tables) as connection:
            for table in tables:
                connection.execute(f"DELETE FROM {table} WHERE session_id = $name", {"name": name})


def test_a_session_that_is_dropped_before_the_publication_is_missed_by_everybody(play: Play) -> None:
    drop_a_session(Settings(home=play.home.path))
    play.publish()
    assert play.list_faults() == {"session_missing"}
    assert "session_missing" in play.list_faults(is_witnessed=True)


def test_a_draw_that_was_thrown_away_for_another_is_caught_by_witnesses_alone(play: Play) -> None:
    play.go_back(play.commit)
    play.commit()
    play.home.run("exam", "draw", f"sim-{NEXT_MONTH}", "--beacon-value", "4321.09")
    play.home.run("exam", "seal")
    assert play.list_faults() == set()
    assert "log_truncated" in play.list_faults(is_witnessed=True)


def test_stars_that_are_changed_in_the_published_file_are_found_by_everybody(play: Play) -> None:
    play.change("published stars are raised in their file")
    assert {"judgements_wrong", "file_changed"} & play.list_faults()


def test_stars_that_are_changed_before_they_are_published_are_named_by_the_audit_alone(play: Play) -> None:
    raise_stars(play.home.path, 1)
    play.publish()
    play.keep_heads()
    assert play.list_faults(is_witnessed=True) == set()
    audit = play.home.run("exam", "audit", "--json", exit_code=1)
    assert "landing_replaced" in {one["name"] for one in json.loads(audit.stdout)["findings"]}


def test_an_edition_that_is_written_again_is_caught_by_witnesses_alone(play: Play) -> None:
    def correct() -> None:
        raise_stars(play.home.path, 1)
        play.publish()

    play.go_back(correct)
    raise_stars(play.home.path, 2)
    play.publish()
    assert play.list_faults() == set()
    assert "log_truncated" in play.list_faults(is_witnessed=True)


def test_a_log_that_is_forked_is_caught_by_who_has_a_head_of_the_other(play: Play) -> None:
    other = replace(play, home=play.home.copy(play.folder / "other"))
    other.commit()
    other.keep_heads()
    play.commit("2027-01")
    play.home.run("exam", "seal")
    assert play.list_faults() == set()
    assert "log_truncated" in play.list_faults(is_witnessed=True)


@pytest.mark.skipif(
    shutil.which("faketime") is None, reason="faketime is not installed: apt-get install faketime"
)
def test_an_entry_that_is_dated_back_is_noted_for_everybody(play: Play) -> None:
    replace(play, home=replace(play.home, bin=make_past(play.folder))).commit()
    play.home.run("exam", "seal")
    found = play.look(is_witnessed=True)
    assert found["holds"]
    (note,) = [note for note in found["notes"] if "is dated" in note]
    assert note.startswith("Entry 106 is dated")


def make_past(folder: Path) -> Path:
    """A folder with a `proctor` whose clock is three weeks behind."""
    program = folder / "past" / "proctor"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec faketime -f -21d {BIN / "proctor"} "$@"\n')
    program.chmod(0o755)
    return program.parent
