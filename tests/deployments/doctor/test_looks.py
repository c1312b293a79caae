"""What the doctor found as it was closed is read again in turns, and all of it with `--all`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import Connection, delete, func, select, update

from deployments.doctor import contents, examine_home, looks
from schemas.settings import Settings
from tasks.exam.closed import find_changed_sessions, land_access_log
from tasks.exam.log import check_log
from tasks.models import land_paid_calls
from tasks.operations.archiving import archive_runs
from tests.deployments.test_cli import invoke
from tests.tasks.exam.kit import note_sources, read_sound_sources
from tests.tasks.exam.tamperings import rehash
from tests.tasks.operations.erasure.conftest import LATER, hold_home, judged_home
from warehouse.lake import open_lake, share_lake
from warehouse.lake.upkeep import Looked, read_unit
from warehouse.ledger.engine import tables as t
from warehouse.ledger.engine.opening import open_ledger

pytestmark = pytest.mark.slow
__all__ = ["judged_home"]
READERS = ("audit log", "stages", "public log", "ledger against lake", "end of the audit log")
# Most of a look, and nothing here asks for what they find.
OTHERS = (
    "examine_rows", "examine_checks", "examine_months", "examine_editions", "examine_retention", "examine_disclosure",
)  # fmt: skip
examine_rows = contents.examine_rows


@pytest.fixture(autouse=True)
def readers_of_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look reads a third again, and no more than the readers of answers do."""
    monkeypatch.setattr(looks, "LOOKS", 3)
    for name in OTHERS:
        monkeypatch.setattr(contents, name, lambda *_: None)


@pytest.fixture(scope="module")
def looked_home(judged_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home, everything landed and looked at once."""
    settings = hold_home(judged_home, tmp_path_factory.mktemp("looked") / "home")
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        land_access_log(ledger, lake)
        land_paid_calls(ledger, lake)
    assert list_wrong(settings) == set()
    return settings.home


@pytest.fixture
def home(looked_home: Path, tmp_path: Path) -> Iterator[Settings]:
    """A copy of it, attached once for all looks of a test."""
    settings = hold_home(looked_home, tmp_path / "home")
    with share_lake():
        yield settings


def look(settings: Settings, *, is_all_read: bool = False) -> dict[str, tuple[str, str]]:
    """What the readers of answers said: severity and words."""
    found = examine_home(settings, is_all_read=is_all_read)
    return {one.what: (one.severity, one.found) for one in found if one.what in READERS}


def list_wrong(settings: Settings, *, is_all_read: bool = False) -> set[str]:
    return {what for what, (kind, _) in look(settings, is_all_read=is_all_read).items() if kind == "wrong"}


def change(settings: Settings, statement: Callable[[Connection], object]) -> None:
    with open_ledger(settings.ledger_address) as ledger, ledger.engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        statement(connection)
        connection.exec_driver_sql("COMMIT")


def change_an_answer(connection: Connection) -> None:
    connection.execute(update(t.responses).where(t.responses.c.seq == 1).values(response="another"))


def change_an_answer_of_the_last_session(connection: Connection) -> None:
    """Its turn comes last."""
    last = select(func.max(t.responses.c.session_id)).scalar_subquery()
    connection.execute(update(t.responses).where(t.responses.c.session_id == last).values(response="another"))


def change_an_old_entry(connection: Connection) -> None:
    """An entry that nothing but the chain holds to what it was."""
    first = select(func.min(t.access_log.c.number)).where(t.access_log.c.action == "next")
    where = t.access_log.c.number == first.scalar_subquery()
    connection.execute(update(t.access_log).where(where).values(address="10.0.0.1"))


def lose_an_answer(connection: Connection) -> None:
    one = select(t.responses.c.session_id).limit(1).scalar_subquery()
    connection.execute(delete(t.responses).where(t.responses.c.session_id == one, t.responses.c.seq == 1))


def lose_an_entry(connection: Connection) -> None:
    first = select(func.min(t.access_log.c.number)).where(t.access_log.c.action == "next")
    connection.execute(delete(t.access_log).where(t.access_log.c.number == first.scalar_subquery()))


def change_a_call(connection: Connection) -> None:
    """The reply of a call that landed."""
    one = select(func.min(t.llm_calls.c.call_key)).where(t.llm_calls.c.unit.is_not(None))
    where = t.llm_calls.c.call_key == one.scalar_subquery()
    connection.execute(update(t.llm_calls).where(where).values(reply="another"))


def lose_a_call(connection: Connection) -> None:
    one = select(func.min(t.llm_calls.c.call_key)).where(t.llm_calls.c.unit.is_not(None))
    connection.execute(delete(t.llm_calls).where(t.llm_calls.c.call_key == one.scalar_subquery()))


def change_a_set(connection: Connection) -> None:
    first = select(func.min(t.sets.c.lineage_uuid)).scalar_subquery()
    connection.execute(update(t.sets).where(t.sets.c.lineage_uuid == first).values(content={}))


def lose_a_question_of_a_set(connection: Connection) -> None:
    first = select(func.min(t.sets.c.lineage_uuid)).scalar_subquery()
    connection.execute(delete(t.sets).where(t.sets.c.lineage_uuid == first))


def change_a_session(connection: Connection) -> None:
    connection.execute(update(t.sessions).values(opened_at="2020-01-01T00:00:00.000000+00:00"))


def test_a_look_says_what_it_does_not_read_again(home: Settings) -> None:
    with open_ledger(home.ledger_address) as ledger, ledger.read() as connection:
        sessions = int(connection.scalar(select(func.count()).select_from(t.sessions)) or 0)
    due = -(-sessions // looks.LOOKS)
    said = look(home)
    assert said["ledger against lake"] == (
        "fine",
        f"says what was landed; {sessions - due} not read again (--all reads all)",
    )
    assert "not read again" in said["audit log"][1]
    assert {words for _, words in look(home, is_all_read=True).values() if "not read again" in words} == set()


def test_a_new_home_is_fine_at_each_look(tmp_path: Path) -> None:
    assert invoke(tmp_path / "home", "init").exit_code == 0
    new = Settings(home=tmp_path / "home")
    assert [list_wrong(new) for _ in range(3)] == [set(), set(), set()]


Changes = Mapping[Callable[[Connection], None], tuple[str, str]]
# What the reader of each says.
LOST: Changes = {
    lose_an_answer: ("audit log", "answer_missing"),
    lose_a_question_of_a_set: ("audit log", "drawn_content_changed"),
    lose_a_call: ("stages", "stage_changed"),
}
OLD: Changes = {
    change_an_answer: ("audit log", "answer_changed"),
    change_an_old_entry: ("audit log", "entry_changed"),
    change_a_call: ("stages", "stage_changed"),
}


def list_unsaid(said: Mapping[str, tuple[str, str]], changes: Changes) -> list[str]:
    return [one.__name__ for one, (what, finding) in changes.items() if finding not in said[what][1]]


def test_lost_rows_are_found_by_the_next_look_and_again(home: Settings) -> None:
    look(home)
    for lose in LOST:
        change(home, lose)
    assert [list_unsaid(look(home), LOST) for _ in range(2)] == [[], []]


@pytest.mark.long
@pytest.mark.parametrize("lose", [lose_an_entry, change_a_session])
def test_a_lost_entry_or_another_session_is_found_by_the_next_look(
    home: Settings, lose: Callable[[Connection], None]
) -> None:
    list_wrong(home)
    change(home, lose)
    assert list_wrong(home)
    assert list_wrong(home)


def test_changes_of_what_is_old_are_found_in_their_turn_and_by_all(home: Settings) -> None:
    for one in OLD:
        change(home, one)
    # What was found once is found again until it is mended.
    *_, last = (look(home) for _ in range(looks.LOOKS + 1))
    assert list_unsaid(last, OLD) == []
    assert list_unsaid(look(home, is_all_read=True), OLD) == []


@pytest.mark.long
def test_a_set_that_was_changed_is_found_in_its_turn_and_by_all(home: Settings) -> None:
    change(home, change_a_set)
    assert any(list_wrong(home) for _ in range(looks.LOOKS + 1))
    assert list_wrong(home, is_all_read=True)


def rewrite_the_log(connection: Connection) -> None:
    change_an_old_entry(connection)
    connection.execute(delete(t.signed_heads))
    rehash(connection)


def test_a_log_that_was_hashed_again_as_a_whole_is_held_to_its_former_end(home: Settings) -> None:
    change(home, rewrite_the_log)
    assert "end of the audit log" in list_wrong(home)
    assert "end of the audit log" in list_wrong(home)
    kind, words = look(home, is_all_read=True)["end of the audit log"]
    assert kind == "note"
    assert "is not there or is another; the log is taken as it is" in words
    assert "end of the audit log" not in look(home)


def test_the_former_end_is_known_after_a_look_without_a_ledger(home: Settings) -> None:
    ledger, aside = home.home / "ledger.sqlite", home.home / "aside"
    ledger.rename(aside)
    assert {one.what for one in examine_home(home) if one.severity == "wrong"} & {
        "ledger",
        "rows of the ledger",
    }
    aside.rename(ledger)
    change(home, rewrite_the_log)
    assert "end of the audit log" in list_wrong(home)


def test_the_former_end_is_known_after_a_look_at_all_that_found_something(home: Settings) -> None:
    change(home, change_an_answer)
    assert list_wrong(home, is_all_read=True)
    change(home, rewrite_the_log)
    assert "end of the audit log" in list_wrong(home)


def test_what_one_of_two_looks_at_once_found_is_found_again(home: Settings) -> None:
    with open_ledger(home.ledger_address) as ledger, open_lake(home) as lake:
        other = looks.LedgerLook()
        other.begin(ledger, lake, False, lambda *_: None)
        for what in looks._CHECKS:
            other.note_fine(what, check_log(ledger, home, other.seen).stays)
    change(home, change_an_answer_of_the_last_session)
    assert list_wrong(home, is_all_read=True)
    other.save(lambda *_: None)
    assert list_wrong(home)


def forget_sessions(settings: Settings) -> None:
    """Let all sessions be such that landed since the last look."""
    with open_lake(settings, read_only=True) as lake:
        looked = Looked(lake)
        kept = looked.find_saved(looks._NAME, looks._FORM)
        assert kept is not None
        looked.keep(looks._NAME, looks._FORM, {**kept, "sessions": {}})
        looked.save(is_part=True)


def begin_look(settings: Settings) -> looks.LedgerLook:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        now = looks.LedgerLook()
        now.begin(ledger, lake, False, lambda *_: None)
    return now


def list_sessions(settings: Settings) -> list[str]:
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        return list(connection.scalars(select(t.sessions.c.session_id).order_by(t.sessions.c.session_id)))


def test_new_sessions_are_held_to_what_they_landed_from_and_read_first_of_all_in_their_turn(
    home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_sessions(home)
    names = list_sessions(home)
    new = begin_look(home)
    assert (new.unchanged, new.passed, new.known) == (frozenset(names), frozenset(names), frozenset())
    assert list_wrong(home) == set()
    monkeypatch.setattr(looks, "LOOKS", 1)
    after = begin_look(home)
    assert (after.unchanged, after.passed) == (frozenset(), frozenset())
    assert list_wrong(home) == set()


def change_a_moment(connection: Connection) -> None:
    """When a question was planned, which no entry says, but the lake."""
    connection.execute(update(t.allocations).values(allocated_at="2020-01-01T00:00:00.000000+00:00"))


def change_a_discipline(connection: Connection) -> None:
    connection.execute(update(t.sets).values(discipline="another"))


def change_an_entry_of_an_answer(connection: Connection) -> None:
    first = select(func.min(t.access_log.c.number)).where(t.access_log.c.answer_hash.is_not(None))
    where = t.access_log.c.number == first.scalar_subquery()
    connection.execute(update(t.access_log).where(where).values(digest="0" * 64))


def change_a_public_root(connection: Connection) -> None:
    rows = connection.execute(select(t.public_log).where(t.public_log.c.kind == "close")).all()
    line = json.loads(rows[-1].line)
    line["body"]["answers_root"] = "0" * 64
    where = t.public_log.c.number == rows[-1].number
    connection.execute(update(t.public_log).where(where).values(line=json.dumps(line)))


def add_an_answer(connection: Connection) -> None:
    row = connection.execute(select(t.responses).order_by(t.responses.c.seq.desc())).first()
    assert row is not None
    connection.execute(t.responses.insert().values(**{**row._mapping, "seq": row.seq + 1}))


@pytest.mark.parametrize(
    "meddle",
    [
        # One of each: an answer, what no entry says, the public log, what leads to a star.
        change_an_answer_of_the_last_session,
        change_a_moment,
        change_a_public_root,
        change_a_call,
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in (add_an_answer, change_an_entry_of_an_answer, change_a_discipline, change_a_session)
        ),
    ],
)
def test_what_has_changed_since_it_landed_is_found_by_the_first_look(
    home: Settings, meddle: Callable[[Connection], None]
) -> None:
    forget_sessions(home)
    change(home, meddle)
    found, whole = (
        {what: words for what, (kind, words) in look(home, is_all_read=is_all).items() if kind == "wrong"}
        for is_all in (False, True)
    )
    assert found == whole
    assert found


def test_rows_that_were_landed_in_the_place_of_others_are_found_by_the_first_look(home: Settings) -> None:
    forget_sessions(home)
    name = list_sessions(home)[0]
    with open_lake(home) as lake:
        rows = read_unit(lake, "responses", name)
        lake.land("responses", name, rows.with_columns(response=pl.lit("another")))
    assert list_wrong(home) == {"ledger against lake"}


def test_a_session_that_was_another_while_it_landed_is_not_believed(home: Settings) -> None:
    name, *others = list_sessions(home)
    own = t.allocations.c.session_id == name
    with open_ledger(home.ledger_address) as ledger, ledger.read() as connection:
        run_id = str(connection.scalar(select(t.sessions.c.run_id).where(t.sessions.c.session_id == name)))
        was = connection.scalar(select(t.allocations.c.allocated_at).where(own))
    moved = update(t.allocations).where(own)
    change(home, lambda connection: connection.execute(moved.values(allocated_at="2020-01-01")))
    with open_ledger(home.ledger_address) as ledger, open_lake(home) as lake:
        with ledger.read() as connection:
            sources = read_sound_sources(connection, run_id, [name])
        note_sources(ledger, lake, sources)
    change(home, lambda connection: connection.execute(moved.values(allocated_at=was)))
    forget_sessions(home)
    assert list(sources) == [name]
    assert begin_look(home).unchanged == frozenset(others)
    assert list_wrong(home) == set()


def test_of_a_session_that_differs_from_its_log_its_landing_says_nothing(home: Settings) -> None:
    change(home, change_an_answer_of_the_last_session)
    names = list_sessions(home)
    with open_ledger(home.ledger_address) as ledger, ledger.read() as connection:
        run_ids = set(connection.scalars(select(t.sessions.c.run_id)))
        sound = {name for run in run_ids for name in read_sound_sources(connection, run, names)}
    assert sound == set(names[:-1])


def test_what_has_left_the_ledger_is_read_once_more_and_then_known_by_its_files(
    home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_ledger(home.ledger_address) as ledger, open_lake(home) as lake:
        assert archive_runs(home, ledger, lake, now=LATER)
    assert "not read again" not in look(home)["ledger against lake"][1]
    read: list[int] = []
    with open_ledger(home.ledger_address) as ledger, open_lake(home) as lake:
        now = looks.LedgerLook()
        now.begin(ledger, lake, False, lambda *_: None)
        find_changed_sessions(ledger, lake, read.append, now.passed | now.passed_sets)
        with ledger.read() as connection:
            sets = int(connection.scalar(select(func.count()).select_from(t.sets)) or 0)
        kept = Looked(lake).find_saved(looks._NAME, looks._FORM)
    # Of its one set it is always the turn.
    assert sum(read) == sets
    # The set, and all that left together: no line for each session for ever.
    assert kept is not None
    assert len(kept["sessions"]) == 2
    assert list_wrong(home) == set()
    monkeypatch.setattr(contents, "examine_rows", examine_rows)
    with open_lake(home) as lake:
        lake.connection.execute(
            "UPDATE archived_rows SET row_json = replace(row_json, 'answered', 'refused')"
        )
    found = {one.what for one in examine_home(home) if one.severity == "wrong"}
    assert "contents of landings" in found
