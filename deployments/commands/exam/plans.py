"""How a plan is shown: who sits what, who does not and why, its cost, the bank's future."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from schemas.counting import say_count
from tasks.running import choose_month
from tasks.statistics.items import LEAST_LINK

# A longer pause between two sets is no advice.
_LONGEST_PAUSE_MONTHS = 12
_WHY_UNLINKED = {
    "parted": "those who would share a set have met every answered question, and share in two groups from now on",
    "alone": "the one organisation that sits has met every answered question",
    "one_group": "those who sit have met every answered question",
    "unwanted": "no anchors are asked for",
}
_OFFERS = {
    "groups": "share sets in two groups (PROCTOR_SET_GROUPS=2), which answer for each other from the next run on",
    "bridge": "examine a candidate of another organisation in the same months, as a bridge",
    "rest": "let questions return after a rest (PROCTOR_REST_MONTHS)",
    "share": "ask for anchors (PROCTOR_ANCHOR_SHARE=0.2)",
}


def render_plan(summary: dict[str, Any] | None) -> list[str]:
    """A plan in lines for a person."""
    if summary is None:
        return ["Nobody is due this month; name candidates with --candidates to examine them again."]
    return [
        *_render_target(summary),
        *_render_run(summary),
        *_render_sets(summary),
        *_render_keys(summary),
        *_render_link(summary),
        *_render_due(summary),
        *(f"  refused: {', '.join(one['candidates'])}. {one['reason']}" for one in summary["refused"]),
        *_render_forecast(summary),
    ]


def render_ahead(month: str) -> Iterator[str]:
    """What a month that has not begun does to those before it; nothing for any other."""
    if month > choose_month(""):
        yield (
            f"Warning: {month} has not begun. Once it is published it is the latest month for boards and standings, and stays so until a later "
            "one is: nothing takes it back."
        )


def render_watch(watch: list[dict[str, Any]]) -> Iterator[str]:
    """What the judges' look at the anchor responses costs in the month, judge by judge."""
    for one in watch:
        cost = "at an unknown price" if one["cost_usd"] is None else f"about ${one['cost_usd']:.2f}"
        yield f"  anchor set {one['anchor_set']}, judged again by {one['judge']}: {one['call_count']} calls, {cost}"


def render_grade(grade: list[dict[str, str]]) -> Iterator[str]:
    """How the run's edition will be attested; nothing where there is no run."""
    for one in grade:
        takes = f"; the next grade takes {one['next_takes']}" if one["next_takes"] else ""
        yield f"  its edition will be {one['grade']}{takes}"


def _render_target(summary: dict[str, Any]) -> Iterator[str]:
    """What an error of S takes; nothing where none was asked for."""
    target = summary.get("target")
    if target is None:
        return
    proposed = next(size for size in target["sizes"] if size["is_proposed"])
    yield (
        f"A standard error of {target['target_se']:g} points of S takes {proposed['question_count']} questions: a typical candidate's is then "
        f"{proposed['expected_se']:.2f}, {target['narrowest_se']:.2f} to {target['widest_se']:.2f} from candidate to candidate"
    )
    yield f"  {'questions':>10}{'error of S':>12}{'calls':>10}{'cost':>12}{'the bank lasts':>16}"
    for size in target["sizes"]:
        error = "unknown" if size["expected_se"] is None else f"{size['expected_se']:.2f}"
        lasts = "" if size["months_left"] is None else say_count(size["months_left"], "month")
        mark = "  proposed" if size["is_proposed"] else "  as it is set" if size["is_set"] else ""
        yield (
            f"  {size['question_count']:>10}{error:>12}{size['call_count']:>10}{'$' + format(size['cost_usd'], '.2f'):>12}{lasts:>16}{mark}"
        )
    shares = ", ".join(
        f"{name} {share} (answers lie {target['spreads'][name]:g} points apart)"
        for name, share in proposed["shares"].items()
    )
    yield f"  by discipline: {shares}"
    if target["equal_count"] is None:
        yield "  equal shares cannot reach this error: a discipline has too few questions left"
    elif target["equal_count"] > proposed["question_count"]:
        yield f"  equal shares would take {target['equal_count']} questions"
    if target["edition_id"] is None:
        yield "  how far answers lie apart is assumed, as nothing is published yet; plan again after the first edition"
    else:
        yield f"  how far answers lie apart is that of edition {target['edition_id']}" + (
            f"; assumed to be that of the others for {', '.join(target['assumed'])}"
            if target["assumed"]
            else ""
        )
    if target["is_likeness_assumed"]:
        yield (
            f"  some texts would be asked about twice: it is assumed how far their questions are answered alike (a correlation of {target['likeness']:g})"
        )
    yield f"  to keep these shares for every run: set_shares = {_write_toml(proposed['shares'])} in proctor.toml"


def _write_toml(shares: dict[str, int]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)} = {share}" for name, share in shares.items()) + "}"


def render_judging(judging: list[dict[str, Any]]) -> Iterator[str]:
    """What judging the run's answers costs, judge by judge, and of whose it is not known yet."""
    for one in judging:
        cost = "at an unknown price" if one["cost_usd"] is None else f"about ${one['cost_usd']:.2f}"
        taken = (
            "whose answers are taken for as long as the others'"
            if one["has_met"]
            else "whose answers are taken for short; long ones cost more"
        )
        unmet = f"; it has judged nothing of {', '.join(one['unmet'])} yet, {taken}" if one["unmet"] else ""
        yield f"  the run's {one['answer_count']} answers, to be judged by {one['judge']}: {cost}{unmet}"


def render_controls(controls: list[dict[str, Any]]) -> Iterator[str]:
    """What the control answers that go with the run cost, judge by judge."""
    for one in controls:
        cost = "at an unknown price" if one["cost_usd"] is None else f"about ${one['cost_usd']:.2f}"
        yield f"  control answers, to be judged by {one['judge']}: up to {one['call_count']} calls, {cost}"


def _render_run(summary: dict[str, Any]) -> Iterator[str]:
    repetition = f", repetition {summary['repetition']} of the month" if summary["repetition"] else ""
    yield (
        f"Run {summary['run_id']} ({'drawn' if summary['is_published'] else 'planned'}"
        f"{', simulated' if summary['is_simulated'] else ''}{repetition}): bank version {summary['bank_version']}, "
        f"policy {summary['policy']}, reference {summary['reference_model']}"
    )
    # Where the reference is one of the candidates its own sessions serve.
    apart = summary["reference_session_count"]
    yield (
        f"  {say_count(len(summary['sets']), 'set')} of {_name_sizes(summary)} questions, "
        f"{say_count(summary['session_count'], 'session')}{f' ({apart} of the reference)' if apart else ''}, "
        f"{say_count(summary['call_count'], 'call')}, about ${summary['cost_usd']:.2f}"
        + ("" if summary["budget_usd"] is None else f" of a budget of ${summary['budget_usd']:.2f}")
    )
    yield from _render_shares(summary)
    yield f"  candidates: {', '.join(summary['candidates']) or 'none'}"
    if summary["unpriced"]:
        yield f"  without a price, counted as 0: {', '.join(summary['unpriced'])}"
    if summary["bridged_reference"]:
        yield f"  bridging run: the former reference {summary['bridged_reference']} sits it, too"
    for renewal in summary["renewed"]:
        why = f"{', '.join(renewal['changed'])} changed" if renewal["changed"] else "asked for"
        yield f"  {renewal['model']} answers {say_count(renewal['set_count'], 'set')} again ({why})"


def _render_shares(summary: dict[str, Any]) -> Iterator[str]:
    """Why new sets are smaller than asked for; nothing where they are not."""
    shares = summary["shares"]
    if sum(shares.values()) < summary["set_size"]:
        # As `tasks.exam.plan.shares` counts them: where it does not come out even, the first ones have one more.
        equal, more = divmod(summary["set_size"], len(shares) or 1)
        few = ", ".join(
            f"{name} {share}"
            for place, (name, share) in enumerate(shares.items())
            if share < equal + (place < more)
        )
        yield (
            f"  fewer than the {summary['set_size']} questions of PROCTOR_SET_SIZE: what the bank has few of is to last "
            f"(PROCTOR_LASTING_SETS), so that instead of {equal} of each discipline a new set has {few}"
        )


def _name_sizes(summary: dict[str, Any]) -> str:
    sizes = sorted({taken["question_count"] for taken in summary["sets"]}) or [
        sum(summary["shares"].values())
    ]
    return f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def _render_sets(summary: dict[str, Any]) -> Iterator[str]:
    for taken in summary["sets"]:
        # A plan of an earlier version does not say who sits what.
        if not taken["organisations"]:
            continue
        if not taken["is_new"]:
            kind = "drawn for an earlier run"
        elif taken.get("is_from_others"):
            kind = "new, of what the others are asked: the reference has met all that was asked before"
        elif _is_first(summary):
            kind = "new"
        elif taken["anchor_count"] == taken["wanted_anchors"]:
            kind = f"new, {taken['anchor_count']} anchors"
        else:
            kind = (
                f"new, {taken['anchor_count']} anchors of {taken['wanted_anchors']}: no other question has been answered "
                "by others and met by none of these"
            )
        if taken.get("rested_count"):
            kind += f", {taken['rested_count']} that should have rested: the bank has too few others"
        if taken.get("repeated_count"):
            kind += (
                f", {taken['repeated_count']} about a text that it has already: the bank has too few others"
            )
        yield f"  set {taken['set_number']} ({kind}): {', '.join(taken['organisations'])}"


def _render_keys(summary: dict[str, Any]) -> Iterator[str]:
    """What a blind answer gets on each new set, of one drawn on trial; nothing for old plans."""
    trial = "" if summary["is_published"] else ", in a trial draw"
    for one in summary.get("keys", ()):
        level = "unknown" if one["chance_score"] is None else f"{one['chance_score']:.1f} points"
        always = f" (always {one['chance_answers']})" if one["chance_answers"] else ""
        line = f"  chance level of set {one['set_number']}{trial}: {level}{always}"
        if one["uneven"]:
            uneven = ", ".join(f"{name} ({one['counts'][name]} times)" for name in one["uneven"])
            line += f"; right more often than an even draw makes it: {uneven}"
        yield line


def _render_link(summary: dict[str, Any]) -> Iterator[str]:
    """How far the scores compare with other months; nothing for a plan of an earlier version."""
    link = summary.get("link")
    if link is None:
        return
    if _is_first(summary):
        later = (
            "; as things stand no later month will be linked with it" if link["months_until"] is None else ""
        )
        yield f"  other months: this is the first{later}"
    elif link["months_until"] == 0:
        again = f" and {link['again_count']} questions sat again" if link["again_count"] else ""
        yield (
            f"  other months: linked by {link['anchor_count']} anchors of {link['wanted_count']}{again}, each answered by "
            f"{link['answers_behind']:g} candidates before; {_expect_error(link)}"
        )
    else:
        why = _WHY_UNLINKED[link["reason"]]
        until = link["months_until"]
        when = (
            "no later month will be linked as things stand"
            if until is None
            else f"equated scores can be told from {'the next month' if until == 1 else f'{until} months'} on, {_expect_error(link)}"
        )
        yield f"  other months: not linked, since {why}; {when}"
    if link["is_thin"]:
        yield (
            f"    about {link['link_answers']:g} answers link a discipline, fewer than {LEAST_LINK:g}: equated scores may be withheld; larger sets "
            "or more candidates would make the link stronger"
        )
    if link["offers"]:
        yield f"    what would link: {'; or '.join(_OFFERS[name] for name in link['offers'])}"


def _is_first(summary: dict[str, Any]) -> bool:
    """Whether nothing was answered before, so that there is nothing to compare with."""
    link = summary.get("link")
    return link is not None and link["reason"] == "first"


def _expect_error(link: dict[str, Any]) -> str:
    if link["expected_se"] is None:
        return "nothing fixes the scale"
    return f"the equated score is expected to err by {link['expected_se']:.1f} points (standard error)"


def _render_due(summary: dict[str, Any]) -> Iterator[str]:
    asked_for = {*summary["candidates"], *(name for one in summary["refused"] for name in one["candidates"])}
    for entry in summary["due"]:
        if entry["reason"] is None:
            continue
        last = "" if entry["last_month"] is None else f", sat last in {entry['last_month']}"
        line = f"{entry['model']}: {entry['reason']}{last}, examined every {_name_interval(entry['every_months'])}"
        if entry["model"] in asked_for:
            yield f"  due: {line}"
        else:
            yield f"  due, but not in this run: {line}; name a further run to examine it (--repetition NAME)"


def _render_forecast(summary: dict[str, Any]) -> Iterator[str]:
    for one in summary["forecast"]:
        scarcest = one["scarcest"]
        left, months = one["sets_left"][scarcest], one["months_left"][scarcest]
        lasts = (
            "no sitting is due"
            if months is None
            else f"enough for {say_count(months, 'month')} at {say_count(one['sets_per_month'], 'set')} a month"
        )
        # Of few sets the advice to use one in years helps nobody: more papers do.
        bears = (
            "bring more papers"
            if one["bearable_months"] is None or one["bearable_months"] > _LONGEST_PAUSE_MONTHS
            else f"with a set every {_name_interval(one['bearable_months'])} they last three years"
        )
        yield f"  left for {one['organisation']}: {say_count(left, 'set')} ({scarcest} ends first), {lasts}; {bears}"


def _name_interval(months: int) -> str:
    return "month" if months == 1 else f"{months} months"
