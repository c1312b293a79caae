"""Editions in the public log, revisions and overrides too: each with the roots of its basis."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from schemas.settings import Settings
from tasks.editions.basis import Basis, JudgeInOrder, read_basis
from tasks.editions.estimates import arrange_styles, count_stars
from tasks.editions.public_files import (
    CountedQuestion,
    EditionFiles,
    name_edition_folder,
    read_edition_files,
    write_edition_files,
)
from tasks.editions.publish import Edition
from tasks.editions.series import choose_counted
from tasks.exam.public.bank import read_blinding_secret
from tasks.exam.public.log import name_public_folder
from tasks.running import log
from tasks.running.archives import read_whole
from warehouse.lake.upkeep import read_unit
from warehouse.ledger.engine.logs.public_log import add_public_entry, read_public_entries
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.trust import access, editions
from warehouse.ledger.trust.answer_hashes import read_answer_hashes

if TYPE_CHECKING:
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Connection, Ledger

KIND: Final = "edition"
_ANSWERS_AT_ONCE: Final = 40_000  # of some sessions, whose hashes are held
_COUNTS: Final = ("set_id", "model", "prompt_style", "question_uuid")


def write_files(ledger: Ledger, lake: Lake, settings: Settings, edition: Edition) -> EditionFiles:
    """Write the public files of an edition that is about to be landed."""
    assert edition.basis is not None, "an edition that is landed was computed"
    head = edition.frames["editions"].row(0, named=True)
    return _write(ledger, lake, settings, head, edition.frames, edition.basis)


def find_unlisted(connection: Connection, run_id: str, published: pl.DataFrame) -> list[dict[str, Any]]:
    """The editions (rows of `run_revisions`) that the public log lacks, revisions in order."""
    listed = {entry.body["edition"] for entry in read_public_entries(connection, run_id, (KIND,))}
    return [row for row in published.iter_rows(named=True) if row["edition_id"] not in listed]


def prove_edition(
    ledger: Ledger, lake: Lake, settings: Settings, head: Mapping[str, Any]
) -> EditionFiles | None:
    """The public files of an edition without an entry; null, with a warning, without its stars."""
    folder = name_edition_folder(name_public_folder(settings), str(head["run_id"]), int(head["revision"]))
    found = read_edition_files(folder, str(head["edition_id"]), head["published_at"].isoformat())
    if found is not None:
        return found
    edition_id, month = str(head["edition_id"]), str(head["month"])
    judges = [
        JudgeInOrder(*name.rsplit("/", 1))
        for name in (f"{head['judge']}/{head['judge_prompt_version']}", *(head["next_judges"] or ()))
    ]
    basis = read_basis(lake.read, str(head["run_id"]), list(json.loads(head["weights"])), judges=judges)
    if not _has_stars(basis, read_unit(lake, "edition_stars", edition_id, month)):
        log.warning(
            "Edition %s has no entry in the public log: its stars are not what the lake gives now, so that nobody could recompute it.",
            edition_id,
        )
        return None
    frames = {name: read_unit(lake, name, edition_id, month) for name in ("edition_scores", "edition_series")}
    return _write(ledger, lake, settings, head, frames, basis)


def add_edition_entry(connection: Connection, head: Mapping[str, Any], proof: EditionFiles) -> None:
    """Enter an edition in the public log, with the transaction that keeps its root."""
    head_of_log = access.read_head(connection)
    body = {
        "edition": head["edition_id"],
        "run": head["run_id"],
        "revision": head["revision"],
        "replaces": head["replaces"],
        "reason": head["reason"],
        "overridden": list(head["overridden_gates"] or ()),
        "override_reason": head["override_reason"],
        "answers_root": proof.answers_root,
        "judgements_root": proof.judgements_root,
        "files": dict(proof.files),
        # One number for every stage that it rests on: each of them was closed in the audit log before.
        "stages": {"entry": head_of_log.number, "hash": head_of_log.entry_hash},
    }
    add_public_entry(connection, KIND, body)


def _write(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    head: Mapping[str, Any],
    frames: Mapping[str, pl.DataFrame],
    basis: Basis,
) -> EditionFiles:
    folder = name_edition_folder(name_public_folder(settings), str(head["run_id"]), int(head["revision"]))
    with read_whole(ledger, lake, run_id=str(head["run_id"]), tables=(access_log,)) as connection:
        # The lake has organisations by their names, which may change; the public files have their keys.
        owners = editions.read_owners(connection, basis.sessions["session_id"].to_list())
        named = pl.col("session_id").replace_strict(owners, default=None, return_dtype=pl.String)
        sessions = basis.sessions.with_columns(organisation=pl.coalesce(named, "organisation"))

        landed = _LandedHashes(lake, basis)

        def read_hashes(row: Mapping[str, Any], _: Sequence[CountedQuestion]) -> Mapping[int, str]:
            # What was judged is what landed: where that is not what the candidate gave, everybody shall see it. The audit log
            # has the answers that were never landed.
            return {**read_answer_hashes(connection, str(row["session_id"])), **landed.read(row)}

        secret = read_blinding_secret(settings)
        shown = replace(basis, sessions=sessions)
        scores, series = frames["edition_scores"], frames["edition_series"]
        return write_edition_files(folder, secret, head, scores, series, shown, read_hashes)


class _LandedHashes:
    """Hashes of the answers as they landed, some sessions at a time in the order asked for."""

    def __init__(self, lake: Lake, basis: Basis) -> None:
        self._lake = lake
        sessions = basis.sessions.sort("session_id")
        place = sessions["question_count"].cum_sum() // _ANSWERS_AT_ONCE
        self._waiting = [
            part.select("session_id", "sat_in_month").rows()
            for part in sessions.with_columns(place=place).partition_by("place", maintain_order=True)
        ]
        self._found: dict[str, dict[int, str]] = {}

    def read(self, row: Mapping[str, Any]) -> dict[int, str]:
        """Position → hash; sessions are asked for in order of name, each once."""
        name = str(row["session_id"])
        while name not in self._found and self._waiting:
            taken = self._waiting.pop(0)
            self._found = {session: {} for session, _ in taken}
            for month in sorted({month for _, month in taken}):
                names = [session for session, sat_in in taken if sat_in == month]
                rows = self._lake.read("landed_answer_hashes", {"session_ids": names, "month": month})
                for session, seq, answer_hash in rows.iter_rows():
                    self._found[session][seq] = answer_hash
        return self._found.pop(name, {})


def _has_stars(basis: Basis, frozen: pl.DataFrame) -> bool:
    """Whether a basis gives the stars that were frozen."""
    found = [count_stars(answers) for answers in arrange_styles(choose_counted(basis))]
    if not found:
        return frozen.is_empty()
    counts = [*(f"stars_{stars}_count" for stars in range(4)), "unparsed_count"]
    columns = [*_COUNTS, *counts]
    own = pl.concat(found).select(columns).cast(dict.fromkeys(_COUNTS, pl.String))
    return own.sort(_COUNTS).equals(frozen.select(columns).sort(_COUNTS))
