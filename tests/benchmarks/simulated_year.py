"""Simulated years of exams: a home whose lake holds what months of runs leave.

They are published as the real code publishes.

Candidates of a dozen families sit one of two sets a month, zero-shot twice and once in each other style, judged by two judges, of
which one grows lenient and is found out. One month is missing; candidates are released, leave, or sit every other month; one
candidate is changed under its name and grows better; another loses two points in the last month, all of it on new questions of law.
Beside the editions lie calibrations, anchors, failures with their labels, a league, Gscores, replays and other benchmarks. Everything
follows from the seed. Nothing of it is marked as simulated, unless asked for: pages and queries are to show what they would show of a
real exam.

Run: python -m tests.benchmarks.simulated_year --home DIR [--candidates 60] [--months 12] [--questions 150] [--simulated]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from schemas.settings import Settings
from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tests.benchmarks.history_rows import give_stars, land_month, number_uuid, publish_month
from tests.benchmarks.year_beside import LEAGUE_MEMBERS, Beside
from tests.benchmarks.year_candidates import Sitter, describe_models, list_months, make_sitters
from tests.benchmarks.year_sets import Asked, SetDrawer, describe_set
from tests.benchmarks.year_texts import TYPES, describe_bank, write_answers, write_reasons
from warehouse.lake import open_lake

JUDGES = ("quartz-judge", "slate-judge")
# Shares of the months after which the second judge is lenient, and one candidate is better under the same name.
LENIENT_FROM = 0.6
BETTER_FROM = 0.5
BETTER_BY = 0.8
SITTINGS = (("zero_shot", 1), ("zero_shot", 2), ("few_shot", 1), ("chain_of_thought", 1))
WRONG_KEYS = 0.005
FALLING_DISCIPLINE = "Law"
LOST_POINTS = 2.0
_CODES = len(EXAMINED_DISCIPLINES)


@dataclass(frozen=True)
class Scale:
    """How large the years are; `questions` is of a set, a multiple of ten."""

    candidates: int = 60
    months: int = 12
    questions: int = 150
    is_simulated: bool = False
    is_equated: bool = True
    seed: int = 2026


def build_years(home: Path, scale: Scale) -> str:
    """Build the home; returns the candidate that loses points in the last month.

    Every month is landed, then published, as a flow would, so that each edition rests on what there was by then.
    """
    settings = Settings(home=home)
    years = _Years(scale)
    with open_lake(settings) as lake:
        beside = Beside(settings, lake, JUDGES, years.sitters, is_simulated=scale.is_simulated)
        land_month(lake, describe_bank(years.count_questions(), EXAMINED_DISCIPLINES), years.start)
        for month in years.held:
            began = time.process_time()
            land_month(lake, years.list_frames(month), years.start)
            beside.before_publishing(
                month,
                is_first=month == years.held[0],
                is_rated=month == years.held[-1],
                lenience=years.get_lenience(month),
            )
            edition = publish_month(lake, settings, month, is_equated=scale.is_equated)
            print(
                f"{edition.edition_id}: {edition.candidate_count} candidates, {time.process_time() - began:.1f} CPU s",
                flush=True,
            )
        beside.after_publishing(years.held[-1], years.fallen)
        beside.close()
    return years.fallen


class _Years:
    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.random = np.random.default_rng(scale.seed)
        self.months = list_months(scale.months, "2025-01" if scale.months <= 12 else "2023-01")
        gap = self.months[scale.months // 2]
        self.held = [month for month in self.months if month != gap or scale.months < 4]
        self.start = datetime.fromisoformat(f"{self.months[0]}-01T00:00:00+00:00")
        self.sitters = make_sitters(scale.candidates, self.held, self.random)
        there = sum(self.held[-1] in one.months for one in self.sitters)
        if there < LEAGUE_MEMBERS:
            raise SystemExit(
                f"{there} of {scale.candidates} candidates sit the last month, whose league takes {LEAGUE_MEMBERS}: "
                "name more with --candidates."
            )
        self.fallen = ""
        self.better = next(
            one.model for one in self.sitters[len(self.sitters) // 2 :] if len(one.months) == len(self.held)
        )
        count = self.count_questions()
        self.difficulty = self.random.normal(0.35, 1, count)
        self.discrimination = np.exp(self.random.normal(0, 0.4, count))
        # A wrong key: whoever knows the matter loses by it.
        self.discrimination[self.random.random(count) < WRONG_KEYS] = -0.7
        self.drawer = SetDrawer(scale.questions, self.random)
        self.last_scores = pl.DataFrame()

    def count_questions(self) -> int:
        """Questions of the bank: those of every set, and as many again for a third of the time."""
        count: int = self.scale.questions * 2 * self.scale.months * 4 // 3
        return count // _CODES * _CODES

    def get_lenience(self, month: str) -> float:
        """How often the second judge gives a star too many in that month."""
        return 0.3 if self.months.index(month) >= LENIENT_FROM * len(self.months) else 0.08

    def list_frames(self, month: str) -> dict[str, pl.DataFrame]:
        """Table → the month's rows with their landing units."""
        number = self.months.index(month)
        asked = self.drawer.draw_sets(number)
        planned_at = datetime.fromisoformat(f"{month}-01T02:00:00+00:00")
        sitters = [sitter for sitter in self.sitters if month in sitter.months]
        sat: list[pl.DataFrame] = []
        sessions: list[dict[str, object]] = []
        for sitter in sitters:
            is_reference = sitter is self.sitters[0]
            groups = (0, 1) if is_reference else (self._get_group(sitter),)
            for group in groups:
                for style, repeat in SITTINGS:
                    sitting = self._sit(sitter, asked[group], style, repeat, month)
                    sat.append(sitting)
                    sessions.append(
                        _describe_session(
                            sitter, asked[group], style, repeat, month, planned_at, sitting, is_reference
                        )
                    )
        rows = pl.concat(sat)
        if month == self.held[-1]:
            rows = self._let_one_fall(rows)
        self.last_scores = _score(rows)
        frames = self._arrange(rows, month, planned_at)
        run = {
            "run_id": month, "month": month, "bank_version": 1, "reference_model": self.sitters[0].model,
            "set_size": self.scale.questions, "policy": "shared", "status": "closed", "planned_at": planned_at,
            "closed_at": planned_at + timedelta(hours=9),
        }  # fmt: skip
        frames |= {
            "runs": get_table("runs").frame([run]).with_columns(landing_unit=pl.lit(month)),
            "models": describe_models(sitters, month),
            "sets": pl.concat([describe_set(one) for one in asked]),
            "sessions": get_table("sessions").frame(sessions).with_columns(landing_unit=pl.col("session_id")),
        }
        mark = pl.lit(self.scale.is_simulated).alias("is_simulated")
        return {
            name: frame.with_columns(mark) if "is_simulated" in get_table(name).polars_schema else frame
            for name, frame in frames.items()
        }

    def _get_group(self, sitter: Sitter) -> int:
        owners = sorted({one.organisation for one in self.sitters})
        return owners.index(sitter.organisation) % 2

    def _sit(self, sitter: Sitter, asked: Asked, style: str, repeat: int, month: str) -> pl.DataFrame:
        """One session: its questions in an order of its own.

        They come with the stars that the answers deserve.
        """
        order = self.random.permutation(len(asked.numbers))
        numbers = asked.numbers[order]
        ability = sitter.list_abilities(numbers % _CODES, style)
        if sitter.model == self.better and self.months.index(month) >= BETTER_FROM * len(self.months):
            ability = ability + BETTER_BY
        place = self.discrimination[numbers] * (ability - self.difficulty[numbers])
        luck = self.random.random(len(numbers))
        status = np.where(
            luck < 0.001,
            "empty",
            np.where(luck < 0.004, "refused", np.where(luck < 0.008, "truncated", "answered")),
        )
        stars = np.where(luck < 0.004, 0, give_stars(self.random, place))
        erring = self.random.random(len(numbers))
        judged = np.clip(stars + (erring < 0.04) - (erring > 0.96), 0, 3)
        size = len(numbers)
        tokens = self.random.gamma(4.0, sitter.answer_tokens / 4, size) * (
            1.5 if style == "chain_of_thought" else 1.0
        )
        return pl.DataFrame(
            {
                "number": numbers, "is_anchor": asked.is_anchor[order], "seq": np.arange(1, size + 1), "answer_status": status,
                "stars": stars, "judged": np.where(luck < 0.004, 0, judged), "output_tokens": tokens.astype(np.int64) + 1,
                "input_tokens": self.random.integers(90, 260, size) * (4 if style == "few_shot" else 1),
                "latency_ms": 400 + tokens * self.random.uniform(8, 14, size),
            }
        ).with_columns(
            session_id=pl.lit(f"{month}/{asked.set_id}/{sitter.model}/{style}/{repeat}"), model=pl.lit(sitter.model),
            organisation=pl.lit(sitter.organisation), prompt_style=pl.lit(style), repeat=pl.lit(repeat, dtype=pl.Int64),
            set_id=pl.lit(asked.set_id), input_price=pl.lit(sitter.input_price_usd), output_price=pl.lit(sitter.output_price_usd),
        )  # fmt: skip

    def _let_one_fall(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Take stars from new questions of law until one candidate drops by two points.

        The drop is two points against the month before.

        It is the candidate, the reference aside, whose other disciplines moved least.
        """
        law = EXAMINED_DISCIPLINES.index(FALLING_DISCIPLINE)
        moved = (
            _score(rows)
            .join(self.last_scores, on=["model", "code"], suffix="_before")
            .filter((pl.col("code") != law) & (pl.col("model") != self.sitters[0].model))
            .group_by("model")
            .agg(
                score=pl.col("points").sum(),
                moved=(pl.col("points") - pl.col("points_before")).pow(2).sum().sqrt()
                + (pl.col("points") - pl.col("points_before")).sum().abs(),
            )
            .filter(pl.col("score").is_between(45, 75))
            .sort("moved", "model")
        )
        self.fallen = str(moved["model"][0])
        before = float(self.last_scores.filter(model=self.fallen)["points"].sum())
        is_law = (pl.col("model") == self.fallen) & (pl.col("number") % _CODES == law) & ~pl.col("is_anchor")
        for number, repeat in (
            rows.filter(is_law).select("number", "repeat").unique().sort("number", "repeat").iter_rows()
        ):
            if _score(rows).filter(model=self.fallen)["points"].sum() <= before - LOST_POINTS:
                break
            is_taken = is_law & (pl.col("number") == number) & (pl.col("repeat") == repeat)
            rows = rows.with_columns(
                pl.when(is_taken).then(0).otherwise(name).alias(name) for name in ("stars", "judged")
            )
        return rows

    def _arrange(self, rows: pl.DataFrame, month: str, planned_at: datetime) -> dict[str, pl.DataFrame]:
        """Rows of allocations, responses, judgements and llm_calls."""
        base = rows.with_columns(
            run_id=pl.lit(month),
            month=pl.lit(month),
            landing_unit=pl.col("session_id"),
            question_uuid=pl.col("number").replace_strict(
                {n: number_uuid(n) for n in rows["number"].unique()}
            ),
            discipline=(pl.col("number") % _CODES).replace_strict(
                dict(enumerate(EXAMINED_DISCIPLINES)), return_dtype=pl.String
            ),
            cost_usd=(
                pl.col("input_tokens") * pl.col("input_price")
                + pl.col("output_tokens") * pl.col("output_price")
            )
            / 1e6,
        ).with_columns(lineage_uuid=pl.col("question_uuid"))
        place = ("run_id", "session_id", "seq", "question_uuid", "lineage_uuid", "month", "landing_unit")
        allocations = base.select(*place, "discipline", allocated_at=pl.lit(planned_at))
        responses = base.select(
            *place, "model", "organisation", "prompt_style", "repeat", "answer_status", "input_tokens", "output_tokens",
            "cost_usd", "latency_ms",
            bank_version=pl.lit(1, dtype=pl.Int64), prompt_version=pl.lit("1/en"), response=write_answers(),
            finish_reason=pl.when(pl.col("answer_status") == "truncated").then(pl.lit("length")).otherwise(pl.lit("stop")),
            attempts=pl.lit(1, dtype=pl.Int64),
        )  # fmt: skip
        judgements = pl.concat(
            [self._judge(base, judge, month, planned_at + timedelta(hours=10)) for judge in JUDGES]
        )
        calls = [
            frame.select(
                call_key=pl.concat_str(pl.lit(purpose), pl.col("session_id"), *([pl.col("judge")] if purpose == "judge" else []), "seq", separator="/"),
                purpose=pl.lit(purpose), run_id=pl.lit(month), model=pl.col("judge" if purpose == "judge" else "model"),
                status=pl.lit("done"), attempts=pl.lit(1, dtype=pl.Int64),
                input_tokens=pl.col("input_tokens") if purpose == "exam" else pl.lit(420, dtype=pl.Int64),
                output_tokens=pl.col("output_tokens") if purpose == "exam" else pl.lit(60, dtype=pl.Int64),
                cost_usd=pl.col("cost_usd"), latency_ms=pl.col("latency_ms") if purpose == "exam" else pl.lit(900.0),
                started_at=pl.lit(planned_at), month=pl.lit(month), landing_unit=pl.col("landing_unit"),
            )
            for purpose, frame in (("exam", responses), ("judge", judgements.filter(pl.col("attempt") > 0)))
        ]  # fmt: skip
        return {
            "allocations": allocations,
            "responses": responses,
            "judgements": judgements,
            "llm_calls": pl.concat(calls),
        }

    def _judge(self, base: pl.DataFrame, judge: str, month: str, judged_at: datetime) -> pl.DataFrame:
        """The second judge errs more often, and upwards; an answer that is none gets 0 by rule.

        Now and then nobody can read what a judge says, an answer speaks to its judge, or the key says otherwise.
        """
        is_first = judge == JUDGES[0]
        luck = self.random.random(base.height)
        shift = np.where(luck < self.get_lenience(month), 1, np.where(luck > 0.95, -1, 0))
        seen = pl.col("judged") if is_first else (pl.col("stars") + pl.Series(shift)).clip(0, 3)
        by_rule = pl.col("answer_status").is_in(["empty", "refused"])
        unread = pl.Series(self.random.random(base.height) < 0.0004) & ~base.select(by_rule).to_series()
        is_keyed = (pl.col("number") // _CODES % len(TYPES) == TYPES.index("true_false")) & ~by_rule
        stars = pl.when(by_rule).then(0).otherwise(seen)
        return base.with_columns(given=pl.when(unread).then(None).otherwise(stars).cast(pl.Int64)).select(
            "run_id", "session_id", "seq", "question_uuid", "model", "prompt_style", "month",
            landing_unit=pl.concat_str("session_id", pl.lit(f"/{judge}/prompt-1")),
            judge=pl.lit(judge), stars=pl.col("given"), reason=write_reasons(), prompt_version=pl.lit("1/en"),
            parse_status=pl.when(pl.col("given").is_null()).then(pl.lit("unparsed")).otherwise(pl.lit("parsed")),
            occasion=pl.lit("first"), judged_at=pl.lit(judged_at), cost_usd=pl.lit(0.0011 if is_first else 0.0004),
            key_verdict=pl.when(is_keyed).then(pl.when(pl.col("stars") >= 2).then(pl.lit("right")).otherwise(pl.lit("wrong"))),
            address=pl.when((pl.col("number") % 997 == 5) & (pl.col("repeat") == 2)).then(pl.lit("order")),
            attempt=pl.when(by_rule).then(0).otherwise(1).cast(pl.Int64),
        )  # fmt: skip


def _score(rows: pl.DataFrame) -> pl.DataFrame:
    """Points of S by candidate and discipline (`code`).

    They are for the zero-shot style, as the first judge sees it.
    """
    return (
        rows.filter(pl.col("prompt_style") == "zero_shot")
        .group_by("model", code=pl.col("number") % _CODES)
        .agg(points=pl.col("judged").mean() / 3 * 100 / _CODES)
    )


def _describe_session(
    sitter: Sitter,
    asked: Asked,
    style: str,
    repeat: int,
    month: str,
    planned_at: datetime,
    sitting: pl.DataFrame,
    is_reference: bool,
) -> dict[str, object]:
    return {
        "session_id": sitting["session_id"][0], "run_id": month, "month": month, "set_id": asked.set_id, "model": sitter.model,
        "organisation": sitter.organisation, "prompt_style": style, "repeat": repeat, "is_reference": is_reference,
        "status": "closed", "question_count": sitting.height, "answered_count": sitting.height,
        "opened_at": planned_at + timedelta(hours=1), "closed_at": planned_at + timedelta(hours=5),
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Build a home from the command line and say what it holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--candidates", type=int, default=Scale.candidates)
    parser.add_argument("--months", type=int, default=Scale.months)
    parser.add_argument("--questions", type=int, default=Scale.questions)
    parser.add_argument("--simulated", action="store_true", help="mark everything as simulated")
    given = parser.parse_args(arguments)
    os.umask(0o077)
    began = time.process_time()
    fallen = build_years(given.home, Scale(given.candidates, given.months, given.questions, given.simulated))
    print(
        f"{given.home}: {fallen} loses {LOST_POINTS:g} points in the last month; {time.process_time() - began:.0f} CPU s"
    )


if __name__ == "__main__":
    main()
