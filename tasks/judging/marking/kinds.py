"""The kinds of marks that people give: stars, classes of failures, verdicts of a league."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import polars as pl

from schemas.errors import UsageError
from tasks.judging.calibration.ratings import (
    FORM,
    Round,
    land_ratings,
    leave_out_erased,
    list_own_places,
    name_key,
    read_responses,
    read_round,
)
from tasks.judging.error_samples import FORM as LABEL_FORM
from tasks.judging.error_samples import drop_erased, land_labels, read_failures, read_sample
from tasks.judging.judge import PutResponse
from tasks.judging.marking.work import MarkItem, Work, WorkSummary, order_items
from tasks.league.people import PersonVerdict, land_verdicts, read_waiting
from tasks.review.marking import compute_key
from warehouse.lake import Lake
from warehouse.ledger.trust.users import User

YES, NO = "yes", "no"
# Item → the mark that was given it, and the note beside it.
Marks = Mapping[str, tuple[str, str]]


class MarkKind(NamedTuple):
    """How work of a kind is found for somebody, opened with its texts, and landed."""

    find: Callable[[Lake, User], list[WorkSummary]]
    open: Callable[[Lake, str, User], Work]
    land: Callable[[Lake, str, str, Marks], None]


def find_kind(name: str) -> MarkKind:
    """The kind of that name; UsageError for none."""
    if name not in MARK_KINDS:
        raise UsageError(f"There is no work of the kind {name!r}.")
    return MARK_KINDS[name]


def find_rating_work(lake: Lake, marker: User) -> list[WorkSummary]:
    """The rounds in which somebody has responses to rate or disputes to settle, latest first."""
    drawn = lake.read("calibration_drawn", {})
    rounds = list(dict.fromkeys(drawn.select("occasion", "round").iter_rows()))
    found = []
    for occasion, number in reversed(rounds):
        one = read_round(lake, occasion, number)
        own = _list_rating_places(lake, one, marker)
        if own:
            landed = len(set(own) & set(_read_given(one, marker.user_id)))
            found.append(WorkSummary("rating", f"{occasion}/{number}", len(own), landed))
    return found


def open_rating_work(lake: Lake, name: str, marker: User) -> Work:
    """What somebody has to rate in a round; raises UsageError for a round that is none."""
    person, found = marker.user_id, _read_named_round(lake, name)
    given = _read_given(found, person)
    items = [
        MarkItem(
            name_key(found, place),
            tuple(FORM.marks),
            put.question,
            (("response", put.response),),
            landed=given.get(place, ""),
        )
        for place, put in (
            ((row["session_id"], row["seq"]), PutResponse.from_row(row))
            for row in read_responses(
                lake,
                found.samples,
                _list_rating_places(lake, found, marker),
            ).iter_rows(named=True)
        )
    ]
    return Work("rating", name, person, order_items(items))


def _list_rating_places(lake: Lake, found: Round, marker: User) -> list[tuple[str, int]]:
    """What waits for somebody; to who coordinates, disputes of every discipline."""
    disciplines = marker.disciplines if marker.role == "annotator" else None
    return leave_out_erased(lake, list_own_places(found, marker.user_id, disciplines))


def land_rating_marks(lake: Lake, name: str, person: str, marks: Marks) -> None:
    """Land stars by key as a workbook's are; no dispute that somebody else has settled since."""
    found = _read_named_round(lake, name)
    places = {name_key(found, place): place for place in list_own_places(found, person)}
    land_ratings(
        lake, found, person, {places[key]: float(mark) for key, (mark, _) in marks.items() if key in places}
    )


def _read_named_round(lake: Lake, name: str) -> Round:
    occasion, _, number = name.rpartition("/")
    if not number.isdecimal():
        raise UsageError(f"{name!r} is no round of a calibration.")
    return read_round(lake, occasion, int(number))


def _read_given(found: Round, person: str) -> dict[tuple[str, int], str]:
    return {
        (row["session_id"], row["seq"]): f"{row['value']:g}"
        for row in found.ratings.iter_rows(named=True)
        if row["rater"] == person and row["round"] == found.number
    }


def find_label_work(lake: Lake, marker: User) -> list[WorkSummary]:
    """The sample of failures that was drawn last, as far as it is of their disciplines."""
    try:
        sample = _read_own_sample(lake, None, marker)
    except UsageError:
        return []
    if sample.is_empty():
        return []
    name = str(sample["sample_id"][0])
    labels = lake.read("error_labels_of", {"sample_id": name}).filter(pl.col("labeller") == marker.user_id)
    landed = labels.join(sample, on=["session_id", "seq"], how="semi").height
    return [WorkSummary("label", name, sample.height, landed)]


def open_label_work(lake: Lake, name: str, marker: User) -> Work:
    """A sample's failed responses of somebody's disciplines, with what a model thought.

    Raises UsageError for no such sample.
    """
    person, sample = marker.user_id, _read_own_sample(lake, name, marker)
    own: dict[tuple[str, int], str] = {}
    thought: dict[tuple[str, int], str] = {}
    for row in lake.read("error_labels_of", {"sample_id": name}).iter_rows(named=True):
        place = (row["session_id"], row["seq"])
        if row["is_human"]:
            own |= {place: row["error_class"]} if row["labeller"] == person else {}
        elif row["error_class"]:
            thought[place] = row["error_class"]
    items = [
        MarkItem(
            compute_key(name, put.session_id, put.seq),
            tuple(LABEL_FORM.marks),
            put.question,
            (("response", put.response),),
            landed=own.get((put.session_id, put.seq), ""),
            hint=thought.get((put.session_id, put.seq), ""),
        )
        for put in map(PutResponse.from_row, read_failures(lake, sample).iter_rows(named=True))
    ]
    return Work("label", name, person, order_items(items))


def _read_own_sample(lake: Lake, name: str | None, marker: User) -> pl.DataFrame:
    """What of a sample somebody may see: its questions stand there with their reference answers."""
    sample = drop_erased(lake, read_sample(lake, name))
    return (
        sample
        if marker.disciplines is None
        else sample.filter(pl.col("discipline").is_in(marker.disciplines))
    )


def land_label_marks(lake: Lake, name: str, person: str, marks: Marks) -> None:
    """Land classes by key, as the import of a workbook does."""
    land_labels(lake, read_sample(lake, name), person, {key: mark for key, (mark, _) in marks.items()})


def find_league_work(lake: Lake, marker: User) -> list[WorkSummary]:
    """The leagues in which a question or a flagged answer waits for this person."""
    found = []
    for name in lake.read("leagues_known", {})["league_id"]:
        questions, flags = read_waiting(lake, name, marker.user_id)
        if questions or flags:
            found.append(WorkSummary("league", name, len(questions) + len(flags), 0))
    return found


def open_league_work(lake: Lake, name: str, marker: User) -> Work:
    """What waits for somebody in a league; nothing for a league that is none."""
    person = marker.user_id
    questions, flags = read_waiting(lake, name, person)
    items = [
        MarkItem(key, (YES, NO), texts=_describe_question(row), needs_note=(NO,))
        for key, row in questions.items()
    ]
    items += [MarkItem(key, (YES, NO), texts=_describe_flag(row)) for key, row in flags.items()]
    return Work("league", name, person, order_items(items))


def land_league_marks(lake: Lake, name: str, person: str, marks: Marks) -> None:
    """Land verdicts by key, as the import of a workbook does; what waits no longer is left."""
    given = [PersonVerdict(key, mark == YES, note) for key, (mark, note) in marks.items()]
    land_verdicts(lake, name, person, given)


def _describe_question(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (
        ("league_asks_valid", ""),
        ("domain", str(row["domain"])),
        ("stem", row["stem"]),
        ("reference", row["reference_answer"] or ""),
        ("standard", row["scoring_standard"] or row["principle"] or ""),
    )


def _describe_flag(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (
        ("league_asks_memorised", ""),
        ("stem", row["stem"]),
        ("reference", row["reference_answer"] or ""),
        ("response", row["response"] or ""),
        ("template", "\n".join(row["templates"] or ())),
    )


MARK_KINDS: Final = {
    "rating": MarkKind(find_rating_work, open_rating_work, land_rating_marks),
    "label": MarkKind(find_label_work, open_label_work, land_label_marks),
    "league": MarkKind(find_league_work, open_league_work, land_league_marks),
}
