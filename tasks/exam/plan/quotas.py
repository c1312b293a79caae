"""Quotas: what is allocated to a candidate and to an organisation may not exceed its limit."""

from __future__ import annotations

from schemas.errors import GateError
from tasks.exam.plan.allotment import Allotment, Refusal
from tasks.exam.plan.request import PlanRequest
from warehouse.ledger.engine.ledger import Connection
from warehouse.ledger.exam import plans
from warehouse.ledger.trust import organisations as ledger_organisations
from warehouse.ledger.trust import users as ledger_users


def find_over_quota(connection: Connection, request: PlanRequest, allotment: Allotment) -> list[Refusal]:
    """The candidates beyond their limit or their organisation's; GateError for the reference."""
    by_organisation: dict[str, int] = {}
    by_user: dict[str, int] = {}
    for row in plans.read_allocated_counts(connection):
        owner = request.aliases.get(row.organisation, row.organisation)
        by_organisation[owner] = by_organisation.get(owner, 0) + int(row.allocated)
        by_user[row.user_id] = by_user.get(row.user_id, 0) + int(row.allocated)
    for session in allotment.sessions:
        owner, user = session.organisation, session.user_id
        by_organisation[owner] = by_organisation.get(owner, 0) + session.question_count
        by_user[user] = by_user.get(user, 0) + session.question_count
    owners = {session.organisation for session in allotment.sessions}
    limits = ledger_organisations.read_organisation_limits(connection, owners)
    refused: list[Refusal] = []
    for owner, limit in limits.items():
        if by_organisation[owner] > limit:
            name = request.name_organisation(owner)
            reason = (
                f"Organisation {name!r} may be allocated {limit} questions; with this run it would have "
                f"{by_organisation[owner]}. Raise its limit, or evaluate fewer of its candidates."
            )
            models = {session.model for session in allotment.sessions if session.organisation == owner}
            refused.append(_refuse(request, name, models, reason))
    gone = {model for refusal in refused for model in refusal.candidates}
    for user_id in sorted({session.user_id for session in allotment.sessions}):
        found = ledger_users.read_user(connection, user_id)
        if found is None or found.question_limit is None or by_user[user_id] <= found.question_limit:
            continue
        models = {session.model for session in allotment.sessions if session.user_id == user_id} - gone
        if models:
            reason = (
                f"Candidate {user_id!r} may be allocated {found.question_limit} questions; with this run it would have "
                f"{by_user[user_id]}. Raise its limit, or plan fewer repeats."
            )
            owner = next(session.organisation for session in allotment.sessions if session.user_id == user_id)
            refused.append(_refuse(request, request.name_organisation(owner), models, reason))
    return refused


def _refuse(request: PlanRequest, organisation: str, models: set[str], reason: str) -> Refusal:
    if models & {sitter.model for sitter in request.references}:
        raise GateError(f"The reference cannot sit. {reason}")
    return Refusal(organisation, tuple(sorted(models)), reason)
