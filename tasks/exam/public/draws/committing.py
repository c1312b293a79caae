"""A run that is committed to first and drawn later.

The draw uses a public value that nobody knows yet, and shares of candidates. `commit_run` writes the commitment and nothing can
be sat; `add_share` adds what a candidate gives; `draw_run` plans the run again from the ledger, refuses where what was committed
to has changed, and draws it, once.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from tasks.exam.closed import set_deadlines
from tasks.exam.log import note_keys
from tasks.exam.log.signing import open_signer
from tasks.exam.month import preview_month, publish_month
from tasks.exam.plan import Chance, RunPlan, RunWishes, check_served, compute_plan
from tasks.exam.public.bank import seal_bank
from tasks.exam.public.draws.beacons import check_line, fetch_round, name_beacon, read_given
from tasks.exam.public.draws.sealing import describe_commitment, list_added, write_commitment
from tasks.exam.public.log import WitnessedHead, keep_public_log, tell_witnesses
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.public_log import (
    PublicStep,
    add_public_entry,
    list_public_entries,
    read_public_entries,
)
from warehouse.ledger.exam import draws, plans, sittings

_KINDS: Final = ("commit", "share", "draw")


@dataclass(frozen=True)
class Commitment:
    """A run that is committed to and waits for its beacon.

    Attributes:
        entry: the number of its entry in the public log.
        beacon: what the entry says of the beacon.
        told: what became of the log's head with the witnesses of the settings.
    """

    plan: RunPlan
    entry: int
    beacon: dict[str, Any]
    told: tuple[WitnessedHead, ...]


def commit_run(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    wishes: RunWishes,
    *,
    source: str,
    again: str | None = None,
) -> Commitment | None:
    """Commit to a run that is drawn once the value of `source` is known, and tell the witnesses.

    None when nobody is due. Who sits is fixed by it: names that are not given are those that are due now. Raises GateError for a
    run that is drawn, or that is committed to already where `again` does not say why it is to be done anew.
    """
    beacon, reason = name_beacon(source, datetime.now(UTC)), again
    if reason is not None:
        reason = check_line("A reason", reason)
    plan = preview_month(
        ledger, lake, settings, wishes, chance=Chance(secrets.token_bytes(32), beacon=beacon)
    )
    if plan is None:
        return None
    if plan.request is None:
        raise GateError(f"Run {plan.run_id} is drawn; a run is drawn once.")
    check_served(plan)
    if not plan.candidates:
        raise UsageError(f"Run {plan.run_id}: no candidate is due in {plan.month}; name candidates.")
    request = plan.request
    bank = seal_bank(request.index, request.rows, request.settings.public_dir)
    note_keys(ledger, settings, open_signer(settings))
    with ledger.write() as connection:
        plans.lock_season(connection, request.season)
        if sittings.read_run(connection, plan.run_id) is not None:
            raise GateError(f"Run {plan.run_id} is drawn; a run is drawn once.")
        before = _find_commit(read_public_entries(connection, plan.run_id, _KINDS))
        if before is not None and reason is None:
            raise GateError(
                f"Run {plan.run_id} is committed to (entry {before.number} of the public log). Draw it with `proctor exam draw "
                f"{plan.run_id}`; to commit again, say why: --again REASON. The log shows both."
            )
        if before is not None:
            request = request.with_chance(replace(request.chance, replaces=before.number, reason=reason))
        current, allotment = compute_plan(connection, request)
        check_served(current)
        entry = write_commitment(
            connection,
            request,
            current,
            describe_commitment(request, current, allotment, bank),
            bank,
            {
                **asdict(wishes),
                "candidates": [name for name in plan.asked_for if name not in wishes.outside],
                "outside": list(wishes.outside),
                "repetition": plan.repetition if not wishes.run_id else None,
                "committed_at": request.planned_on.isoformat(),
            },
        )
    keep_public_log(ledger, settings)
    # Whoever keeps heads has the commitment before the value is there.
    return Commitment(current, int(entry.number), beacon, tell_witnesses(ledger, settings))


def add_share(ledger: Ledger, settings: Settings, run_id: str, candidate: str, share: str) -> int:
    """Add what a candidate gives to the seed of a run that is committed to; the entry's number.

    Raises UsageError for a share that is no hash, for an unknown candidate and for a second share, GateError for a run that is
    not committed to or is drawn.
    """
    share = share.strip().lower()
    if len(share) != 64 or not set(share) <= set("0123456789abcdef"):
        raise UsageError(
            "A share is 64 hexadecimal digits, for example a SHA-256: of something that the candidate alone knows."
        )
    with ledger.write() as connection:
        entries, commit = _require_pending(connection, run_id)
        seal = draws.read_run_seal(connection, run_id)
        named = (
            set()
            if seal is None or seal.parameters is None
            else {*seal.parameters["candidates"], *seal.parameters["outside"]}
        )
        if candidate not in named:
            raise UsageError(f"Run {run_id} does not examine {candidate!r}: {', '.join(sorted(named))}.")
        if any(
            entry.kind == "share"
            and entry.body["commit"] == commit.number
            and entry.body["candidate"] == candidate
            for entry in entries
        ):
            raise UsageError(
                f"{candidate!r} has given its share to run {run_id}; it is not changed any more."
            )
        entry = add_public_entry(
            connection,
            "share",
            {"run": run_id, "commit": commit.number, "candidate": candidate, "share": share},
        )
    keep_public_log(ledger, settings)
    return entry.number


def draw_run(
    ledger: Ledger, lake: Lake, settings: Settings, run_id: str, value: str | None = None
) -> RunPlan:
    """Draw a run that is committed to with the value of its beacon, and publish it; its plan.

    Without a value drand is asked for it. Raises UsageError for a value that drand did not give out, GateError for a run that waits for no draw, and where the bank, who has met what, or the plan is no longer what was
    committed to.
    """
    with ledger.read() as connection:
        entries, commit = _require_pending(connection, run_id)
        seal = draws.read_run_seal(connection, run_id)
    if seal is None or seal.parameters is None:
        raise GateError(
            f"The ledger lacks the share that run {run_id} was committed with. Restore it from a backup, or commit again: "
            "proctor exam commit … --again REASON."
        )
    parameters: dict[str, Any] = dict(seal.parameters)
    named = commit.body["beacon"]
    if value is None:
        value = fetch_round(settings.drand_url, named, datetime.now(UTC))
    chance = Chance(
        bytes.fromhex(seal.share),
        added=list_added(entries, commit.number),
        beacon=named,
        given=read_given(named, value),
        commit=commit.number,
        committed_at=datetime.fromisoformat(parameters.pop("committed_at")),
    )
    plan = preview_month(ledger, lake, settings, RunWishes(**parameters), chance=chance)
    if plan is None or plan.is_published:
        raise GateError(f"Run {run_id} is drawn; a run is drawn once.")
    publish_month(ledger, settings, plan)
    keep_public_log(ledger, settings)
    set_deadlines(ledger, settings, run_id)
    return plan


def _find_commit(entries: Sequence[PublicStep]) -> PublicStep | None:
    return next((entry for entry in reversed(entries) if entry.kind == "commit"), None)


def _require_pending(connection: Connection, run_id: str) -> tuple[Sequence[PublicStep], PublicStep]:
    """What the log says of a run that waits for its draw, and its commitment."""
    entries = read_public_entries(connection, run_id, _KINDS)
    commit = _find_commit(entries)
    if commit is None:
        found = list_public_entries(connection, _KINDS)
        drawn = {entry.body["run"] for entry in found if entry.kind == "draw"}
        waiting = sorted({entry.body["run"] for entry in found} - drawn)
        raise GateError(
            f"Run {run_id!r} is not committed to; `proctor exam commit --beacon SOURCE` does that before it is planned. "
            f"Waiting for their draw: {', '.join(waiting) or 'none'}."
        )
    if any(entry.kind == "draw" for entry in entries):
        raise GateError(f"Run {run_id} is drawn; a run is drawn once.")
    return entries, commit
