"""What came of a month: what was done, where it is to be seen, what is not well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from schemas.counting import say_count

# What a month may end with and what should not be: the key of the result, and how it is said.
_FAULTS = {
    "unanswered_questions": "questions without an answer, which count 0 stars",
    "overdue_sessions": "sessions closed past their deadline",
    "pending_sessions": "sessions that wait for a batch of a provider",
    "pending_calls": "judgements that wait for a batch of a provider",
    "failed_judgements": "judgements that failed",
    "unparsed_judgements": "judgements that could not be read",
    "unresolved_responses": "answers about which the judges disagree",
}


def render_month(result: Mapping[str, Any]) -> list[str]:
    """A month that was held, or why none was."""
    faults = list(_list_faults(result))
    not_well = [f"Not well: {'; '.join(faults)}."] if faults else []
    if not result["run_id"]:
        # Judges are watched all the same.
        return ["Nobody is due, so that nothing was sat.", *not_well]
    judges = ", ".join(result.get("judges") or ()) or "nobody"
    lines = [
        f"Run {result['run_id']}: {say_count(result['answers'], 'answer')} in {say_count(result['sessions'], 'session')}; {result.get('judged_responses', 0)} judged by "
        f"{judges}{' beside control answers' if result.get('judged_controls') else ''}."
    ]
    if result.get("edition_id"):
        lines += [describe_edition(result), f"To be seen: proctor sql leaderboard, and {result['report']}"]
    else:
        lines.append("Nothing is published.")
    return [*lines, *(not_well or ["Everything was answered and judged."])]


def describe_edition(result: Mapping[str, Any]) -> str:
    """The edition of a run, and whether it was published now."""
    said = f"Edition {result['edition_id']}: {say_count(result['published_candidates'], 'candidate')}"
    if result["is_published_now"]:
        return f"{said}, published now."
    if result["is_outdated"]:
        return (
            f"{said}, published before and left as it is. What it rests on has changed since: "
            f"`proctor publish {result['run_id']} --revise --reason TEXT` publishes a correction beside it."
        )
    return f"{said}, published before; nothing has changed."


def _list_faults(result: Mapping[str, Any]) -> Iterator[str]:
    open_sessions = result.get("open_sessions") or []
    for reason, count in Counter(str(session["reason"]) for session in open_sessions).most_common():
        models = sorted({str(one["model"]) for one in open_sessions if str(one["reason"]) == reason})
        yield f"sessions of {', '.join(models)} that stayed open: {count} ({reason})"
    for name, said in _FAULTS.items():
        if result.get(name):
            yield f"{said}: {result[name]}"
    if gates := result.get("overridden_gates"):
        yield f"gates overridden: {', '.join(gates)}"
    if changed := result.get("changed_judges"):
        yield f"judges that changed under their name: {', '.join(map(str, changed))}"
    if unwatched := result.get("unwatched_judges"):
        yield f"judges that were not watched: {', '.join(map(str, unwatched))}"
    for name in ("failure", "anchor_failure"):
        if result.get(name):
            yield str(result[name]).rstrip(".")
    yield from (str(note).rstrip(".") for note in result.get("notes") or ())
