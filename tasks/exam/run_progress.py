"""A run while it is under way, by candidate.

It shows what is done, pace, cost, time left and failures. Everything is read from the ledger, so that it is the same
whichever process asks and however many work on the run.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.exam import sittings
from warehouse.ledger.exam.progress import read_call_sums, read_session_paces
from warehouse.ledger.money.calls import read_spent_usd

# A session that has handed out nothing for so long stands still.
_STILL_S: Final = 900.0


@dataclass
class CandidateProgress:
    """How far a candidate is in a run.

    Attributes:
        done: questions that had their turn.
        per_minute: answers a minute of late, over all its open sessions; 0 while it stands still.
        left_s: seconds left at that pace; null while it stands still, 0 at the end.
        cost_usd: what its answers have cost so far; null where no price is known.
        failed_calls: calls that failed for good and were not made up for, by class of error.
    """

    model: str
    is_outside: bool
    session_count: int = 0
    closed_count: int = 0
    done: int = 0
    total: int = 0
    per_minute: float = 0.0
    left_s: float | None = None
    cost_usd: float | None = None
    failed_calls: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RunProgress:
    """How far a run is.

    Attributes:
        status: `open` or `closed`.
        updated_at: when this was read (UTC, ISO text).
        done: questions that had their turn.
        left_s: seconds until the slowest candidate that moves is through; null while none moves.
        cost_usd: what the run has cost so far, its judges too, as its budget counts; null where no price is known.
    """

    run_id: str
    status: str
    updated_at: str
    done: int
    total: int
    per_minute: float
    left_s: float | None
    cost_usd: float | None
    candidates: tuple[CandidateProgress, ...]

    def keep_candidates(self, models: Collection[str]) -> RunProgress:
        """The same of these candidates alone, with the cost of their answers but no judging."""
        kept = tuple(one for one in self.candidates if one.model in models)
        costs = [one.cost_usd for one in kept if one.cost_usd is not None]
        return _sum(kept, self.run_id, self.status, self.updated_at, cost_usd=sum(costs) if costs else None)


def read_run_progress(ledger: Ledger, run_id: str, *, now: float | None = None) -> RunProgress:
    """How far a run is at this moment; raises UsageError for an unknown run."""
    moment = time.time() if now is None else now
    with ledger.read() as connection:
        run = sittings.require_run(connection, run_id)
        rows = read_session_paces(connection, run_id)
        calls = read_call_sums(connection, run_id, "exam")
        spent_usd = read_spent_usd(connection, run_id)
    outside = frozenset(run.plan["outside"])
    found: dict[str, CandidateProgress] = {}
    for row in rows:
        model = row["model"]
        one = found.setdefault(model, CandidateProgress(model, model in outside))
        one.session_count += 1
        one.closed_count += row["status"] == "closed"
        one.done += row["answered_count"]
        one.total += row["question_count"]
        one.per_minute += _compute_pace(dict(row), moment)
    costs: dict[str, float] = defaultdict(float)
    for call in calls:
        if call["cost_usd"] is not None:
            costs[call["model"]] += call["cost_usd"]
        if call["status"] == "failed" and call["model"] in found:
            failed = found[call["model"]].failed_calls
            failed[call["error"] or "unknown"] = (
                failed.get(call["error"] or "unknown", 0) + call["call_count"]
            )
    for one in found.values():
        one.cost_usd = costs.get(one.model)
        if one.closed_count == one.session_count:
            one.left_s = 0.0
        elif one.per_minute:
            one.left_s = (one.total - one.done) / one.per_minute * 60
    candidates = tuple(found[name] for name in sorted(found))
    cost_usd = spent_usd if costs or spent_usd else None
    return _sum(candidates, run_id, run.status, write_moment(moment), cost_usd=cost_usd)


def _sum(
    candidates: tuple[CandidateProgress, ...],
    run_id: str,
    status: str,
    updated_at: str,
    *,
    cost_usd: float | None,
) -> RunProgress:
    moving = [one.left_s for one in candidates if one.left_s is not None and one.left_s > 0]
    is_over = all(one.left_s == 0 for one in candidates)
    return RunProgress(
        run_id,
        status,
        updated_at,
        sum(one.done for one in candidates),
        sum(one.total for one in candidates),
        sum(one.per_minute for one in candidates),
        0.0 if is_over else max(moving, default=None),
        cost_usd,
        candidates,
    )


def list_runs_under_way(ledger: Ledger) -> list[str]:
    """The ids of the runs that are not closed, in the order in which they were planned."""
    with ledger.read() as connection:
        return sittings.list_open_runs(connection)


def _compute_pace(row: Mapping[str, Any], now: float) -> float:
    """Questions a minute of an open session of late; 0 where it stands still."""
    if row["span_from"] is None or row["span_to"] is None or row["span_count"] <= 0:
        return 0.0
    begun, last = (datetime.fromisoformat(row[name]).timestamp() for name in ("span_from", "span_to"))
    if now - last > _STILL_S:
        return 0.0
    return float(row["span_count"] / max(1e-3, now - begun) * 60)
