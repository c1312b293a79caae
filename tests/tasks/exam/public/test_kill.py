"""A process killed while the public log is written leaves one chain that the next finishes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from tasks.exam.public import write_whole
from tasks.exam.public.log import folder, heads
from tasks.exam.public.log.check import check_public_log
from tasks.exam.public.log.heads import sign_public_head
from tasks.exam.public.log.log_file import name_log_file, write_public_log
from tasks.exam.public.log.signed_heads import iter_heads, name_public_heads_file
from tests.children import start_child
from tests.tasks.exam.public.test_log_file import add
from tests.tasks.exam.world import World
from warehouse.ledger.engine.opening import open_ledger


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run_and_be_killed(work: Callable[[], None]) -> None:
    """The work in a process of its own, which must have been killed in it."""
    child = start_child(work)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


@pytest.mark.parametrize("file", ["log.jsonl", "log.jsonl.draft", "heads.jsonl"])
@pytest.mark.parametrize("share", [0.0, 0.3, pytest.param(0.999, marks=pytest.mark.long), 1.0])
def test_a_process_that_is_killed_while_it_writes_leaves_what_the_next_one_finishes(
    world: World, tmp_path: Path, file: str, share: float
) -> None:
    """Before a byte, in the middle of a line, without the last newline, before the disk."""
    add(world.ledger, {"what": "one"}, {"what": "two"})
    sign_public_head(world.ledger, world.settings)
    if file == "log.jsonl.draft":
        name_log_file(world.settings).unlink()
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"

    def write_and_die(descriptor: int, data: bytes) -> int:
        named = Path(f"/proc/self/fd/{descriptor}").readlink().name
        if named != file:
            return os.write(descriptor, data)
        os.write(descriptor, bytes(data)[: int(len(data) * share)])
        kill()
        raise AssertionError

    def work() -> None:
        class Hooked:
            write = staticmethod(write_and_die)

            def __getattr__(self, name: str) -> object:
                return getattr(os, name)

        with mock.patch.object(folder, "os", Hooked()), open_ledger(address) as own:
            add(own, {"what": "three"})
            sign_public_head(own, world.settings)

    run_and_be_killed(work)
    head = sign_public_head(world.ledger, world.settings)
    report = check_public_log(world.ledger, world.settings)
    # What a killed process left of the heads is a whole head, or nothing.
    assert report.findings == ()
    assert head is not None
    assert (head.number, report.entry_count, report.file_count) == (5, 5, 5)
    kept = list(iter_heads(name_public_heads_file(world.settings).read_bytes().splitlines()))
    assert [found.number for found in kept if found] == [4, 5]


def test_a_process_that_is_killed_between_head_and_entry_leaves_a_head_that_counts(
    world: World, tmp_path: Path
) -> None:
    add(world.ledger, {"what": "one"})
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"

    def work() -> None:
        with mock.patch.object(heads, "add_entry", lambda *_: kill()), open_ledger(address) as own:
            sign_public_head(own, world.settings)

    run_and_be_killed(work)
    signed = sign_public_head(world.ledger, world.settings)
    assert signed is not None
    assert name_public_heads_file(world.settings).read_text() == signed.write_line() + "\n"
    assert check_public_log(world.ledger, world.settings).findings == ()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_processes_that_are_killed_at_any_moment_leave_one_chain(
    world: World, tmp_path: Path, seed: int
) -> None:
    """Three at once add entries, write and seal, each killed after a time that is drawn."""
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"

    def write_on(place: int) -> None:
        drawn = int.from_bytes(hashlib.sha256(f"{seed} {place}".encode()).digest()[:4], "big")
        signal.signal(signal.SIGALRM, lambda *_: kill())
        signal.setitimer(signal.ITIMER_REAL, 0.05 + drawn / 2**32 * 0.6)
        with open_ledger(address) as own:
            for turn in range(10**6):
                add(own, {"what": f"{place} {turn}"})
                write_public_log(own, world.settings)
                if turn % 3 == place:
                    sign_public_head(own, world.settings)

    children = [start_child(partial(write_on, place)) for place in range(3)]
    for child in children:
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    sign_public_head(world.ledger, world.settings)
    report = check_public_log(world.ledger, world.settings)
    assert report.findings == ()
    assert report.entry_count == report.file_count
    turns: dict[str, int] = {}
    for line in name_log_file(world.settings).read_text().splitlines():
        what = json.loads(line)["body"].get("what")
        if what is not None:
            place, turn = what.split()
            # Every entry that a process was told of is there, in its order, once.
            assert int(turn) == turns.get(place, -1) + 1
            turns[place] = int(turn)


def test_drafts_that_killed_processes_left_long_ago_are_swept_away_those_of_earlier_versions_too(
    tmp_path: Path,
) -> None:
    for name in (".edition.json.ab12cd34.draft", ".edition.json.17.ab12cd34.part"):
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (1, 1))
    now = tmp_path / ".sets.jsonl.ab12cd34.draft"
    now.write_text("being written")
    write_whole(tmp_path / "edition.json", ["{}"])
    # A process whose clock is ahead leaves it, too: it is still being written.
    with mock.patch("time.time", return_value=now.stat().st_mtime + 86_400):
        write_whole(tmp_path / "edition.json", ["{}"])
    assert sorted(tmp_path.iterdir()) == [now, tmp_path / "edition.json"]
