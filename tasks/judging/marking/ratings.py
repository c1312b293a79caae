"""Stars that people give to responses of a calibration round."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.errors import UsageError
from tasks.judging.calibration.ratings import (
    FORM,
    Round,
    land_ratings,
    list_own_places,
    name_key,
    read_responses,
    read_round,
)
from tasks.judging.judge import PutResponse
from tasks.judging.marking.work import MarkItem, Work, WorkSummary, order_items
from warehouse.lake import Lake


def find_rating_work(lake: Lake, person: str) -> list[WorkSummary]:
    """The rounds in which somebody has responses to rate or disputes to settle.

    The latest comes first.
    """
    drawn = lake.read("calibration_drawn", {})
    rounds = list(dict.fromkeys(drawn.select("occasion", "round").iter_rows()))
    found = []
    for occasion, number in reversed(rounds):
        one = read_round(lake, occasion, number)
        own = list_own_places(one, person)
        if own:
            landed = len(own & set(_read_given(one, person)))
            found.append(WorkSummary("rating", f"{occasion}/{number}", len(own), landed))
    return found


def open_rating_work(lake: Lake, name: str, person: str) -> Work:
    """What somebody has to rate in a round; raises UsageError for a round that is none."""
    found = _read_named_round(lake, name)
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
            for row in read_responses(lake, found.samples, sorted(list_own_places(found, person))).iter_rows(
                named=True
            )
        )
    ]
    return Work("rating", name, person, order_items(items))


def land_rating_marks(lake: Lake, name: str, person: str, marks: Mapping[str, str]) -> None:
    """Land stars by key, as the import of a workbook does.

    A dispute that somebody else has settled in the meantime is left out.
    """
    found = _read_named_round(lake, name)
    places = {name_key(found, place): place for place in list_own_places(found, person)}
    land_ratings(
        lake, found, person, {places[key]: float(mark) for key, mark in marks.items() if key in places}
    )


def _read_named_round(lake: Lake, name: str) -> Round:
    occasion, _, number = name.rpartition("/")
    if not number.isdigit():
        raise UsageError(f"{name!r} is no round of a calibration.")
    return read_round(lake, occasion, int(number))


def _read_given(found: Round, person: str) -> dict[tuple[str, int], str]:
    return {
        (row["session_id"], row["seq"]): f"{row['value']:g}"
        for row in found.ratings.iter_rows(named=True)
        if row["rater"] == person and row["round"] == found.number
    }
