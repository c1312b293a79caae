"""Disclosing one question, with proofs that it was in a sealed bank and in its sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from schemas.errors import GateError, StoreError, UsageError
from schemas.settings import Settings
from tasks.exam.log import note_keys
from tasks.exam.log.signing import open_signer
from tasks.exam.plan.bank import index_bank
from tasks.exam.public.bank.bank_file import SealedLineage, commit_rows, make_lineage_leaf, make_slot_leaves
from tasks.exam.public.bank.blinding import (
    commit_question,
    question_salt,
    read_blinding_secret,
    slot_salt,
    write_content,
)
from tasks.exam.public.files import encode_line, iter_lines, write_bytes, write_whole
from tasks.exam.public.hashing import compute_root, follow_path, make_path
from tasks.exam.public.log import keep_public_log, name_public_folder
from tasks.questions.pictures import read_picture
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.public_log import add_public_entry, list_public_entries
from warehouse.ledger.exam import plans

KIND: Final = "question"
# The entry of the audit log.
DISCLOSE: Final = "disclose_question"


class DisclosedQuestion(NamedTuple):
    """A question that everybody can read.

    Attributes:
        commitment: what it is known by in banks and sets.
        file: under `public/questions/`.
        set_ids: disclosed sets that have it.
        refusal: why the log's file was not brought up to the ledger; null where it was.
    """

    commitment: str
    file: str
    set_ids: tuple[str, ...]
    is_new: bool
    refusal: str | None


def disclose_question(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    entry: Mapping[str, Any],
    reason: str,
    *,
    is_leaked: bool = False,
) -> DisclosedQuestion:
    """Publish a question (its row of `bank_entries`) with its proofs.

    Doing it twice changes nothing. Raises GateError for one that is neither retired nor leaked, as its copies must be, or whose lineage
    a session still has before it, and UsageError for one that was in no bank that a run was committed to, StoreError for a bank's file that is not what was published.
    """
    if not reason.strip():
        raise UsageError("Say why the question is disclosed: --reason TEXT. It is kept in the audit log.")
    question = str(entry["question_uuid"])
    _check_allowed(ledger, lake, question, str(entry["lineage_uuid"]), is_leaked=is_leaked)
    public = name_public_folder(settings)
    body = _prove(lake, settings, public, entry, _list_banks(ledger))
    file = f"{body['commitment']}.json"
    note_keys(ledger, settings, open_signer(settings))
    is_new = body["commitment"] not in list_disclosed(ledger)
    if is_new:
        for picture in entry.get("pictures") or ():
            keep_picture(settings.archive_dir, public / "questions", picture["sha256"])
        # What an entry names stays as it is; until there is one, a killed process may have left anything.
        sha256 = write_whole(public / "questions" / file, [encode_line(body)])
        with ledger.write() as connection:
            found = list_public_entries(connection, (KIND,))
            if all(step.body["commitment"] != body["commitment"] for step in found):
                names = {"commitment": body["commitment"], "file": file, "sha256": sha256}
                add_public_entry(connection, KIND, names)
                add_entry(connection, Entry(DISCLOSE, target=f"{body['commitment']} {reason.strip()}"[:240]))
    refusal = keep_public_log(ledger, settings)
    return DisclosedQuestion(body["commitment"], file, tuple(body["sets"]), is_new, refusal)


def check_undisclosed(ledger: Ledger, lake: Lake, settings: Settings, entry: Mapping[str, Any]) -> None:
    """Pass when no question of the lineage, or of a copy's, was disclosed; GateError names one."""
    disclosed = list_disclosed(ledger)
    if not disclosed:
        return
    secret = read_blinding_secret(settings)
    lineage = str(entry["lineage_uuid"])
    own = lake.read("entries_of_lineage", {"lineage_uuid": lineage})
    copies = _find_copies(lake, own["question_uuid"].to_list(), lineage)["lineage_uuid"].unique().sort()
    for rows in (own, *(lake.read("entries_of_lineage", {"lineage_uuid": one}) for one in copies)):
        for row in rows.iter_rows(named=True):
            if commit_question(secret, row).hex() in disclosed:
                raise GateError(
                    f"{row['question_uuid']} was disclosed, with its answer: whoever is asked it, a copy, or another of its lineage, may "
                    f"have read it. The lineage of {entry['question_uuid']} stays out of the bank."
                )


def _find_copies(lake: Lake, questions: Sequence[str], lineage: str) -> pl.DataFrame:
    """Questions of other lineages that say the same as one of these."""
    return lake.read("copies_of", {"question_uuids": sorted(set(questions)), "lineage_uuid": lineage})


def list_disclosed(ledger: Ledger) -> set[str]:
    """The commitments of the questions that were disclosed one by one."""
    with ledger.read() as connection:
        return {str(step.body["commitment"]) for step in list_public_entries(connection, (KIND,))}


def keep_picture(archive: Path, folder: Path, sha256: str) -> None:
    """Put a picture beside the disclosed questions; raises StoreError for one lost or changed."""
    write_bytes(folder / f"{sha256}.picture", read_picture(archive, sha256))


def _check_allowed(ledger: Ledger, lake: Lake, question: str, lineage: str, *, is_leaked: bool) -> None:
    retirements = lake.read("retirements_of", {"question_uuid": question})
    is_retired = not retirements.is_empty() and bool(retirements["is_retired"][-1])
    if not is_retired and not is_leaked:
        raise GateError(
            f"{question} is not retired: whoever reads it could be asked it. Retire it first "
            f"(`proctor bank retire {question[:8]} --reason TEXT`), or say that it is known outside already (--leaked)."
        )
    copies = _find_copies(lake, [question], lineage)
    own = lake.read("entries_of_lineage", {"lineage_uuid": lineage}).filter(pl.col("until_version").is_null())
    kin = own.filter(pl.col("question_uuid") != question)["question_uuid"].to_list()
    held = kin or copies.filter("is_in_bank")["question_uuid"].to_list()
    if held and not is_leaked:
        relation = "is of the same lineage as" if kin else "says the same as"
        raise GateError(
            f"{held[0]} {relation} {question} and is in the bank: whoever reads the one could be asked the other. Retire it, too "
            f"(`proctor bank retire {held[0][:8]} --reason TEXT`), or say that it is known outside already (--leaked)."
        )
    with ledger.read() as connection:
        found = (
            plans.find_open_session(connection, one) for one in (lineage, *copies["lineage_uuid"].unique())
        )
        session = next((one for one in found if one is not None), None)
    if session is not None:
        raise GateError(
            f"A question of the lineage of {question}, or a copy, stands in session {session}, which is not closed: whoever sits it would know "
            "the answer. Wait until it ends, or close it now (`proctor exam close`)."
        )


def _list_banks(ledger: Ledger) -> dict[int, str]:
    """Bank version → its root, of every commitment in the public log."""
    with ledger.read() as connection:
        commits = list_public_entries(connection, ("commit",))
    return {int(step.body["bank"]["version"]): str(step.body["bank"]["root"]) for step in commits}


def _prove(
    lake: Lake, settings: Settings, public: Path, entry: Mapping[str, Any], banks: Mapping[int, str]
) -> dict[str, Any]:
    """The file of a question, from the latest sealed bank that had it."""
    secret = read_blinding_secret(settings)
    question, lineage = str(entry["question_uuid"]), str(entry["lineage_uuid"])
    until = entry["until_version"]
    for version in sorted(banks, reverse=True):
        if version < entry["from_version"] or (until is not None and version >= until):
            continue
        rows = lake.read("lineage_at_version", {"lineage_uuid": lineage, "bank_version": version})
        index = index_bank(rows, settings.disciplines, secret)
        slots = index.list_slots(0) if index.lineage_uuids else []
        if question not in slots:
            continue
        row = next(one for one in rows.iter_rows(named=True) if one["question_uuid"] == question)
        commitments = commit_rows(secret, rows)
        leaves = make_slot_leaves(index, 0, commitments)
        slot = slots.index(question)
        commitment = commitments[lineage, question].hex()
        discipline, path = _find_lineage(
            public / "banks" / f"{banks[version]}.jsonl",
            index.names[0],
            SealedLineage(len(leaves), compute_root(leaves)),
        )
        return {
            "commitment": commitment,
            "salt": question_salt(secret, question, int(row["revision"])).hex(),
            "content": write_content(row),
            "bank_root": banks[version],
            "lineage": index.names[0].hex(),
            "discipline": discipline,
            "slot": slot,
            "slot_salt": slot_salt(secret, version, lineage, slot).hex(),
            "slots": len(leaves),
            "path": [node.hex() for node in make_path(leaves, slot)],
            "lineage_path": [node.hex() for node in path],
            "sets": sorted(_iter_sets(public, commitment)),
        }
    raise UsageError(
        f"{question} was in no bank that a run was committed to, so that there is nothing to prove. Only questions of sealed runs are disclosed."
    )


def _find_lineage(path: Path, name: bytes, sealed: SealedLineage) -> tuple[str, list[bytes]]:
    """A lineage's discipline in the public file of a bank, and its path to the bank's root."""
    leaves: list[bytes] = []
    found: tuple[int, str] | None = None
    lines = iter_lines(path)
    next(lines)
    for place, (of, discipline, slots, root, *shared) in enumerate(lines):
        known = SealedLineage(slots, bytes.fromhex(root))
        if bytes.fromhex(of) == name and known == sealed:
            found = (place, discipline)
        names = [bytes.fromhex(one) for one in shared]
        leaves.append(make_lineage_leaf(bytes.fromhex(of), discipline, known, names))
    if found is None:
        raise UsageError(
            f"{path} does not have the question's lineage as the bank has it now. Restore file, lake and secrets of one backup."
        )
    place, discipline = found
    proof = make_path(leaves, place)
    if follow_path(leaves[place], place, len(leaves), proof).hex() != path.stem:
        raise StoreError(
            f"{path} is not what was published: its lines do not lead to the root in its name. Restore it from a backup."
        )
    return discipline, proof


def _iter_sets(public: Path, commitment: str) -> Iterator[str]:
    """The sets of disclosed runs that have the question, each once."""
    seen: set[str] = set()
    for path in sorted((public / "runs").glob("*/sets.jsonl")):
        for line in iter_lines(path):
            if line["set"] not in seen and any(item[2] == commitment for item in line["items"]):
                seen.add(line["set"])
                yield line["set"]
