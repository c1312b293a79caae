"""What a run commits to before its draw, and what its draw commits to.

See docs/verify.md, "Before the first question". Everything is written with the transaction that plans the run, or
that commits to it: all of it is there, or none.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from schemas.errors import ContractError, GateError
from schemas.lazy import np
from schemas.ledger.exam import RunSeal, SetProof
from tasks.exam.public.bank import SealedBank, commit_rows, make_slot_leaves, read_unchanged, slot_salt
from tasks.exam.public.hashing import compute_root, digest, make_path
from tasks.models.registry import describe_model
from warehouse.lake import read_code_version
from warehouse.ledger.engine.logs.public_log import add_public_entry, read_public_entries
from warehouse.ledger.exam import draws, plans

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from tasks.exam.plan import Allotment, PlanRequest, RunPlan
    from tasks.exam.plan.bank import DrawnQuestion
    from warehouse.ledger.engine.ledger import Connection

_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Committed(NamedTuple):
    """What a run commits to: `plan.json`, `exclusions.json` as disclosed, the latter's root."""

    plan: str
    exclusions: str
    exclusions_root: bytes


def describe_commitment(
    request: PlanRequest, plan: RunPlan, allotment: Allotment, bank: SealedBank
) -> Committed:
    """What follows from the request and the ledger alone, whatever the seed."""
    met = [
        *(
            (f"organisation {owner}", allotment.state.met[owner])
            for owner in sorted(
                {sitter.organisation for sitter in (*request.candidates, *request.references)}
            )
        ),
        *(() if allotment.state.rested is None else (("rested", allotment.state.rested),)),
        ("avoided", allotment.avoided),
        ("asked", _mark(request, allotment.state.asked)),
    ]
    entries, leaves = [], []
    for name, mask in met:
        salt, bitmap = digest("proctor salt", request.chance.share, name), _pack(mask, bank)
        leaves.append(digest("proctor met", name, salt, hashlib.sha256(bitmap).digest()))
        entries.append({"name": name, "salt": salt.hex(), "bitmap": base64.b64encode(bitmap).decode()})
    return Committed(
        _encode(_describe_plan(request, plan, allotment, bank)),
        _encode({"bank_root": bank.root.hex(), "met": entries}),
        compute_root(leaves),
    )


def write_commitment(
    connection: Connection,
    request: PlanRequest,
    plan: RunPlan,
    committed: Committed,
    bank: SealedBank,
    parameters: Mapping[str, Any] | None = None,
) -> Any:
    """Keep the operator's share with what is committed; returns the entry `commit`, added here."""
    chance = request.chance
    draws.write_run_seal(
        connection,
        RunSeal(
            run_id=plan.run_id,
            share=chance.share.hex(),
            plan=committed.plan,
            exclusions=committed.exclusions,
            parameters=None if parameters is None else dict(parameters),
        ),
    )
    body = {
        "run": plan.run_id,
        "month": plan.month,
        "is_simulated": plan.is_simulated,
        "share_commitment": digest("proctor share", chance.share).hex(),
        "bank": {"version": plan.bank_version, "root": bank.root.hex(), "lineages": len(bank.places)},
        "exclusions_root": committed.exclusions_root.hex(),
        # Of the file, its newline included.
        "plan_commitment": digest(
            "proctor plan", hashlib.sha256(f"{committed.plan}\n".encode()).digest()
        ).hex(),
        "session_count": len(plan.sessions),
        "candidate_count": len(plan.candidates),
        "code_version": read_code_version(),
        "beacon": None if chance.beacon is None else dict(chance.beacon),
        "replaces": chance.replaces,
        "reason": chance.reason,
    }
    return add_public_entry(connection, "commit", body)


def write_draw(
    connection: Connection,
    request: PlanRequest,
    plan: RunPlan,
    allotment: Allotment,
    bank: SealedBank,
    contents: pl.DataFrame,
    orders: Sequence[tuple[str, Sequence[str]]],
) -> None:
    """Add a planned run's entries: its commitment, unless that is public already, and its draw.

    `contents` are the bank's rows of the lineages of new sets, `orders` every session with its lineages in their order. Raises
    GateError where what was committed to before is not what would be drawn now.
    """
    chance = request.chance
    committed = describe_commitment(request, plan, allotment, bank)
    if chance.commit is None:
        commit: Any = write_commitment(connection, request, plan, committed, bank)
    else:
        check_committed(connection, request, committed, bank)
        commit = chance.commit
    proofs = prove_sets(connection, request, plan, allotment, contents)
    draws.write_set_proofs(connection, proofs.values())
    new = {found.set_id for found in allotment.new_sets}
    roots = {
        set_id: compute_set_root(proof.items) for set_id, proof in sorted(proofs.items()) if set_id in new
    }
    proved = {
        **proofs,
        **{
            proof.set_id: proof
            for proof in draws.iter_set_proofs(
                connection, [taken.set_id for taken in plan.sets if taken.set_id not in proofs]
            )
        },
    }
    add_public_entry(
        connection,
        "draw",
        {
            "run": plan.run_id,
            "commit": commit,
            "beacon": None if chance.given is None else dict(chance.given),
            "seed_commitment": digest("proctor seed commitment", chance.seed).hex(),
            "sets": [{"set": set_id, "root": root.hex()} for set_id, root in roots.items()],
            "orders_root": _compute_orders_root(request, plan, proved, orders).hex(),
        },
    )


def check_committed(
    connection: Connection, request: PlanRequest, committed: Committed, bank: SealedBank
) -> None:
    """Pass when what would be drawn now is what was committed to; GateError says what changed."""
    chance, run_id = request.chance, request.run_id
    entries = read_public_entries(connection, run_id, ("commit", "share", "draw"))
    seal = draws.read_run_seal(connection, run_id)
    commit = next((entry for entry in reversed(entries) if entry.kind == "commit"), None)
    again = f"Commit again; the public log shows this with the reason: proctor exam commit … --again REASON (run {run_id})."
    if any(entry.kind == "draw" for entry in entries):
        raise GateError(f"Run {run_id} is drawn; a run is drawn once.")
    if commit is None or seal is None or commit.number != chance.commit:
        raise GateError(f"Run {run_id} was committed to again meanwhile. Run the command again.")
    if commit.body["share_commitment"] != digest("proctor share", bytes.fromhex(seal.share)).hex():
        raise GateError(
            f"Run {run_id}: the share that the ledger keeps is not the one that was committed to. {again}"
        )
    if chance.added != list_added(entries, commit.number):
        raise GateError(f"Run {run_id} was given a share meanwhile. Run the command again.")
    changed = [
        what
        for what, is_same in (
            ("the bank", commit.body["bank"]["root"] == bank.root.hex()),
            ("who has met what", seal.exclusions == committed.exclusions),
            ("the plan (candidates, their registration, settings or sets)", seal.plan == committed.plan),
        )
        if not is_same
    ]
    if changed:
        raise GateError(
            f"Run {run_id} is not drawn: since it was committed to, {', '.join(changed)} changed. {again}"
        )


def list_added(entries: Iterable[Any], commit: int) -> tuple[bytes, ...]:
    """The shares that candidates added to a commitment, in the order of the log."""
    return tuple(
        bytes.fromhex(entry.body["share"])
        for entry in entries
        if entry.kind == "share" and entry.body["commit"] == commit
    )


def prove_sets(
    connection: Connection, request: PlanRequest, plan: RunPlan, allotment: Allotment, contents: pl.DataFrame
) -> dict[str, SetProof]:
    """What is published, by set, of new ones and those that nobody sat under the public log."""
    index = request.index
    commitments = commit_rows(index.secret, contents)
    found: dict[str, SetProof] = {}
    for new in allotment.new_sets:
        items = [_prove_item(request, item, commitments) for item in new.items]
        revisions = {item.question_uuid: _find_revision(request, item) for item in new.items}
        found[new.set_id] = SetProof(
            set_id=new.set_id, drawn_in=plan.run_id, items=sorted(items), revisions=revisions
        )
    earlier = [taken.set_id for taken in plan.sets if not taken.is_new]
    for set_id in sorted(set(earlier) - draws.list_proved_sets(connection, earlier)):
        found[set_id] = _prove_earlier(connection, request, set_id, allotment.lineages[set_id])
    return found


def compute_set_root(items: Iterable[Sequence[Any]]) -> bytes:
    """The root of a set from its items as they are published."""
    return compute_root(
        digest("proctor item", bytes.fromhex(item[0]), item[1], bytes.fromhex(item[2])) for item in items
    )


def make_order_leaf(row: Mapping[str, Any], order: Sequence[int]) -> bytes:
    """The leaf of a session, from its line of `orders.jsonl`."""
    return digest(
        "proctor order",
        *(row[name] for name in ("session", "set", "style", "model", "organisation")),
        ",".join(map(str, order)),
    )


def _prove_item(
    request: PlanRequest, item: DrawnQuestion, commitments: Mapping[tuple[str, str], bytes]
) -> list[Any]:
    index = request.index
    leaves = make_slot_leaves(index, item.position, commitments)
    salt = slot_salt(index.secret, index.bank_version, item.lineage_uuid, item.slot)
    return [
        index.names[item.position].hex(),
        item.discipline,
        commitments[item.lineage_uuid, item.question_uuid].hex(),
        item.slot,
        salt.hex(),
        [node.hex() for node in make_path(leaves, item.slot)],
    ]


def _find_revision(request: PlanRequest, item: DrawnQuestion) -> int:
    index = request.index
    return int(index.revisions[item.position][index.questions[item.position].index(item.question_uuid)])


def _prove_earlier(
    connection: Connection, request: PlanRequest, set_id: str, lineages: Iterable[str]
) -> SetProof:
    """A set that an earlier run drew, of the same bank version: what is in it, and no slots."""
    index = request.index
    frame = read_unchanged(index, request.rows, set(lineages))
    commitments = commit_rows(index.secret, frame)
    revisions = dict(frame.select("question_uuid", "revision").iter_rows())
    held = plans.read_set_questions(connection, set_id, lineages)
    missing = [question for lineage, question in held if (lineage, question) not in commitments]
    if missing:
        raise ContractError(
            f"Set {set_id} has {len(missing)} questions that bank version {index.bank_version} has not. Run the command again."
        )
    disciplines = dict(plans.read_set_disciplines(connection, set_id))
    names = index.name_lineages([lineage for lineage, _ in held])
    items = sorted(
        [names[lineage].hex(), disciplines[lineage], commitments[lineage, question].hex()]
        for lineage, question in held
    )
    own = {question: revisions[question] for _, question in held}
    return SetProof(set_id=set_id, drawn_in=None, items=items, revisions=own)


def _compute_orders_root(
    request: PlanRequest,
    plan: RunPlan,
    proofs: Mapping[str, SetProof],
    orders: Sequence[tuple[str, Sequence[str]]],
) -> bytes:
    index = request.index
    places = {
        set_id: {item[0]: place for place, item in enumerate(proof.items)} for set_id, proof in proofs.items()
    }
    # Of a set its lineages are looked up once, not for each of its sessions.
    of_lineage: dict[str, dict[str, int]] = {}
    sessions = {session.session_id: session for session in plan.sessions}
    leaves = []
    for session_id, order in sorted(orders):
        session = sessions[session_id]
        of_set = of_lineage.get(session.set_id)
        if of_set is None:
            by_name = places[session.set_id]
            of_set = {lineage: by_name[name.hex()] for lineage, name in index.name_lineages(order).items()}
            of_lineage[session.set_id] = of_set
        row = {
            "session": session_id,
            "set": session.set_id,
            "style": session.prompt_style,
            "model": session.model,
            "organisation": session.organisation,
        }
        numbers = [of_set[lineage] for lineage in order]
        leaves.append(make_order_leaf(row, numbers))
    return compute_root(leaves)


def _describe_plan(
    request: PlanRequest, plan: RunPlan, allotment: Allotment, bank: SealedBank
) -> dict[str, Any]:
    new = {found.set_id: found for found in allotment.new_sets}
    owners: dict[str, set[str]] = {}
    for owner, set_id in (*allotment.claims, *allotment.reference_claims):
        owners.setdefault(set_id, set()).add(owner)
    sitters = {sitter.model: sitter for sitter in (*request.references, *request.candidates)}
    sitting = [*plan.candidates, *(name for name in request.models if name not in plan.candidates)]
    named = {session.model for session in plan.sessions} | {plan.reference_model}
    return {
        "run": plan.run_id,
        "month": plan.month,
        "season": plan.season,
        "salt": digest("proctor salt", request.chance.share, "plan").hex(),
        "bank_root": bank.root.hex(),
        "policy": plan.policy,
        "set_size": plan.set_size,
        "rest_months": request.settings.rest_months,
        **({} if request.settings.rest_exposed is None else {"rest_exposed": request.settings.rest_exposed}),
        "styles": list(plan.styles),
        "repeats": plan.repeats,
        "weights": {discipline: 1.0 / len(plan.shares) for discipline in plan.shares},
        "reference_model": plan.reference_model,
        "candidates": [
            {
                "model": name,
                "organisation": sitters[name].organisation,
                "registry": _hash_registered(request, name, sitters[name].fingerprint),
            }
            for name in sitting
            if name in named
        ],
        "sets": [
            {
                "set": taken.set_id,
                "number": taken.set_number,
                "is_new": taken.is_new,
                "organisations": sorted(owners.get(taken.set_id, ())),
                "drawn_for": sorted(new[taken.set_id].drawn_for) if taken.is_new else [],
                "shares": [list(share) for share in new[taken.set_id].shares] if taken.is_new else [],
                **({"from_others": True} if taken.is_new and new[taken.set_id].is_from_others else {}),
            }
            for taken in sorted(plan.sets, key=lambda taken: taken.set_number)
        ],
    }


def _hash_registered(request: PlanRequest, name: str, fingerprint: str) -> str:
    """SHA-256 of a model as it is registered."""
    described = [describe_model(request.models[name]), fingerprint]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _mark(request: PlanRequest, positions: Iterable[int]) -> NDArray[np.bool_]:
    mask = request.index.make_mask()
    mask[list(positions)] = True
    return mask


def _pack(mask: NDArray[np.bool_], bank: SealedBank) -> bytes:
    """A mask over the bank index as a bitmap over the bank's file."""
    # Who walks an answer back needs the roots of this module alone.
    found = np.zeros(len(mask), dtype=np.bool_)
    found[bank.places[mask]] = True
    return np.packbits(found, bitorder="little").tobytes()
