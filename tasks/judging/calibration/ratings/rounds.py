"""People rate a round blind: workbooks out, stars back, and disputes to a third person."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from schemas.errors import UsageError, WorkbookError
from schemas.tables import get_table
from tasks.judging.calibration.agreement import SCALE, RatedAnswer, group_ratings
from tasks.judging.calibration.ratings.sample import name_round
from tasks.judging.judge import PutResponse
from tasks.judging.landing import read_put_responses
from tasks.judging.people import check_persons
from tasks.judging.workbooks import Form, MarkedRow, check_workbook_path, read_workbook, write_workbook
from tasks.review.marking import compute_key
from tasks.texts import list_erased
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger

FORM = Form(
    command="proctor calibrate export",
    introduction=(
        "Give each response 0 to 3 stars against the reference. Nobody's stars are shown: judge by yourself.",
        "0: answer and explanation are wrong. 1: the answer is wrong, part of the explanation is reasonable.",
        "2: the answer is correct, only part of the explanation is reasonable. 3: both are right.",
        "Only the stars are read back; the note is for you. Leave the stars empty where you cannot judge.",
        "请对照参考答案给每份作答 0 到 3 星，独立评阅；备注仅供自己使用，无法判断的留空。",
    ),
    mark="stars",
    marks=("0", "1", "2", "3"),
    note="note",
)


@dataclass(frozen=True)
class Round:
    """A round that was drawn, with what people gave so far.

    Attributes:
        occasion: `first`, or a month.
        number: from 1.
        samples: rows of `calibration_samples`.
        ratings: rows of `human_ratings` of the occasion, all rounds.
    """

    occasion: str
    number: int
    samples: pl.DataFrame
    ratings: pl.DataFrame

    def list_disputes(self) -> list[RatedAnswer]:
        """Responses on which two raters differ by two stars or more, and nobody has settled it."""
        return [
            answer
            for answer, found in group_ratings(self.ratings).items()
            if answer.round == self.number and found.is_disputed
        ]


@dataclass(frozen=True)
class ImportedRatings:
    """A workbook's ratings: new, in place of the rater's earlier, there already; empty rows."""

    occasion: str
    round: int
    new: int
    changed: int
    unchanged: int
    left_empty: int
    is_adjudication: bool


def read_round(lake: Lake, occasion: str | None = None, number: int | None = None) -> Round:
    """The round asked for, by default the one drawn last; raises UsageError where there is none."""
    drawn = lake.read("calibration_drawn", {"occasion": occasion, "round": number})
    if drawn.is_empty():
        named = "" if occasion is None and number is None else f" {occasion or ''} {number or ''}".rstrip()
        raise UsageError(
            f"There is no calibration round{named}. `proctor calibrate draw RUN --raters …` draws one."
        )
    last = drawn.row(-1, named=True)
    of_round = drawn.filter((pl.col("occasion") == last["occasion"]) & (pl.col("round") == last["round"]))
    ratings = lake.read("calibration_ratings", {"occasion": last["occasion"]})
    return Round(str(last["occasion"]), int(last["round"]), of_round, ratings)


def export_ratings(
    ledger: Ledger,
    lake: Lake,
    path: Path,
    rater: str,
    *,
    occasion: str | None = None,
    number: int | None = None,
    disputes_only: bool = False,
) -> int:
    """Write the rater's workbook of a round and return how many responses it holds.

    What the rater gave before is filled in. With `disputes_only` the responses that two others dispute.
    Raises UsageError for a user who may not rate, or who has nothing to rate there.
    """
    check_workbook_path(path)
    check_persons(ledger, [rater])
    found = read_round(lake, occasion, number)
    given_out = _list_disputes_for(found, rater) if disputes_only else _list_assigned(found, rater)
    places = leave_out_erased(lake, given_out)
    if not places:
        what = "dispute to settle" if disputes_only else "response to rate"
        raise UsageError(
            f"{rater} has no {what} in round {found.number} of {found.occasion!r}. `proctor calibrate status` shows who has."
        )
    given = {
        (session_id, seq): f"{value:g}"
        for session_id, seq, value in found.ratings.filter(
            (pl.col("rater") == rater) & (pl.col("round") == found.number)
        )
        .select("session_id", "seq", "value")
        .iter_rows()
    }
    rows: dict[str, tuple[PutResponse, str, str]] = {}
    for row in read_responses(lake, found.samples, places).iter_rows(named=True):
        place = (row["session_id"], row["seq"])
        rows[name_key(found, place)] = (PutResponse.from_row(row), given.get(place, ""), "")
    write_workbook(path, FORM, rows, person=rater)
    return len(rows)


def import_ratings(
    ledger: Ledger,
    lake: Lake,
    path: Path,
    rater: str,
    *,
    occasion: str | None = None,
    number: int | None = None,
) -> ImportedRatings:
    """Land the stars of one rater.

    The same workbook again changes nothing; an emptied cell withdraws nothing. Raises UsageError for a user
    who may not rate, WorkbookError for a workbook of somebody else, or naming the row for a response that is
    not of the round, or that is not the rater's to rate or to settle.
    """
    check_persons(ledger, [rater])
    found = read_round(lake, occasion, number)
    rows = read_workbook(path, FORM, person=rater)
    places = {
        name_key(found, place): place for place in found.samples.select("session_id", "seq").iter_rows()
    }
    own = list_own_places(found, rater)
    given: dict[tuple[str, int], float] = {}
    for row in rows:
        place = _find_place(row, places, found)
        if not row.mark:
            continue
        if place not in own:
            raise WorkbookError(
                f"{row.place}: this response is not {rater}'s to rate, nor to settle. Import the workbook as the user who "
                "rated it."
            )
        given[place] = float(row.mark)
    imported = land_ratings(lake, found, rater, given)
    return replace(imported, left_empty=sum(not row.mark for row in rows))


def land_ratings(
    lake: Lake,
    found: Round,
    rater: str,
    given: Mapping[tuple[str, int], float],
    *,
    now: datetime | None = None,
) -> ImportedRatings:
    """Land a rater's stars by (session_id, seq) beside earlier; UsageError for others' work."""
    assigned, own = set(_list_assigned(found, rater)), list_own_places(found, rater)
    if set(given) - own:
        raise UsageError(
            f"{len(set(given) - own)} of these responses are not {rater}'s to rate or to settle."
        )
    before = {
        (row["session_id"], row["seq"]): row
        for row in found.ratings.filter(
            (pl.col("rater") == rater) & (pl.col("round") == found.number)
        ).iter_rows(named=True)
    }
    landed, counts = dict(before), {"new": 0, "changed": 0, "unchanged": 0}
    for place, value in given.items():
        earlier = before.get(place)
        kind = "new" if earlier is None else "unchanged" if earlier["value"] == value else "changed"
        counts[kind] += 1
        if kind != "unchanged":
            landed[place] = {
                "session_id": place[0],
                "seq": place[1],
                "rater": rater,
                "round": found.number,
                "scale": SCALE,
                "value": value,
                "rated_at": now or datetime.now(UTC),
                "is_adjudication": place not in assigned,
            }
    frame = get_table("human_ratings").frame([landed[place] for place in sorted(landed)])
    unit = f"calibration/{name_round(found.occasion, found.number)}/{rater}"
    lake.land("human_ratings", unit, frame, stage="calibrate")
    return ImportedRatings(
        occasion=found.occasion,
        round=found.number,
        **counts,
        left_empty=0,
        is_adjudication=any(place not in assigned for place in landed),
    )


def list_own_places(
    found: Round, rater: str, disciplines: Sequence[str] | None = None
) -> set[tuple[str, int]]:
    """What a rater may give stars to: drawn for them, others' disputes, and what they settled.

    Of the disputes, which nobody gave them by name, those of `disciplines`; null: all.
    """
    settled = found.ratings.filter(
        (pl.col("rater") == rater) & (pl.col("round") == found.number) & pl.col("is_adjudication")
    )
    return {
        *_list_assigned(found, rater),
        *_list_disputes_for(found, rater, disciplines),
        *settled.select("session_id", "seq").iter_rows(),
    }


def leave_out_erased(lake: Lake, places: Collection[tuple[str, int]]) -> list[tuple[str, int]]:
    """The places whose texts are there: of an erased response nothing can be shown."""
    erased = list_erased(lake, (session_id for session_id, _ in places))
    return sorted(place for place in places if place[0] not in erased)


def count_ratings(lake: Lake, found: Round) -> dict[str, object]:
    """How far a round is: drawn, erased, rated by two, settled, in dispute; open by rater.

    What was erased is open to nobody, nor in a dispute that somebody could settle.
    """
    erased = list_erased(lake, found.samples["session_id"])
    groups = {
        answer: one for answer, one in group_ratings(found.ratings).items() if answer.round == found.number
    }
    rated = {answer for answer, one in groups.items() if len(one.stars) >= 2}
    disputes = {answer for answer, one in groups.items() if one.is_disputed}
    asked = found.samples.select("session_id", "seq", rater="raters").explode("rater")
    given = found.ratings.filter((pl.col("round") == found.number) & ~pl.col("is_adjudication"))
    left = asked.filter(~pl.col("session_id").is_in(erased)).join(
        given, on=["session_id", "seq", "rater"], how="anti"
    )
    open_of = dict(left.group_by("rater").len().iter_rows())
    return {
        "occasion": found.occasion,
        "round": found.number,
        "run_id": found.samples["run_id"][0],
        "drawn": found.samples.height,
        "erased": sum(session_id in erased for session_id in found.samples["session_id"]),
        "rated_by_two": len(rated),
        "in_dispute": sum(answer.session_id not in erased for answer in disputes),
        "settled": len(rated - disputes),
        "open_by_rater": {rater: open_of.get(rater, 0) for rater in sorted(asked["rater"].unique())},
    }


def _list_assigned(found: Round, rater: str) -> list[tuple[str, int]]:
    return [
        (session_id, seq)
        for session_id, seq, raters in found.samples.select("session_id", "seq", "raters").iter_rows()
        if rater in raters
    ]


def _list_disputes_for(
    found: Round, rater: str, disciplines: Sequence[str] | None = None
) -> list[tuple[str, int]]:
    """Disputes of others: nobody settles what they have rated themselves."""
    known = (
        found.samples
        if disciplines is None
        else found.samples.filter(pl.col("discipline").is_in(disciplines))
    )
    others = {*known.select("session_id", "seq").iter_rows()} - {*_list_assigned(found, rater)}
    disputes = ((answer.session_id, answer.seq) for answer in found.list_disputes())
    return [place for place in disputes if place in others]


def read_responses(lake: Lake, samples: pl.DataFrame, places: list[tuple[str, int]]) -> pl.DataFrame:
    """The responses at these places of a round, with their questions."""
    wanted = pl.DataFrame(places, schema={"session_id": pl.String, "seq": pl.Int64}, orient="row")
    of_them = samples.join(wanted, on=["session_id", "seq"], how="semi")
    responses = read_put_responses(
        lake, of_them["session_id"].unique().to_list(), of_them["month"].unique().to_list()
    )
    return responses.join(wanted, on=["session_id", "seq"], how="semi")


def name_key(found: Round, place: tuple[str, int]) -> str:
    """By which a response of a round is known to its raters."""
    return compute_key(found.occasion, found.number, *place)


def _find_place(row: MarkedRow, places: dict[str, tuple[str, int]], found: Round) -> tuple[str, int]:
    place = places.get(row.key)
    if place is None:
        raise WorkbookError(
            f"{row.place}, column A: the key is none of round {found.number} of {found.occasion!r}. Name the round that the "
            "workbook was exported for with --occasion and --round."
        )
    return place
