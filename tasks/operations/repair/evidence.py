"""What stores, files and logs say of lost commits: what is missing, what is held elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from schemas.counting import say_count
from schemas.settings import Settings
from tasks.exam.closed import find_changed_sessions
from tasks.exam.log import check_log, iter_kept_heads
from tasks.exam.public.log import check_public_log, name_log_file
from tasks.operations.validation import find_month_differences
from tasks.running.archives import read_whole
from warehouse.lake import Lake
from warehouse.ledger.engine.integrity import find_strays
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.public_log import list_public_entries, read_public_head
from warehouse.ledger.engine.sides import EXAM_TABLES
from warehouse.ledger.engine.tables import llm_calls
from warehouse.ledger.exam import lost_commits, sittings
from warehouse.ledger.trust import access, editions

_MOST_IDS: Final = 50
# Findings of the audit that are of keys and files of the home, and say nothing of what the ledger has.
_NO_LOSS: Final = frozenset(
    {
        "log_key_unknown",
        "log_key_replaced",
        "log_key_missing",
        "home_key_missing",
        "home_key_replaced",
        "token_keys_missing",
        "token_keys_replaced",
        "kept_heads_damaged",
        "kept_heads_missing",
        "public_head_missing",
        "public_file_changed",
        "public_file_cut",
    }
)


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that was acknowledged, and that a store does not have.

    Attributes:
        what: a sentence without ids: what, and what shows it.
        ids: of sessions, entries, units; never a text.
    """

    what: str
    ids: tuple[str, ...] = ()

    def describe(self) -> str:
        """In words."""
        more = f" and {len(self.ids) - _MOST_IDS} more" if len(self.ids) > _MOST_IDS else ""
        return f"{self.what}: {', '.join(self.ids[:_MOST_IDS])}{more}" if self.ids else self.what


def find_missing(ledger: Ledger, lake: Lake, settings: Settings) -> list[Gap]:
    """What is surely missing from the ledger's two files: something that rests on it names it."""
    found: list[Gap] = []
    with read_whole(ledger, lake, tables=(llm_calls,)) as connection:
        head = access.read_head(connection).number
        found += _find_signed(settings, head)
        found += _find_landed_entries(lake, access.read_last_id(ledger))
        found += _find_public(connection, settings)
        if strays := find_strays(connection):
            found.append(Gap("the exam's database names what the ledger does not have", tuple(strays)))
        found += _find_landed(connection, lake)
    if months := find_month_differences(ledger, lake, may_wait=True):
        found.append(
            Gap("the lake has rows that the ledger never closed", tuple(one.describe() for one in months))
        )
    if changed := find_changed_sessions(ledger, lake):
        found.append(Gap("closed sessions are not what was landed of them", tuple(changed)))
    for what, findings in (
        ("the audit log", check_log(ledger, settings).findings),
        ("the public log", check_public_log(ledger, settings).findings),
    ):
        named = tuple(f"{one.name} ({one.where})" for one in findings if one.name not in _NO_LOSS)
        if named:
            found.append(Gap(f"{what} and what it fixes do not agree", named))
    return found


def find_held(ledger: Ledger, lake: Lake) -> list[Gap]:
    """What another place still holds: replies paid for, editions whose publishing broke off."""
    found: list[Gap] = []
    with ledger.read() as connection:
        waiting = lost_commits.list_unanswered_replies(connection)
        rootless = _list_rootless(connection, lake)
        begun = sorted(rootless - _list_entered(connection))
    if waiting:
        named = tuple(f"{session} (replies: {count})" for session, count in waiting)
        found.append(
            Gap(
                "replies in the ledger are not among the answers; the next sitting reads them without paying",
                named,
            )
        )
    if begun:
        found.append(
            Gap(
                "editions are in the lake, and nobody was told that they are published: publish them again (proctor publish)",
                tuple(begun),
            )
        )
    return found


def describe_unproved(ledger: Ledger, side: str, count: int) -> Gap:
    """What unproved commits can have held: their file's tables, sessions that were open."""
    commits = say_count(count, "commit")
    with ledger.read() as connection:
        if side == "ledger":
            runs = sittings.list_open_runs(connection)
            what = (
                f"{commits} of the ledger cannot be proved: rows of plans, reviews, replies of models, claims, budgets, marks or "
                "runs of flows, or nothing but their count. A step that is run again does again what is missing. Open runs"
            )
            return Gap(what, tuple(runs) or ("none",))
        sessions = lost_commits.list_open_sessions(connection)
    what = (
        f"{commits} of the exam's database cannot be proved: rows of {', '.join(sorted(EXAM_TABLES))}, or nothing but their count. "
        "An answer among them is one of these open sessions, whose candidates hold receipts"
    )
    return Gap(what, tuple(sessions) or ("none",))


def _find_signed(settings: Settings, head: int) -> Iterator[Gap]:
    beyond = sorted(kept.number for kept in iter_kept_heads(settings) if kept and kept.number > head)
    if beyond:
        numbers = (f"entries {head + 1} to {beyond[-1]}",)
        yield Gap("entries of the audit log that this home signed are missing", numbers)


def _find_landed_entries(lake: Lake, last_id: int) -> Iterator[Gap]:
    rows = lake.read("access_log_beyond", {"last_id": last_id}).to_dicts()
    if rows:
        named = tuple(
            f"entry {row['access_id']} ({row['action']}{', session ' + row['session_id'] if row['session_id'] else ''})"
            for row in rows
        )
        yield Gap("entries of the audit log are in the lake, and not in the ledger", named)


def _find_public(connection: Connection, settings: Settings) -> Iterator[Gap]:
    """Lines of the public file beyond the ledger's, by kind and by what they are of."""
    path = name_log_file(settings)
    end = read_public_head(connection).ends_at
    if not path.exists() or path.stat().st_size <= end:
        return
    with path.open("rb") as file:
        file.seek(end)
        named = tuple(_describe_line(line) for line in file)
    yield Gap("entries of the public log are in its file, and not in the ledger", named)


def _describe_line(line: bytes) -> str:
    try:
        values = json.loads(line)
        of = values["body"].get("session") or values["body"].get("run") or ""
        return f"entry {values['number']} ({' '.join(filter(None, (str(values['kind']), str(of))))})"
    except (ValueError, KeyError, TypeError, AttributeError):
        return "an entry that was not finished"


def _find_landed(connection: Connection, lake: Lake) -> Iterator[Gap]:
    """What only ever comes into the lake out of the ledger, and is not there."""
    # One that has no entry in public either is what a kill in the midst of publishing leaves (`find_held`).
    if lost := sorted(_list_rootless(connection, lake) & _list_entered(connection)):
        yield Gap("editions are published, and the ledger has no root of them", tuple(lost))
    calls = [str(row[0]) for row in lake.read("newest_calls").rows()]
    if lost := sorted(set(calls) - lost_commits.list_known_calls(connection, calls)):
        yield Gap("paid calls are in the lake, and not in the ledger", tuple(lost))
    reviews = [(str(a), str(b), str(c)) for a, b, c in lake.read("newest_reviews").rows()]
    known = lost_commits.list_known_reviews(connection, {batch for batch, _, _ in reviews})
    if lost_reviews := sorted(set(reviews) - known):
        named = tuple(f"{batch}: {question} by {annotator}" for batch, question, annotator in lost_reviews)
        yield Gap("decisions of reviewers are in the lake, and not in the ledger", named)
    if lost := lost_commits.list_unsealed_runs(connection):
        yield Gap(
            "runs are committed to in public, and the ledger has not what they were drawn with", tuple(lost)
        )


def _list_rootless(connection: Connection, lake: Lake) -> set[str]:
    """Editions in the lake of which the ledger has no root."""
    landed = {str(row["edition_id"]) for row in lake.read("run_revisions").to_dicts()}
    return landed - editions.read_roots(connection).keys()


def _list_entered(connection: Connection) -> set[str]:
    """Editions entered in the public log by the ledger; `_find_public` names the file's others."""
    return {str(entry.body["edition"]) for entry in list_public_entries(connection, ["edition"])}
