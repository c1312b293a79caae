"""Open work moved from somebody who drops out to others; decisions stay where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.review.assigning.annotators import NO_DISCIPLINE, Annotator, find_annotators, read_everybody
from tasks.review.assigning.assignment import compute_due
from tasks.review.batch import read_batch
from tasks.review.recording import ADJUDICATION_DAYS
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.review import assigning, gold, people


@dataclass(frozen=True)
class Reassignment:
    """What was moved out of one batch.

    Attributes:
        batch_id: the batch.
        moved: questions that each of the others got.
        withdrawn_count: questions with a known decision that were taken back: they try one person, and nobody else needs them.
        left: questions by discipline that nobody else can take; they stay where they are.
        due_at: when what was moved is due at the earliest; null where nothing was.
    """

    batch_id: str
    moved: Mapping[str, int]
    withdrawn_count: int
    left: Mapping[str, int]
    due_at: str | None


@dataclass(frozen=True)
class _Takers:
    """Who can take the work, everybody by name, and how much each has, counted as it moves."""

    others: Sequence[Annotator]
    everybody: Mapping[str, Annotator]
    loads: Counter[str]


def reassign(
    ledger: Ledger,
    annotator: str,
    settings: Settings,
    now: str,
    *,
    to: str | None = None,
    batch_id: str | None = None,
) -> list[Reassignment]:
    """Move what somebody has not decided yet to those with the least work.

    This covers every open batch, or one. To people of the discipline, or to one person (`to`), who have not been given the
    question, within what they can hold, and never to novices alone. Whatever is due within a week is given a week. Running it
    again moves what is still left.

    Raises:
        UsageError: nobody has that name, `to` is no active annotator, or there is no such batch.
    """
    with ledger.write() as connection:
        if batch_id is not None:
            read_batch(connection, batch_id)
        rows = people.read_undecided(connection, annotator, batch_id)
        # Who has another role now is no annotator, and may have work of before.
        if not rows and annotator not in read_everybody(connection):
            raise UsageError(
                f"There is no annotator {annotator!r}. `proctor review status` shows those there are."
            )
        everybody = find_annotators(connection, None)
        others = [one for one in everybody if one.user_id != annotator and to in (None, one.user_id)]
        if to is not None and not others:
            raise UsageError(f"{to!r} is no active annotator other than {annotator!r}. Nothing was moved.")
        names = list(dict.fromkeys(row["batch_id"] for row in rows))
        loads = Counter(assigning.count_open_work(connection))
        takers = _Takers(others, {one.user_id: one for one in everybody}, loads)
        return [
            _move(
                connection,
                name,
                annotator,
                {row["question_uuid"]: row for row in rows if row["batch_id"] == name},
                takers,
                settings,
                now,
            )
            for name in names
        ]


def _move(
    connection: Connection,
    batch_id: str,
    annotator: str,
    work: Mapping[str, Mapping[str, str]],
    takers: _Takers,
    settings: Settings,
    now: str,
) -> Reassignment:
    others, everybody, loads = takers.others, takers.everybody, takers.loads
    batch = read_batch(connection, batch_id, lock=True)
    planted = gold.read_gold_uuids(connection, batch_id) & work.keys()
    uuids = sorted(work.keys() - planted)
    disciplines = {
        row["question_uuid"]: row["discipline"] or NO_DISCIPLINE
        for row in assigning.read_assignments(connection, batch_id, annotator)
    }
    readers = people.read_readers(connection, batch_id, uuids)
    past = assigning.read_past_decisions(connection, uuids)
    due_at = compute_due(now, ADJUDICATION_DAYS)
    taken: list[dict[str, str]] = []
    left: Counter[str] = Counter()
    for uuid in uuids:
        discipline = disciplines[uuid]
        staying = readers[uuid] - {annotator}
        is_led = any(not (everybody.get(name) or Annotator(name)).is_novice(discipline) for name in staying)
        able = [
            one.user_id
            for one in others
            if one.can_review(discipline)
            and one.user_id not in staying
            and one.user_id not in past.get(uuid, set())
            and (is_led or not one.is_novice(discipline))
            and loads[one.user_id] < one.compute_capacity(settings)
        ]
        if not able:
            left[discipline] += 1
            continue
        name = min(able, key=lambda user_id: (loads[user_id], user_id))
        loads[name] += 1
        row = work[uuid]
        taken.append({**row, "annotator": name, "assigned_at": now, "due_at": max(row["due_at"], due_at)})
    people.delete_assignments(
        connection, batch_id, annotator, planted | {row["question_uuid"] for row in taken}
    )
    assigning.insert_assignments(connection, taken)
    earliest = min((row["due_at"] for row in taken), default=None)
    latest = max((row["due_at"] for row in taken), default=batch.due_at)
    if latest > batch.due_at:
        assigning.update_batch(connection, batch_id, due_at=latest)
    return Reassignment(
        batch_id=batch_id,
        moved=dict(sorted(Counter(row["annotator"] for row in taken).items())),
        withdrawn_count=len(planted),
        left=dict(sorted(left.items())),
        due_at=earliest,
    )
