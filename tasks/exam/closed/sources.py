"""What sessions are landed from, of those that are as both logs have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tasks.exam.log import list_faulty_sessions
from tasks.exam.public import CLOSE, compute_answers_root
from warehouse.ledger.engine.logs.public_log import read_public_entries
from warehouse.ledger.trust import landed
from warehouse.ledger.trust.answer_hashes import read_answer_hashes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Ledger


def read_sound_sources(connection: Connection, run_id: str, session_ids: Sequence[str]) -> dict[str, str]:
    """Session of a run → what it lands from, hashed; without those that differ from a log."""
    faulty = list_faulty_sessions(connection, session_ids)
    roots = {
        name: root
        for name, root in read_answer_roots(connection, run_id).items()
        if name in set(session_ids) - faulty
        and compute_answers_root(name, read_answer_hashes(connection, name)) == root
    }
    return read_sources(connection, roots)


def read_answer_roots(connection: Connection, run_id: str) -> dict[str, str]:
    """Session of a run → the root over its answers that the public log has."""
    entries = read_public_entries(connection, run_id, (CLOSE,))
    return {str(entry.body["session"]): str(entry.body["answers_root"]) for entry in entries}


def read_sources(connection: Connection, roots: Mapping[str, str]) -> dict[str, str]:
    """The same of sessions with the root that the public log has of each, whatever they hold."""
    reader = landed.SourceReader(connection)
    found = {name: reader.digest(name, root) for name, root in roots.items()}
    return {name: digest for name, digest in found.items() if digest is not None}


def note_sources(ledger: Ledger, lake: Lake, sources: Mapping[str, str]) -> None:
    """Say in the audit log what sessions that have landed were landed from."""
    if sources:
        hashes = _read_hashes(lake, sources)
        with ledger.write() as connection:
            landed.note_landed(connection, sources, hashes)


def list_unchanged_sessions(ledger: Ledger, lake: Lake, session_ids: Iterable[str]) -> set[str]:
    """Of closed sessions those that are in ledger, logs and lake as when they landed.

    That they then were as both logs had them is what their landing says.
    """
    wanted = set(session_ids)
    sources: dict[str, str] = {}
    with ledger.read() as connection:
        for run_id in landed.list_runs_of(connection, wanted):
            roots = read_answer_roots(connection, run_id)
            sources |= read_sources(
                connection, {name: root for name, root in roots.items() if name in wanted}
            )
    hashes = _read_hashes(lake, sources)
    with ledger.read() as connection:
        return landed.find_landed(connection, sources, hashes)


def _read_hashes(lake: Lake, session_ids: Iterable[str]) -> dict[str, str]:
    return dict(lake.read("landed_hashes", {"units": landed.list_units(session_ids)}).rows())
