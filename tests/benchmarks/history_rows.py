"""What every built history has in common.

It has numbered questions, stars by a graded model, months of answers, and how they are landed and published.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from unittest import mock

import numpy as np
import polars as pl

from schemas.settings import Settings
from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES, PROMPT_STYLES
from tasks.editions import publish as publishing
from tasks.editions.equating import equate_nothing
from tests.tasks.editions.kit import Edition, publish_run
from tests.tasks.judging.control_rows import make_control_frame
from warehouse.lake import Lake

# Where, in logits, an answer gains its first, second and third star.
THRESHOLDS = np.array([-0.8, 0.0, 0.8])
JUDGES = ("judge-a", "judge-b")
ORGANISATIONS = 17
SETS_PER_MONTH = 4
ANCHORS = 0.2


def number_uuid(number: int) -> str:
    """The UUID of a numbered question."""
    return f"00000000-0000-4000-8000-{number:012d}"


def give_stars(random: np.random.Generator, place: np.ndarray) -> np.ndarray:
    """Stars 0 to 3 of answers by their place: discrimination times ability less difficulty."""
    drawn = place + random.logistic(size=len(place))
    stars: np.ndarray = (drawn[:, None] > THRESHOLDS).sum(axis=1)
    return stars


def land_month(lake: Lake, frames: Mapping[str, pl.DataFrame], landed_at: datetime) -> None:
    """Write rows that name their landing units, and the landings, in one transaction.

    `Lake.land` checks every row and hashes it, which would take most of the time of a built history.
    """
    with lake.transaction() as connection:
        for table, frame in {**frames, "landings": list_landings(frames, landed_at)}.items():
            connection.register("rows", frame.to_arrow())
            connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM rows")
            connection.unregister("rows")


def publish_month(lake: Lake, settings: Settings, run_id: str, *, is_equated: bool) -> Edition:
    """Publish a run, with or without the fits that put it on the scale of earlier months.

    Without them it takes seconds less. Its judges have shown that they can judge.
    """
    land_controls(lake, run_id)
    if is_equated:
        return publish_run(lake, settings, run_id, EXAMINED_DISCIPLINES)
    with mock.patch.object(publishing, "equate_edition", lambda *_, **__: equate_nothing()):
        return publish_run(lake, settings, run_id, EXAMINED_DISCIPLINES)


def land_controls(lake: Lake, run_id: str) -> None:
    """What each judge of the run gave its control answers: what they are worth."""
    run = lake.read("edition_run", {"run_id": run_id}).row(0, named=True)
    month, is_simulated = str(run["month"]), bool(run["is_simulated"])
    judges = lake.read("edition_judges", {"run_id": run_id, "month": month, "least_ratings": 0})
    for judge, wording in judges.select("judge", "prompt_wording").iter_rows():
        if not judge.startswith("person:"):
            rows = make_control_frame(run_id, month, judge, f"{wording}/en", is_simulated=is_simulated)
            lake.land("judge_controls", f"controls/{run_id}/{judge}/prompt-{wording}", rows)


def list_landings(frames: Mapping[str, pl.DataFrame], landed_at: datetime) -> pl.DataFrame:
    """Rows of `landings` for frames that name their landing units."""
    return pl.concat(
        [
            frame.group_by("landing_unit")
            .agg(row_count=pl.len().cast(pl.Int64))
            .select(
                table_name=pl.lit(table),
                unit=pl.col("landing_unit"),
                row_count="row_count",
                rejected_count=pl.lit(0, dtype=pl.Int64),
                content_hash=pl.lit("built"),
                code_version=pl.lit("built"),
                landed_at=pl.lit(landed_at),
                landing_unit=pl.concat_str(pl.lit(table), "landing_unit", separator="/"),
            )
            for table, frame in frames.items()
        ]
    )


class History:
    """Answers of candidates of growing ability on sets of growing difficulty.

    A fifth of each set was asked before.
    """

    def __init__(self, candidates: int, questions: int) -> None:
        self.random = np.random.default_rng(2026)
        self.candidates = candidates
        self.questions = questions
        self.ability = np.linspace(-1.0, 1.5, candidates)
        self.difficulty = np.zeros(0)
        self.discrimination = np.zeros(0)

    def list_frames(self, number: int, month: str) -> dict[str, pl.DataFrame]:
        """Table → the month's rows with their landing units."""
        planned_at = datetime.fromisoformat(f"{month}-01T02:00:00+00:00")
        sets = [self._draw_set() for _ in range(SETS_PER_MONTH)]
        sessions, allocations, responses, judgements = [], [], [], []
        for candidate in range(self.candidates):
            asked = sets[candidate % ORGANISATIONS % SETS_PER_MONTH]
            for style in PROMPT_STYLES:
                session_id = f"{month}-c{candidate:02d}-{style}"
                order = self.random.permutation(len(asked))
                items = asked[order]
                names = pl.Series([number_uuid(item) for item in items])
                disciplines = pl.Series(
                    [EXAMINED_DISCIPLINES[item % len(EXAMINED_DISCIPLINES)] for item in items]
                )
                shared = {
                    "run_id": month,
                    "session_id": session_id,
                    "month": month,
                }
                sessions.append(
                    {
                        **shared,
                        "set_id": f"{month}-s{candidate % ORGANISATIONS % SETS_PER_MONTH}",
                        "model": f"c{candidate:02d}",
                        "organisation": f"o{candidate % ORGANISATIONS}",
                        "prompt_style": style,
                        "repeat": 1,
                        "is_reference": candidate == 0,
                        "status": "closed",
                        "question_count": len(asked),
                        "answered_count": len(asked),
                        "opened_at": planned_at,
                        "closed_at": planned_at + timedelta(hours=5),
                        "is_simulated": False,
                    }
                )
                base = pl.DataFrame({"question_uuid": names, "lineage_uuid": names}).with_columns(
                    seq=pl.int_range(1, len(asked) + 1, dtype=pl.Int64),
                    landing_unit=pl.lit(session_id),
                    **{name: pl.lit(value) for name, value in shared.items()},
                )
                allocations.append(base.with_columns(discipline=disciplines, allocated_at=pl.lit(planned_at)))
                responses.append(
                    base.with_columns(
                        model=pl.lit(f"c{candidate:02d}"),
                        organisation=pl.lit(f"o{candidate % ORGANISATIONS}"),
                        prompt_style=pl.lit(style),
                        repeat=pl.lit(1, dtype=pl.Int64),
                        bank_version=pl.lit(1, dtype=pl.Int64),
                        prompt_version=pl.lit("1/zh"),
                        response=pl.format("答案 {} 因为……", "seq"),
                        answer_status=pl.lit("answered"),
                        is_simulated=pl.lit(False),
                    )
                )
                stars = self._answer(candidate, number, items)
                for judge in JUDGES:
                    judgements.append(
                        base.drop("lineage_uuid").with_columns(
                            landing_unit=pl.lit(f"{session_id}/{judge}/prompt-1"),
                            model=pl.lit(f"c{candidate:02d}"),
                            prompt_style=pl.lit(style),
                            judge=pl.lit(judge),
                            stars=pl.Series(stars),
                            reason=pl.lit("理由"),
                            parse_status=pl.lit("parsed"),
                            prompt_version=pl.lit("1/zh"),
                            occasion=pl.lit("first"),
                            judged_at=pl.lit(planned_at + timedelta(hours=6)),
                            attempt=pl.lit(1, dtype=pl.Int64),
                            is_simulated=pl.lit(False),
                        )
                    )
        run = {
            "run_id": month,
            "month": month,
            "bank_version": 1,
            "reference_model": "c00",
            "set_size": self.questions,
            "policy": "shared",
            "status": "closed",
            "planned_at": planned_at,
            "closed_at": planned_at + timedelta(hours=5),
            "is_simulated": False,
        }
        models = [
            {
                "run_id": month,
                "model": f"c{candidate:02d}",
                "organisation": f"o{candidate % ORGANISATIONS}",
                "family": f"o{candidate % ORGANISATIONS}",
                "release_date": (datetime(2023, 1, 1, tzinfo=UTC) + timedelta(days=20 * candidate)).date(),
                "is_open": candidate % 2 == 0,
                "mode": "standard",
                "endpoint_model": "m",
                "is_simulated": False,
            }
            for candidate in range(self.candidates)
        ]
        return {
            "runs": get_table("runs").frame([run]).with_columns(landing_unit=pl.lit(month)),
            "models": get_table("models").frame(models).with_columns(landing_unit=pl.lit(month)),
            "sessions": get_table("sessions").frame(sessions).with_columns(landing_unit=pl.col("session_id")),
            "allocations": pl.concat(allocations),
            "responses": pl.concat(responses),
            "judgements": pl.concat(judgements),
        }

    def _draw_set(self) -> np.ndarray:
        """Questions by number; the number says the discipline, so that each has the same share."""
        known = len(self.difficulty)
        anchors = int(self.questions * ANCHORS) if known else 0
        per_discipline = self.questions // len(EXAMINED_DISCIPLINES)
        old = []
        if anchors:
            share = anchors // len(EXAMINED_DISCIPLINES)
            for code in range(len(EXAMINED_DISCIPLINES)):
                of_discipline = np.arange(code, known, len(EXAMINED_DISCIPLINES))
                old.append(self.random.choice(of_discipline, share, replace=False))
            per_discipline -= share
        new = known + np.arange(per_discipline * len(EXAMINED_DISCIPLINES))
        self.difficulty = np.concatenate([self.difficulty, self.random.normal(0, 1, len(new))])
        self.discrimination = np.concatenate(
            [self.discrimination, np.exp(self.random.normal(0, 0.3, len(new)))]
        )
        return np.concatenate([*old, new])

    def _answer(self, candidate: int, number: int, items: np.ndarray) -> np.ndarray:
        ability = self.ability[candidate] + 0.01 * number
        place = self.discrimination[items] * (ability - self.difficulty[items])
        return give_stars(self.random, place)
