"""The signed state of each stage: what a unit of it holds, closed in the audit log.

A unit closes with a hash over its rows, one entry of the chain, in the transaction that made it what it is. A change that is meant
closes it again, and its entry names the one before. `STAGES` is the whole definition: whose rows, by what unit, closed by what. Of the
lake every landing is a unit, closed right before it lands (`close_landings`), so that a kill in between leaves an entry too many,
never rows without one; whoever then does the work again lands it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Float, Table, func, literal, select, tuple_, union_all

from warehouse.ledger.engine.inserting import replace_rows
from warehouse.ledger.engine.logs.chain import Entry, add_entry, list_pending_entries
from warehouse.ledger.engine.statements import iter_chunks
from warehouse.ledger.engine.tables import (
    access_log,
    edition_roots,
    exposures,
    llm_calls,
    organisations,
    review_gold,
    review_questions,
    reviews,
    run_seals,
    set_claims,
    set_proofs,
    stage_leaves,
)

CLOSE: Final = "close_unit"
LAND: Final = "land_unit"
BEGIN: Final = "begin_stages"
_LONGEST: Final = 200
_KEY_BYTES: Final = 6
_ROW_BYTES: Final = 12
_LEAF_BYTES: Final = _KEY_BYTES + _ROW_BYTES
_encode: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str).encode

# A row: what names it within its unit, and what is fixed of it.
StageRow = tuple[tuple[object, ...], tuple[object, ...]]


@dataclass(frozen=True)
class Stage:
    """Rows of the ledger that are closed unit by unit.

    Attributes:
        about: what a unit is, and what closes it.
        table: where its rows are; null for files, whose rows are read by whoever closes them.
        unit: columns that name the unit.
        key: columns that name a row within it.
        fixed: columns that may not change once it is closed.
        may_grow: whether rows may be added before it is closed again.
        is_landed: whether the landing of the same unit in the lake's table of this name closes it.
        where: which rows are meant; null for all.
    """

    name: str
    about: str
    table: Table | None = None
    unit: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    may_grow: bool = False
    is_landed: bool = False
    where: ColumnElement[bool] | None = None


STAGES: Final[Mapping[str, Stage]] = {
    stage.name: stage
    for stage in (
        Stage(
            "review_texts",
            "a batch's questions as annotators see them; closed when the batch is opened",
            review_questions,
            ("batch_id",),
            ("question_uuid",),
            ("revision", "lineage_uuid", "document_id", "discipline", "content"),
        ),
        Stage(
            "review_gold",
            "a batch's questions with a known decision; closed when the batch is opened",
            review_gold,
            ("batch_id",),
            ("question_uuid",),
            ("kind", "expected", "true_answer", "source_uuid", "source_batch"),
        ),
        Stage(
            "reviews",
            "the decisions on a question of a batch; closed by each decision",
            reviews,
            ("batch_id", "question_uuid"),
            ("annotator",),
            (
                "decision",
                "reject_reason",
                "comment",
                "edited_fields",
                "channel",
                "decided_at",
                "guideline_version",
            ),
        ),
        Stage(
            "organisations",
            "who owns candidates, and which names are one; closed when it is registered or linked",
            organisations,
            ("organisation",),
            (),
            ("name", "same_as"),
        ),
        Stage(
            "set_claims",
            "a set that an organisation has met; closed with the plan that claims it",
            set_claims,
            ("organisation", "set_id"),
            (),
            ("run_id", "is_reference", "claimed_at"),
        ),
        Stage(
            "exposures",
            "lineages that an organisation met first in a set; closed with the plan that claims it",
            exposures,
            ("organisation", "set_id"),
            ("lineage_uuid",),
            ("exposed_at",),
        ),
        Stage(
            "draws",
            "the operator's share of a seed, and what a run was committed to with; closed with the commitment",
            run_seals,
            ("run_id",),
            (),
            ("share", "plan", "exclusions"),
        ),
        Stage(
            "set_proofs",
            "what is to be published of a set; closed when it is drawn",
            set_proofs,
            ("set_id",),
            (),
            ("drawn_in", "items", "revisions"),
        ),
        Stage(
            "calls",
            "the replies and costs of a session's calls, or of a judge's on it; closed when they land",
            llm_calls,
            ("unit",),
            ("call_key",),
            ("purpose", "run_id", "endpoint", "model", "reply", "input_tokens", "output_tokens", "cost_usd"),
            may_grow=True,
            is_landed=True,
            where=llm_calls.c.status == "done",
        ),
        Stage(
            "editions",
            "the root of an edition; closed when it is published",
            edition_roots,
            ("edition_id",),
            (),
            ("root_hash",),
        ),
        Stage(
            "registry",
            "the models as they are registered; closed when a run is planned, or a model is called",
        ),
        Stage("report", "the files of the report; closed when they are written"),
    )
}
_LANDED: Final = {"llm_calls": STAGES["calls"]}


class UnitEntry(NamedTuple):
    """The last entry that closed a unit, and the hashes of all of them."""

    number: int
    digest: str
    earlier: tuple[str, ...]


class ChangedUnit(NamedTuple):
    """A unit that is not as it was closed.

    Attributes:
        changed: rows that are others.
        missing: rows that are gone.
        added: rows that were not there.
        first_key: the first row that is another or was not there; empty where all are gone.
        is_closed: whether an entry closes it at all.
    """

    stage: str
    unit: str
    changed: int
    missing: int
    added: int
    first_key: str
    is_closed: bool = True


def close_units(connection: Connection, stage_name: str, units: Iterable[Sequence[str]]) -> int:
    """Close units of a stage in the open transaction as rows are now; how many were written."""
    stage = STAGES[stage_name]
    names = {_name(unit): tuple(unit) for unit in units}
    if not names:
        return 0
    _begin(connection)
    found: dict[str, list[StageRow]] = {name: [] for name in names}
    found |= dict(_iter_units(connection, stage, list(names.values())))
    return _close(connection, stage, found)


def close_rows(connection: Connection, stage_name: str, unit: str, rows: Iterable[StageRow]) -> int:
    """Close a unit whose rows the caller has read, from files."""
    _begin(connection)
    return _close(connection, STAGES[stage_name], {unit: list(rows)})


def close_landings(
    connection: Connection, hashes: Mapping[str, str], list_known: Iterable[tuple[str, str]] | None = None
) -> None:
    """Close units of the lake that are about to land: `table/unit` → the hash of its rows.

    With them the ledger's own rows are closed that land under the same unit. `list_known` are the landings that were there before
    stages were closed at all; they are read where nothing was closed yet.
    """
    if _begin(connection) and list_known is not None:
        hashes = {**dict(list_known), **hashes}
    last = read_entries(connection, LAND, [_shorten(name) for name in hashes])
    for name, digest in hashes.items():
        before = last.get(_shorten(name))
        if before is not None and before.digest == digest:
            continue
        add_entry(
            connection,
            Entry(
                LAND,
                target=_shorten(name),
                digest=digest,
                code=None if before is None else f"after {before.number}",
                is_by_caller=True,
            ),
        )
    for table, stage in _LANDED.items():
        prefix = f"{table}/"
        if units := [name.removeprefix(prefix) for name in hashes if name.startswith(prefix)]:
            _close(
                connection,
                stage,
                {unit: [] for unit in units}
                | dict(_iter_units(connection, stage, [(unit,) for unit in units])),
            )


def has_begun(connection: Connection) -> bool:
    """Whether anything was ever closed here."""
    query = select(access_log.c.number).where(
        access_log.c.action == BEGIN, access_log.c.target == "stages", access_log.c.seq.is_(None)
    )
    return connection.execute(query.limit(1)).first() is not None


def name_landed(landing_unit: str) -> str:
    """How the log names a landing."""
    return _shorten(landing_unit)


def read_entries(
    connection: Connection, action: str, targets: Sequence[str] | None = None
) -> dict[str, UnitEntry]:
    """Unit → the last entry that closed it; of all units where none are named."""
    query = (
        select(access_log.c.target, access_log.c.number, access_log.c.digest)
        .where(
            access_log.c.action == action,
            access_log.c.target.is_not(None),
            access_log.c.seq.is_(None),
            access_log.c.number.is_not(None),
        )
        .order_by(access_log.c.access_id)
    )
    found: dict[str, UnitEntry] = {}
    for part in [None] if targets is None else iter_chunks(list(targets)):
        asked = query if part is None else query.where(access_log.c.target.in_(part))
        for target, number, digest in connection.execute(asked):
            before = found.get(target)
            earlier = () if before is None else (*before.earlier, before.digest)
            found[str(target)] = UnitEntry(int(number), str(digest), earlier)
    return found


def find_changed_units(
    connection: Connection, is_passed: Callable[[str], bool] = lambda _: False
) -> Iterator[ChangedUnit]:
    """Every unit of the ledger's stages that is not as closed, but for calls `is_passed`."""
    if not has_begun(connection):
        return
    entries = read_entries(connection, CLOSE)
    for stage in STAGES.values():
        if stage.table is None:
            continue
        prefix = f"{stage.name}/"
        waiting = {name.removeprefix(prefix): one for name, one in entries.items() if name.startswith(prefix)}
        read = None
        if stage.table is llm_calls:
            units = select(llm_calls.c.unit).where(llm_calls.c.unit.is_not(None)).distinct()
            read = [(unit,) for unit in connection.execute(units).scalars() if not is_passed(unit)]
            waiting = {unit: entry for unit, entry in waiting.items() if not is_passed(unit)}
        for unit, rows in _iter_units(connection, stage, read):
            entry = waiting.pop(_shorten(unit), None)
            if entry is None:
                # What has not landed yet is not closed.
                if not stage.may_grow:
                    yield ChangedUnit(stage.name, unit, 0, 0, len(rows), _show(rows[0][0]), is_closed=False)
            elif (found := compare_unit(connection, stage, unit, rows, entry)) is not None:
                yield found
        for unit, entry in waiting.items():
            if (found := compare_unit(connection, stage, unit, [], entry)) is not None:
                yield found


def read_decisions(
    connection: Connection, batch_id: str | None = None, question_uuid: str | None = None
) -> dict[tuple[str, str, str], str]:
    """(batch, question, annotator) → the decision that stands, of one question if named."""
    query = select(reviews.c.batch_id, reviews.c.question_uuid, reviews.c.annotator, reviews.c.decision)
    if batch_id is not None:
        query = query.where(reviews.c.batch_id == batch_id, reviews.c.question_uuid == question_uuid)
    return {(batch, uuid, person): decision for batch, uuid, person, decision in connection.execute(query)}


def read_call_sums(connection: Connection) -> dict[str, tuple[int, float]]:
    """Unit → how many of its calls were answered, and what these cost."""
    query = select(llm_calls.c.unit, func.count(), func.coalesce(func.sum(llm_calls.c.cost_usd), 0.0))
    query = query.where(llm_calls.c.status == "done", llm_calls.c.unit.is_not(None)).group_by(
        llm_calls.c.unit
    )
    return {str(unit): (int(count), float(cost)) for unit, count, cost in connection.execute(query)}


def check_unit(
    connection: Connection, stage_name: str, unit: str
) -> tuple[ChangedUnit | None, UnitEntry | None]:
    """How a unit differs from what closed it, and the entry that did; null for not at all."""
    stage = STAGES[stage_name]
    entry = read_entries(connection, CLOSE, [f"{stage.name}/{_shorten(unit)}"]).get(
        f"{stage.name}/{_shorten(unit)}"
    )
    if entry is None:
        return None, None
    parts = tuple(unit.split("/", len(stage.unit) - 1))
    rows = dict(_iter_units(connection, stage, [parts])).get(unit, [])
    return compare_unit(connection, stage, unit, rows, entry), entry


def compare_unit(
    connection: Connection, stage: Stage, unit: str, rows: Sequence[StageRow], entry: UnitEntry
) -> ChangedUnit | None:
    """How a unit's rows differ from what an entry closed; null where they do not."""
    leaves, names = _make_leaves(rows)
    if _hash_leaves(leaves) == entry.digest:
        return None
    kept = connection.execute(
        select(stage_leaves.c.leaves).where(
            stage_leaves.c.stage == stage.name, stage_leaves.c.unit == _shorten(unit)
        )
    ).scalar()
    then = b"" if kept is None else base64.b64decode(kept)
    if _hash_leaves(then) != entry.digest:
        return ChangedUnit(stage.name, unit, len(rows), 0, 0, _show(rows[0][0]) if rows else "")
    before, now = _split(then), _split(leaves)
    keys = [leaves[at : at + _KEY_BYTES] for at in range(0, len(leaves), _LEAF_BYTES)]
    changed = [key for key in keys if key in before and before[key] != now[key]]
    added = [key for key in keys if key not in before]
    missing = sum(key not in now for key in before)
    if stage.may_grow and not changed and not missing:
        return None
    first = next(
        (_show(name) for key, name in zip(keys, names, strict=True) if key in changed or key in added), ""
    )
    return ChangedUnit(stage.name, unit, len(changed), missing, len(added), first)


def _close(connection: Connection, stage: Stage, found: Mapping[str, Sequence[StageRow]]) -> int:
    targets = {unit: f"{stage.name}/{_shorten(unit)}" for unit in found}
    last = read_entries(connection, CLOSE, list(targets.values()))
    kept, count = [], 0
    for unit, rows in found.items():
        leaves, _ = _make_leaves(rows)
        digest, before = _hash_leaves(leaves), last.get(targets[unit])
        if before is not None and before.digest == digest:
            continue
        if before is None and not rows:
            continue
        code = None if before is None else f"after {before.number}"
        add_entry(connection, Entry(CLOSE, target=targets[unit], digest=digest, code=code, is_by_caller=True))
        kept.append(
            {"stage": stage.name, "unit": _shorten(unit), "leaves": base64.b64encode(leaves).decode()}
        )
        count += 1
    if kept:
        replace_rows(connection, stage_leaves, kept)
    return count


def _begin(connection: Connection) -> bool:
    """Close what was there before stages were closed; whether that is now."""
    # Until the transaction ends, the entry is not in the table.
    if any(entry.action == BEGIN for entry in list_pending_entries(connection)) or has_begun(connection):
        return False
    add_entry(connection, Entry(BEGIN, target="stages", is_by_caller=True))
    for stage in _list_filled(connection):
        for part in _in_parts(_iter_units(connection, stage)):
            _close(connection, stage, part)
    return True


def _list_filled(connection: Connection) -> list[Stage]:
    """Stages whose table holds any row, asked at once: nearly every ledger begins with none."""
    asked = [
        select(literal(stage.name)).where(select(stage.table.c[stage.unit[0]]).exists())
        for stage in STAGES.values()
        if stage.table is not None
    ]
    return [STAGES[name] for (name,) in connection.execute(union_all(*asked))]


def _in_parts(
    units: Iterable[tuple[str, list[StageRow]]], size: int = 200
) -> Iterator[dict[str, list[StageRow]]]:
    part: dict[str, list[StageRow]] = {}
    for unit, rows in units:
        part[unit] = rows
        if len(part) == size:
            yield part
            part = {}
    if part:
        yield part


def _iter_units(
    connection: Connection, stage: Stage, units: Sequence[tuple[str, ...]] | None = None
) -> Iterator[tuple[str, list[StageRow]]]:
    """Every unit, or those named, with its rows, one unit in memory at a time."""
    table = stage.table
    assert table is not None, "files are read by whoever closes them"
    names = (*stage.unit, *stage.key, *stage.fixed)
    own, key = len(stage.unit), len(stage.unit) + len(stage.key)
    floats = [place for place, name in enumerate(names) if isinstance(table.c[name].type, Float)]
    query = select(*(table.c[name] for name in names)).where(table.c[stage.unit[0]].is_not(None))
    query = query.order_by(*(table.c[name] for name in (*stage.unit, *stage.key)))
    if stage.where is not None:
        query = query.where(stage.where)
    named = tuple_(*(table.c[name] for name in stage.unit)) if len(stage.unit) > 1 else table.c[stage.unit[0]]
    for part in [None] if units is None else iter_chunks(units):
        asked = query
        if part is not None:
            asked = query.where(named.in_(part if len(stage.unit) > 1 else [unit[0] for unit in part]))
        for unit, rows in groupby(connection.execute(asked), key=lambda row: tuple(row[:own])):
            yield _name(unit), [(tuple(row[own:key]), _as_stored(row, key, floats)) for row in rows]


def _as_stored(row: Sequence[Any], start: int, floats: Sequence[int]) -> tuple[object, ...]:
    """What is fixed of a row; a column of numbers gives back 1.0 for 1."""
    values = list(row)
    for place in floats:
        if values[place] is not None:
            values[place] = float(values[place])
    return tuple(values[start:])


def _make_leaves(rows: Iterable[StageRow]) -> tuple[bytes, list[tuple[object, ...]]]:
    """The leaves of rows in the order of their keys' JSON, and these keys."""
    parts, names = [], []
    for text, key, values in sorted(((_encode(key), key, values) for key, values in rows), key=itemgetter(0)):
        names.append(key)
        parts.append(hashlib.sha256(text.encode()).digest()[:_KEY_BYTES])
        parts.append(hashlib.sha256(f"[{text},{_encode(values)}]".encode()).digest()[:_ROW_BYTES])
    return b"".join(parts), names


def _hash_leaves(leaves: bytes) -> str:
    return hashlib.sha256(leaves).hexdigest()


def _split(leaves: bytes) -> dict[bytes, bytes]:
    return {
        leaves[at : at + _KEY_BYTES]: leaves[at + _KEY_BYTES : at + _LEAF_BYTES]
        for at in range(0, len(leaves), _LEAF_BYTES)
    }


def _name(unit: Sequence[str]) -> str:
    return "/".join(unit)


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[:100]}…{hashlib.sha256(name.encode()).hexdigest()}"


def _show(key: Sequence[object]) -> str:
    return ", ".join(str(part) for part in key)
