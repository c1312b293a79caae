"""What is disclosed of a run once all its sessions are closed.

It is the seed, what the seed was mixed from, sets with their proofs, and orders. The files follow from the ledger alone:
doing it again writes the same, and the entry of the public log comes last, once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, Final

from schemas.errors import StoreError
from schemas.ledger.exam import SetProof
from schemas.settings import Settings
from tasks.exam.plan.bank import make_seed
from tasks.exam.public.bank import find_blinding_fault, lineage_name, read_blinding_secret
from tasks.exam.public.draws.sealing import list_added
from tasks.exam.public.files import encode_line, write_whole
from tasks.exam.public.hashing import digest
from tasks.exam.public.log import keep_public_head
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.public_log import add_public_entry, read_public_entries
from warehouse.ledger.exam import closed, draws
from warehouse.ledger.trust.answer_hashes import find_unlogged
from warehouse.ledger.trust.sealed_state import find_changed_sets

log = logging.getLogger(__name__)

_WAY_OUT: Final = "Restore the ledger, and the folder of secrets, from a backup that has it."


def disclose_closed_runs(ledger: Ledger, settings: Settings) -> list[str]:
    """Disclose every closed run that can be; the others are logged and named by the doctor."""
    with ledger.read() as connection:
        waiting = draws.list_undisclosed(connection)
    disclosed = []
    for run_id in waiting:
        try:
            if disclose_run(ledger, settings, run_id):
                disclosed.append(run_id)
        except StoreError as error:
            log.error("%s", error)
    if disclosed:
        keep_public_head(ledger, settings)
    return disclosed


def find_refused_runs(ledger: Ledger, settings: Settings, *, are_answers_logged: bool = False) -> list[str]:
    """Why closed runs cannot be disclosed: a sentence each, with the way out; writes nothing."""
    refused = []
    with ledger.read() as connection:
        for run_id in draws.list_undisclosed(connection):
            try:
                _prepare(connection, settings, run_id, are_answers_logged=are_answers_logged)
            except StoreError as error:
                refused.append(str(error))
    return refused


def disclose_run(ledger: Ledger, settings: Settings, run_id: str) -> bool:
    """Write the files of a closed run under `runs/<run>/`, and the entry that names them.

    Returns False where they are disclosed already. Raises StoreError where the ledger no longer has what the public log says
    that the run was drawn with, or has answers that the audit log has not.
    """
    folder = settings.public_dir / "runs" / run_id
    with ledger.read() as connection:
        if run_id not in draws.list_undisclosed(connection):
            return False
        files = {
            name: write_whole(folder / name, lines)
            for name, lines in _prepare(connection, settings, run_id).items()
        }
    with ledger.write() as connection:
        if run_id not in draws.list_undisclosed(connection):
            return False
        add_public_entry(connection, "disclose", {"run": run_id, "files": files})
    return True


def _prepare(
    connection: Connection, settings: Settings, run_id: str, *, are_answers_logged: bool = False
) -> dict[str, Iterator[str]]:
    """The lines of each file of a run that can be disclosed, by name; raises StoreError."""
    if not are_answers_logged and (changed := find_unlogged(connection, run_id)):
        raise StoreError(
            f"Run {run_id} is not disclosed: the answers of {len(changed)} of its sessions (the first: {changed[0]}) are not those "
            "that the audit log has. `proctor exam audit` says which."
        )
    if changed := find_changed_sets(connection, run_id):
        raise StoreError(
            f"Run {run_id} is not disclosed: {len(changed)} of its sets (the first: {changed[0]}) hold other questions, or other texts, "
            "than were drawn, so that nobody knows what was asked. `proctor exam audit` says which."
        )
    if (lost := find_blinding_fault(connection, settings)) is not None:
        raise StoreError(f"Run {run_id} is not disclosed: {lost}")
    return _list_files(connection, settings, run_id)


def _list_files(connection: Connection, settings: Settings, run_id: str) -> dict[str, Iterator[str]]:
    """Name → lines of each file."""
    seal = draws.read_run_seal(connection, run_id)
    entries = read_public_entries(connection, run_id, ("commit", "share", "draw"))
    drawn = next(entry for entry in entries if entry.kind == "draw")
    if seal is None:
        raise StoreError(f"Run {run_id} was drawn under seal, and the ledger has nothing of it. {_WAY_OUT}")
    share = bytes.fromhex(seal.share)
    value = None if drawn.body["beacon"] is None else drawn.body["beacon"]["value"]
    seed = make_seed(share, list_added(entries, drawn.body["commit"]), value)
    if digest("proctor seed commitment", seed).hex() != drawn.body["seed_commitment"]:
        raise StoreError(
            f"Run {run_id}: the ledger's share is not the one that it was drawn with. {_WAY_OUT}"
        )
    proofs = {
        proof.set_id: proof
        for proof in draws.iter_set_proofs(connection, closed.list_run_sets(connection, run_id))
    }
    return {
        "plan.json": iter([seal.plan]),
        "exclusions.json": iter([seal.exclusions]),
        "sets.jsonl": _write_sets(proofs, run_id),
        "orders.jsonl": _write_orders(connection, settings, run_id, proofs),
        "seed.json": iter([encode_line({"share": share.hex(), "seed": seed.hex()})]),
    }


def _write_sets(proofs: dict[str, SetProof], run_id: str) -> Iterator[str]:
    for set_id, proof in sorted(proofs.items()):
        # Slots and paths lead to the bank of the run that drew the set, and stand in its files.
        items = proof.items if proof.drawn_in == run_id else [item[:3] for item in proof.items]
        yield encode_line({"set": set_id, "drawn_in": proof.drawn_in, "items": items})


def _write_orders(
    connection: Connection, settings: Settings, run_id: str, proofs: dict[str, SetProof]
) -> Iterator[str]:
    secret = read_blinding_secret(settings)
    names: dict[str, str] = {}
    places = {
        set_id: {item[0]: place for place, item in enumerate(proof.items)} for set_id, proof in proofs.items()
    }

    def find(of_set: dict[str, int], lineages: Sequence[str]) -> list[int]:
        for lineage in lineages:
            if lineage not in names:
                names[lineage] = lineage_name(secret, lineage).hex()
        return [of_set[names[lineage]] for lineage in lineages]

    for row, lineages in draws.iter_orders(connection, run_id):
        line: dict[str, Any] = {
            "session": row.session_id,
            "model": row.model,
            "organisation": row.organisation,
            "set": row.set_id,
            "style": row.prompt_style,
            "repeat": row.repeat,
            "is_reference": row.is_reference,
            "order": find(places[row.set_id], lineages),
        }
        yield encode_line(line)
