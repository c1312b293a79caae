"""What waits for somebody to mark, marks that they give, and marks on their way to the lake."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.errors import UsageError
from tasks.judging.marking.work import Work, WorkSummary
from tasks.judging.people import check_persons, find_marker, need_marker
from tasks.judging.people import may_mark as may_mark
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.review import desk_marks

# A landing writes a file: so many marks are landed together, and what is left when a work is done or handed in.
MARKS_PER_LANDING = 20
LONGEST_NOTE = 4_000


@dataclass(frozen=True)
class GivenMark:
    """A mark as it stands, with its note (empty for none), moment, and whether it has landed."""

    mark: str
    note: str
    given_at: str
    has_landed: bool = False


class StaleMarkError(UsageError):
    """Another window gave the item the mark `stands`, which the present giver has not seen."""

    def __init__(self, stands: GivenMark | None) -> None:
        super().__init__("The mark was changed elsewhere since it was shown.")
        self.stands = stands


def find_work(ledger: Ledger, lake: Lake, person: str) -> list[WorkSummary]:
    """What waits for somebody or is done, of all kinds; nothing for who may not mark."""
    marker = find_marker(ledger, person)
    if marker is None:
        return []
    from tasks.judging.marking.kinds import MARK_KINDS

    return [one for kind in MARK_KINDS.values() for one in kind.find(lake, marker)]


def open_work(ledger: Ledger, lake: Lake, kind: str, name: str, person: str) -> Work:
    """One work with its texts; UsageError for one that is none, and for who may not mark."""
    from tasks.judging.marking.kinds import find_kind

    return find_kind(kind).open(lake, name, need_marker(ledger, person))


def read_given(ledger: Ledger, work: Work) -> dict[str, GivenMark]:
    """What the person gave on the web in a work, by item."""
    with ledger.read() as connection:
        rows = desk_marks.read_marks(connection, work.kind, work.name, work.person)
    return {
        row["item_key"]: GivenMark(row["mark"], row["note"] or "", row["given_at"], bool(row["landed_at"]))
        for row in rows
    }


def give_mark(
    ledger: Ledger, work: Work, item_key: str, mark: str, note: str = "", *, seen: str | None = None
) -> GivenMark:
    """Keep a mark; the same one again changes nothing.

    `seen` is when the mark was given that its giver has before them; null where they saw none.

    Raises:
        UsageError: the item is not in the work, the mark is none of its marks, a note is missing or too long, or the person may
            not mark any more.
        StaleMarkError: another mark stands there than the one that was seen.
    """
    item = work.items.get(item_key)
    if item is None or mark not in item.marks:
        raise UsageError("This is no mark for an item of this work.")
    if len(note) > LONGEST_NOTE or (mark in item.needs_note and not note.strip()):
        raise UsageError("The note is missing or too long.")
    check_persons(ledger, [work.person])
    now = now_text()
    with ledger.write() as connection:
        row = desk_marks.read_desk_mark(connection, work.kind, work.name, work.person, item_key)
        stands = None if row is None else GivenMark(row["mark"], row["note"] or "", row["given_at"])
        if stands is not None and (stands.mark, stands.note) == (mark, note.strip()):
            return stands
        if (stands.given_at if stands else None) != seen:
            raise StaleMarkError(stands)
        desk_marks.replace_mark(
            connection,
            {
                "kind": work.kind,
                "work": work.name,
                "person": work.person,
                "item_key": item_key,
                "mark": mark,
                "note": note.strip() or None,
                "given_at": now,
            },
        )
    return GivenMark(mark, note.strip(), now)


def is_landing_due(ledger: Ledger, work: Work) -> bool:
    """Whether the marks of a work are to land now: it is done, or enough of them wait."""
    with ledger.read() as connection:
        given, unlanded = desk_marks.count_marks(connection, work.kind, work.name, work.person)
    return unlanded >= MARKS_PER_LANDING or (unlanded > 0 and given >= len(work.items))


def land_given(ledger: Ledger, lake: Lake, kind: str, name: str, person: str) -> int:
    """Land a work's marks as its workbook's would be, once however often; returns how many."""
    with ledger.read() as connection:
        rows = [
            row for row in desk_marks.read_marks(connection, kind, name, person) if row["landed_at"] is None
        ]
    if not rows:
        return 0
    from tasks.judging.marking.kinds import find_kind

    marks = {row["item_key"]: (row["mark"], row["note"] or "") for row in rows}
    find_kind(kind).land(lake, name, person, marks)
    with ledger.write() as connection:
        given = [(row["item_key"], row["given_at"]) for row in rows]
        desk_marks.note_landed(connection, kind, name, person, given, now_text())
    return len(rows)
