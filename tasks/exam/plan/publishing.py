"""A plan becomes a run: its sets claimed and its sessions with their secret order added, in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.errors import ConflictError, StoreError, UsageError
from tasks.exam.plan.allotment import Allotment, PlanRequest
from tasks.exam.plan.drawing import draw_order
from tasks.exam.plan.planning import compute_plan
from tasks.exam.plan.run_plan import RunPlan, describe_model
from tasks.questions.bare import strip_questions
from warehouse.ledger import exam as ledger_exam
from warehouse.ledger import plans
from warehouse.ledger import users as ledger_users
from warehouse.ledger.engine import Ledger, now_text

if TYPE_CHECKING:
    from sqlalchemy import Connection


def publish_plan(ledger: Ledger, plan: RunPlan) -> str:
    """Claim the plan's sets, add its sessions with their secret order, and return the run's id.

    One transaction: all or nothing, and nothing at all when the run is already there. The plan is computed again from
    what the ledger holds now, so that two plans made side by side cannot claim the same lineage.

    Raises:
        GateError: the bank no longer satisfies the plan.
        UsageError: there is no session to sit.
    """
    if plan.is_published:
        return plan.run_id
    request = plan.request
    if request is None or not plan.candidates:
        raise UsageError(
            f"Run {plan.run_id}: no candidate is due in {plan.month}; name candidates to examine them."
        )
    try:
        with ledger.write() as connection:
            if ledger_exam.read_run(connection, plan.run_id) is not None:
                return plan.run_id
            plans.lock_season(connection, request.season)
            ledger_users.lock_organisations(
                connection, {sitter.organisation for sitter in (*request.candidates, *request.references)}
            )
            if ledger_exam.read_run(connection, plan.run_id) is not None:
                return plan.run_id  # published by another process while this one waited
            current, allotment = compute_plan(connection, request)
            _write_plan(connection, request, current, allotment)
    except ConflictError:
        raise StoreError(
            f"Run {plan.run_id} was not published: another run claimed the same sets. Nothing was claimed; plan it again."
        ) from None
    return plan.run_id


def _write_plan(connection: Connection, request: PlanRequest, plan: RunPlan, allotment: Allotment) -> None:
    at = now_text()
    contents = strip_questions(
        request.bank, [item.question_uuid for new in allotment.new_sets for item in new.items]
    )
    plans.write_run(
        connection,
        {
            "run_id": plan.run_id,
            "month": plan.month,
            "season": plan.season,
            "bank_version": plan.bank_version,
            "reference_model": plan.reference_model,
            "set_size": plan.set_size,
            "policy": plan.policy,
            "seed": request.seed,
            "budget_usd": plan.budget_usd,
            "status": "open",
            "is_simulated": plan.is_simulated,
            "plan": {
                **plan.summary(),
                "is_published": True,
                "disciplines": list(plan.shares),
                "models": {name: describe_model(model) for name, model in request.models.items()},
                "sessions": [session.describe() for session in plan.sessions],
            },
            "planned_at": at,
            "closed_at": None,
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
                "content": contents[item.question_uuid].as_row(),
            }
            for new in allotment.new_sets
            for item in new.items
        ],
    )
    for claim in allotment.claims:
        plans.write_claim(
            connection,
            organisation=claim.organisation,
            set_id=claim.set_id,
            model=claim.model,
            repeat=claim.repeat,
            run_id=plan.run_id,
            at=at,
            rested_before=request.rested_before,
        )
    for sitter in (*request.candidates, *request.references):
        ledger_users.ensure_candidate(
            connection,
            user_id=sitter.user_id,
            organisation=sitter.organisation,
            model=sitter.model,
        )
    plans.write_sessions(
        connection,
        [
            {
                "session_id": session.session_id,
                "run_id": plan.run_id,
                "set_id": session.set_id,
                "user_id": session.user_id,
                "model": session.model,
                "organisation": session.organisation,
                "prompt_style": session.prompt_style,
                "repeat": session.repeat,
                "is_reference": session.is_reference,
                "is_simulated": plan.is_simulated,
                "pending_window": 1 if session.model in request.outside else request.pending_window,
                "question_count": session.question_count,
                "next_seq": 1,
                "answered_count": 0,
                "status": "planned",
                "lease_generation": 0,
            }
            for session in plan.sessions
        ],
        (
            [
                {"session_id": session.session_id, "seq": seq, "lineage_uuid": lineage, "allocated_at": at}
                for seq, lineage in enumerate(
                    draw_order(
                        allotment.lineages[session.set_id], request.seed, f"order|{session.session_id}"
                    ),
                    start=1,
                )
            ]
            for session in plan.sessions
        ),
    )
