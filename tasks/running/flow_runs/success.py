"""When a flow has failed: something was tried, and nothing of it succeeded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from schemas.errors import FlowError, GateError

# A document that was read and holds no question, or whose questions a person must look at first, is an answer, not a failure.
_READ = ("parsed", "held", "released", "no_questions")


def check_ingested(result: Mapping[str, Any]) -> None:
    """Raise FlowError when documents were found and none of them could be read."""
    statuses: Mapping[str, int] = result["documents"]
    if statuses and not any(statuses.get(status) for status in _READ):
        causes = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
        raise FlowError(
            f"None of {sum(statuses.values())} documents could be read ({causes}). Correct them, then ingest them again.",
            dict(result),
        )


def check_not_waiting(result: Mapping[str, Any]) -> None:
    """Raise GateError when a second person must agree before what was to be done is done."""
    if waits_for := result.get("waits_for"):
        raise GateError(str(waits_for))


def check_sat(result: Mapping[str, Any]) -> None:
    """Raise FlowError when sessions stayed open and no question was answered."""
    left_open = result["open_sessions"]
    if left_open and not result["answers"]:
        models = ", ".join(
            f"{model} ({count})" for model, count in sorted(Counter(s["model"] for s in left_open).items())
        )
        raise FlowError(
            f"Run {result['run_id']}: no question was answered; {len(left_open)} sessions stayed open: {models}. "
            "Correct the endpoints, then run the command again.",
            dict(result),
        )


def check_judged(result: Mapping[str, Any]) -> None:
    """Raise FlowError when every judgement failed."""
    failed = result["failed_judgements"]
    if failed and not result["judged_responses"]:
        judges = ", ".join(result["judges"]) or "the judges"
        raise FlowError(
            f"No judgement of {failed} sessions could be had from {judges}. Correct the endpoints, then run the command again.",
            dict(result),
        )


def check_published(result: Mapping[str, Any]) -> None:
    """Raise GateError when a gate kept the run from being published.

    It says what kept sessions open, too.
    """
    if refusal := result.get("refusal"):
        raise GateError("\n".join([str(refusal), *describe_left_open(result["open_sessions"])]))


def describe_left_open(sessions: Collection[Mapping[str, Any]]) -> list[str]:
    """Lines about sessions that stayed open, counted by their cause; none where there are none."""
    lines = [f"Sessions that stayed open: {len(sessions)}"] if sessions else []
    for reason, count in Counter(str(session["reason"]) for session in sessions).most_common():
        models = sorted({str(session["model"]) for session in sessions if session["reason"] == reason})
        lines.append(f"  {count} of {', '.join(models)}: {reason}")
    return lines


def check_written(result: Mapping[str, Any]) -> None:
    """Raise FlowError when no model answered any question of CG-Eval."""
    answered = result["answered"]
    if answered and not any(one["answered"] for one in answered):
        models = ", ".join(f"{one['model']} ({one['failed_calls']} failed calls)" for one in answered)
        raise FlowError(
            f"Run {result['run_id']}: no question was answered by {models}. Correct the endpoints, then run it again.",
            dict(result),
        )


def check_played(result: Mapping[str, Any]) -> None:
    """Raise FlowError when rounds of a league were to be played and none was finished."""
    if result["open_rounds"] and not result["new_rounds"]:
        raise FlowError(
            f"League {result['league_id']}: none of {result['open_rounds']} open rounds could be finished. "
            f"{result['failure'] or ''} Correct the endpoints, then run the command again.",
            dict(result),
        )
