"""Quotas: what is allocated to a candidate and to an organisation may not exceed its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.errors import GateError
from tasks.exam.plan.allotment import Allotment
from warehouse.ledger import plans
from warehouse.ledger import users as ledger_users

if TYPE_CHECKING:
    from sqlalchemy import Connection


def check_quotas(connection: Connection, allotment: Allotment) -> None:
    """Quotas: what is allocated to a candidate and to an organisation may not exceed its limit."""
    by_organisation: dict[str, int] = {}
    by_user: dict[str, int] = {}
    for row in plans.read_allocated_counts(connection):
        by_organisation[row.organisation] = by_organisation.get(row.organisation, 0) + int(row.allocated)
        by_user[row.user_id] = int(row.allocated)
    for session in allotment.sessions:
        by_organisation[session.organisation] = (
            by_organisation.get(session.organisation, 0) + session.question_count
        )
        by_user[session.user_id] = by_user.get(session.user_id, 0) + session.question_count
    limits = ledger_users.read_organisation_limits(
        connection, {session.organisation for session in allotment.sessions}
    )
    for organisation, limit in limits.items():
        if by_organisation[organisation] > limit:
            raise GateError(
                f"Organisation {organisation!r} may be allocated {limit} questions; with this run it would have "
                f"{by_organisation[organisation]}. Raise its limit, or evaluate fewer of its candidates."
            )
    for user_id in sorted({session.user_id for session in allotment.sessions}):
        user = ledger_users.read_user(connection, user_id)
        if user is not None and user.question_limit is not None and by_user[user_id] > user.question_limit:
            raise GateError(
                f"Candidate {user_id!r} may be allocated {user.question_limit} questions; with this run it would have "
                f"{by_user[user_id]}. Raise its limit, or plan fewer repeats."
            )
