"""A plan becomes a run in one transaction: sets claimed, sessions in their secret order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from schemas.errors import ConflictError, GateError, StoreError, UsageError
from schemas.ledger.exam import Run, Session
from tasks.exam.plan.allotment import Allotment
from tasks.exam.plan.bank import draw_order, make_set_key
from tasks.exam.plan.key_balance import weigh_keys
from tasks.exam.plan.planning import check_same_run, compute_plan
from tasks.exam.plan.request import PlanRequest
from tasks.exam.plan.run_plan import RunPlan, describe, parse_published
from tasks.exam.plan.shares import BankTooSmall
from tasks.exam.public.bank import SealedBank, read_unchanged, seal_bank
from tasks.exam.public.draws import write_draw
from tasks.models.registry import describe_model
from tasks.questions import BareQuestion
from tasks.questions.forms import strip_questions
from tasks.questions.pictures import read_picture
from tasks.running.approvals import Request, Unapproved, ask_and_refuse, use_approval
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.exam import plans
from warehouse.ledger.exam import sittings as ledger_exam
from warehouse.ledger.trust import organisations as ledger_organisations
from warehouse.ledger.trust import users as ledger_users
from warehouse.ledger.trust.seals import seal_run

# Which draw a run had: 2 is that of docs/verify.md.
DRAW_FORM: Final = 2
# What a session has none of before it is opened.
_LATER: Final[dict[str, Any]] = dict.fromkeys(
    (
        *("lease_hash", "lease_expires_at", "access_hash", "opened_at", "closed_at"),
        *("deadline_at", "question_s", "close_reason"),
    )
)
# What of a plan somebody agrees to.
_ASKED: Final = (
    "month",
    "repetition",
    "bank_version",
    "policy",
    "set_size",
    "shares",
    "styles",
    "repeats",
    "candidates",
    "outside",
    "reference_model",
    "bridged_reference",
    "is_simulated",
    "sets",
    "session_count",
    "budget_usd",
)


def publish_plan(ledger: Ledger, plan: RunPlan) -> str:
    """Claim the plan's sets, add its sessions with their secret order, and return the run's id.

    One transaction: all or nothing. It first takes the run's identity, so that of any number of planners of one run exactly
    one publishes; the others find its plan. The plan is computed again from what the ledger holds now, so that two plans
    made side by side cannot claim the same lineage. What the draw was committed to, and what it drew, are entries of the
    public log in the same transaction.

    Raises:
        BankTooSmall: the bank can serve no candidate of the plan.
        GateError: a limit allows no candidate, or the reference cannot sit.
        ApprovalNeeded: a second person must agree; nothing was claimed, the request is kept.
        UsageError: there is no session to sit, or the run was planned meanwhile for others.
        ContractError: the bank has another version than when the plan was made.
    """
    if plan.is_published:
        return plan.run_id
    request = plan.request
    if request is None or not plan.asked_for:
        raise UsageError(
            f"Run {plan.run_id}: no candidate is due in {plan.month}; name candidates to examine them."
        )
    names = [sitter.model for sitter in request.candidates]
    bank = seal_bank(request.index, request.rows, request.settings.public_dir)
    try:
        with ledger.write() as connection:
            if not plans.claim_run(connection, _describe_run(request, now_text())):
                check_same_run(_read_claimed(connection, request), names)
                return plan.run_id
            plans.lock_season(connection, request.season)
            ledger_organisations.register_organisations(connection, *_list_organisations(request))
            ledger_organisations.lock_organisations(
                connection, {sitter.organisation for sitter in (*request.candidates, *request.references)}
            )
            current, allotment = compute_plan(connection, request)
            check_served(current)
            if request.approval_days is not None:
                use_approval(connection, describe_request(current))
            _write_plan(connection, request, current, allotment, bank)
    except Unapproved as missing:
        raise ask_and_refuse(ledger, missing.request, request.approval_days or 0) from None
    except ConflictError:
        raise StoreError(
            f"Run {plan.run_id} was not published: another run claimed the same sets. Nothing was claimed; plan it again."
        ) from None
    return plan.run_id


def check_served(plan: RunPlan) -> None:
    """Pass when a candidate can sit; raises GateError (BankTooSmall) with the numbers."""
    if plan.candidates or not plan.refused:
        return
    reasons = " ".join(refusal.reason for refusal in plan.refused)
    shortfalls = [short for refusal in plan.refused for short in refusal.shortfalls]
    if not shortfalls:
        raise GateError(f"Run {plan.run_id} can examine nobody. {reasons}")
    raise BankTooSmall(
        f"Run {plan.run_id} can examine nobody. {reasons} Add questions to the bank, make the set smaller "
        "(PROCTOR_SET_SIZE), allow smaller shares (PROCTOR_LEAST_SHARE), or set PROCTOR_CAP_SMALL_DISCIPLINES.",
        shortfalls,
    )


def describe_request(plan: RunPlan) -> Request:
    """What a second person is asked to approve: who sits what, how often, at what cost.

    Nothing of it follows from the secret of the draw: asked again, it is the same.
    """
    asked = {name: plan.summary()[name] for name in _ASKED}
    # How many questions ask about a text twice is by lot.
    asked["sets"] = [
        {name: said for name, said in one.items() if name != "repeated_count"} for one in asked["sets"]
    ]
    return Request("plan", plan.run_id, asked)


def _describe_run(request: PlanRequest, at: str) -> Run:
    references = [sitter.model for sitter in request.references]
    return Run(
        run_id=request.run_id,
        month=request.month,
        season=request.season,
        bank_version=request.index.bank_version,
        reference_model=references[0],
        bridged_reference=references[1] if len(references) > 1 else None,
        repetition=request.repetition,
        set_size=request.set_size,
        policy=request.policy,
        budget_usd=request.settings.budget_usd,
        status="open",
        is_simulated=request.is_simulated,
        planned_at=at,
        closed_at=None,
    )


def _read_claimed(connection: Connection, request: PlanRequest) -> RunPlan:
    row = ledger_exam.read_run(connection, request.run_id)
    if row is None:
        raise UsageError(
            f"{request.month} has a run that is named {request.repetition!r} already, under another id. "
            "Choose another name (--repetition NAME)."
        )
    return parse_published(row)


def _list_organisations(request: PlanRequest) -> tuple[dict[str, str], dict[str, str]]:
    """Names of organisations by key, other keys included, and what other names stand for."""
    names = dict(request.organisations)
    for sitter in (*request.candidates, *request.references):
        names.setdefault(sitter.organisation, request.name_organisation(sitter.organisation))
    aliases = {key: meant for key, meant in request.aliases.items() if meant in names}
    return {**{key: names[meant] for key, meant in aliases.items()}, **names}, aliases


def _describe_pictures(request: PlanRequest, contents: dict[str, BareQuestion]) -> dict[str, BareQuestion]:
    """The contents with what pictures show in words; StoreError for a lost or changed picture."""
    shown = {picture.sha256 for bare in contents.values() for picture in bare.pictures}
    if not shown:
        return contents
    for sha256 in sorted(shown):
        read_picture(request.settings.archive_dir, sha256)
    told = request.rows.read_alt_texts(shown)
    return {
        question: replace(
            bare,
            pictures=tuple(replace(picture, alt_text=told.get(picture.sha256)) for picture in bare.pictures),
        )
        for question, bare in contents.items()
    }


def _write_plan(
    connection: Connection, request: PlanRequest, plan: RunPlan, allotment: Allotment, bank: SealedBank
) -> None:
    at, seed = now_text(), request.chance.seed
    drawn = [item for new in allotment.new_sets for item in new.items]
    # Where nothing is drawn, one lineage of each set shows whether the bank is still the one that was indexed.
    shown = {item.lineage_uuid for item in drawn} or {
        min(held) for held in allotment.lineages.values() if held
    }
    rows = read_unchanged(request.index, request.rows, shown)
    contents = _describe_pictures(request, strip_questions(rows, [item.question_uuid for item in drawn]))
    index = request.index
    names = {set_id: index.name_lineages(lineages) for set_id, lineages in allotment.lineages.items()}
    orders = [
        (session.session_id, draw_order(names[session.set_id], seed, session.session_id))
        for session in plan.sessions
    ]
    owners = {sitter.model: sitter.organisation for sitter in (*request.candidates, *request.references)}
    plans.write_run_plan(
        connection,
        plan.run_id,
        seed=seed.hex(),
        plan={
            **replace(plan, keys=weigh_keys(allotment.new_sets, rows) if drawn else ()).summary(),
            "is_published": True,
            # Runs that were planned before draws followed from digests alone have no form.
            "draw_form": DRAW_FORM,
            "disciplines": list(plan.shares),
            "models": {
                name: {
                    **describe_model(model),
                    "organisation": request.name_organisation(owners[name]),
                    # Whose it is in the house is no part of what is sealed: a model may change hands before it sits.
                    **({} if model.team is None else {"team": model.team}),
                }
                for name, model in request.models.items()
            },
            "sessions": describe(plan.sessions),
        },
    )
    plans.write_sets(
        connection,
        [
            {
                "set_id": new.set_id,
                "season": request.season,
                "set_number": new.set_number,
                "bank_version": plan.bank_version,
                "is_simulated": plan.is_simulated,
                "set_group": new.set_group,
                "created_at": at,
            }
            for new in allotment.new_sets
        ],
        [
            {
                "set_id": new.set_id,
                "lineage_uuid": item.lineage_uuid,
                "question_uuid": item.question_uuid,
                "discipline": item.discipline,
                "is_anchor": item.is_anchor,
                "content": contents[item.question_uuid].as_row(),
            }
            for new in allotment.new_sets
            for item in new.items
        ],
        {new.set_id: make_set_key(seed, new.set_id).hex() for new in allotment.new_sets},
    )
    for owner, set_id in allotment.claims:
        plans.write_claim(
            connection,
            organisation=owner,
            set_id=set_id,
            run_id=plan.run_id,
            at=at,
            rested_before=request.rested_before,
        )
    for owner, set_id in allotment.reference_claims:
        plans.write_reference_claim(connection, organisation=owner, set_id=set_id, run_id=plan.run_id, at=at)
    for sitter in (*request.candidates, *request.references):
        ledger_users.ensure_candidate(
            connection, user_id=sitter.user_id, organisation=sitter.organisation, model=sitter.model
        )
    plans.write_sessions(
        connection,
        [
            Session(
                **{name: value for name, value in describe(session).items() if name != "set_number"},
                run_id=plan.run_id,
                is_simulated=plan.is_simulated,
                is_outside=session.model in request.outside,
                pending_window=1 if session.model in request.outside else request.settings.pending_window,
                **_LATER,
            )
            for session in plan.sessions
        ],
        orders,
        at,
    )
    seal_run(
        connection,
        plan.run_id,
        [new.set_id for new in allotment.new_sets],
        [session.session_id for session in plan.sessions],
    )
    write_draw(connection, request, plan, allotment, bank, rows, orders)
