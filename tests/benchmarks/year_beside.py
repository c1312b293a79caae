"""What lies beside the editions of the simulated years.

These are calibrations, anchors, failures, a league, Gscores, replays and benchmarks.

People's ratings, judges' stars on anchors, classes of failures, marks of the league and Gscores are drawn; what follows from them
(kappas, drift, samples, resamples, league statistics) is computed and landed by the code that does it in a month's work.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

import numpy as np
import polars as pl
import yaml

from schemas.judgements import ERROR_CLASSES
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.contamination import BANK
from tasks.editions import StabilityRequest, write_stability
from tasks.judging import VERSION, draw_failures
from tasks.judging.calibration import draw_anchors
from tasks.judging.calibration.anchors import land_drift
from tasks.judging.calibration.calibrate import calibrate_judges
from tasks.judging.calibration.correction import correct_edition
from tasks.judging.calibration.ratings import DrawRequest, draw_calibration
from tasks.judging.error_samples import land_labels
from tasks.league.statistics import StatisticsRequest, write_statistics
from tasks.models.registry import Registry, read_registry
from tasks.review.marking import compute_key
from tests.benchmarks.history_rows import number_uuid
from tests.benchmarks.year_candidates import Sitter
from tests.tasks.league.statistics.synthetic import FAMILIES, Spec, build_league
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user

RATERS = ("ann", "bo", "cy", "dee")
ANCHOR_SET = "anchors-1"
ANCHORS = 120
LEAGUE_MEMBERS = len(FAMILIES)
LEAST_RATED = 220
SUBJECTS = (("人文与社会科学", "教育学"), ("科技与工程", "大学物理"), ("数学计算", "小学数学"))


class Beside:
    """Lands, month by month, what does not come from sitting the exam.

    Takes the sitters with the reference first, and the judges with the one that stays the same first.
    """

    def __init__(
        self,
        settings: Settings,
        lake: Lake,
        judges: Sequence[str],
        sitters: Sequence[Sitter],
        *,
        is_simulated: bool,
    ) -> None:
        self.lake = lake
        self.settings = settings
        self.judges = judges
        self.sitters = sitters
        self.is_simulated = is_simulated
        self.random = np.random.default_rng(7)
        self.registry = _write_registry(settings, judges, sitters, is_simulated=is_simulated)
        self.ledger = open_ledger(settings.ledger_address)
        _add_people(self.ledger)

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def before_publishing(self, month: str, *, is_first: bool, is_rated: bool, lenience: float) -> None:
        """Calibrate where it is due, and let the judges judge the anchors.

        `lenience` is how often the second judge gives a star too many.
        """
        if is_first:
            draw_anchors(self.lake, month, ANCHOR_SET, size=ANCHORS, now=_noon(month))
        if is_first or is_rated:
            for number in (1, 2) if is_first else (1,):
                self._rate(month, "first" if is_first else month, number)
            calibrate_judges(self.lake, self.registry, "first" if is_first else month)
        self._judge_anchors(month, lenience, repeats=3 if is_first else 1)

    def after_publishing(self, month: str, fallen: str) -> None:
        """Add what follows the publication of the last month.

        These are failures of the last month with their labels, stability, corrected scores, a league, and what
        others say.
        """
        self._label_failures(month, fallen)
        correct_edition(self.lake, month)
        write_stability(self.lake, month, StabilityRequest(sample_sizes=(100, 100, 100, 200, 400), samples=5))
        self._play_league(month)
        self._score_texts()
        self._replay(month)
        self._compare(month)

    def _rate(self, month: str, occasion: str, number: int) -> None:
        """Two people rate each response drawn.

        Mostly they rate it as the first judge did, and seldom a star away from it.
        """
        size = max(LEAST_RATED, 5 * len(self.sitters))
        drawn = draw_calibration(
            self.ledger, self.lake, DrawRequest(month, occasion, number, size, RATERS), now=_noon(month)
        )
        rows: dict[str, list[dict[str, object]]] = {}
        for response in drawn.iter_rows(named=True):
            luck = self.random.random()
            truth = min(3, max(0, (response["drawn_stars"] or 0) + (luck < 0.05) - (luck > 0.95)))
            given = {
                rater: min(3, max(0, truth + int(self.random.random() < 0.04)))
                for rater in response["raters"]
            }
            for rater, stars in given.items():
                rows.setdefault(rater, []).append(
                    {
                        "session_id": response["session_id"], "seq": response["seq"], "rater": rater, "round": number,
                        "scale": "stars_0_3", "value": float(stars), "rated_at": _noon(month), "is_adjudication": False,
                    }
                )  # fmt: skip
        table = get_table("human_ratings")
        self.lake.land_together(
            [
                Batch("human_ratings", f"{occasion}/{number}/{rater}", table.frame(own))
                for rater, own in rows.items()
            ]
        )

    def _judge_anchors(self, month: str, lenience: float, repeats: int) -> None:
        anchors = self.lake.read("anchor_sets").sort("session_id", "seq")
        deserved = np.random.default_rng(11).integers(0, 4, anchors.height)
        for judge, up in zip(self.judges, (0.04, lenience), strict=True):
            for repeat in range(1, repeats + 1):
                luck = self.random.random(anchors.height)
                stars = np.clip(deserved + (luck < up) - (luck > 0.95), 0, 3)
                rows = anchors.select("anchor_set", "session_id", "seq", "is_simulated").with_columns(
                    judge=pl.lit(judge), prompt_version=pl.lit(VERSION), judged_month=pl.lit(month),
                    repeat=pl.lit(repeat, dtype=pl.Int64), stars=pl.Series(stars.astype(np.int64)), judged_at=pl.lit(_noon(month)),
                )  # fmt: skip
                table = get_table("anchor_judgements")
                unit = f"{ANCHOR_SET}/{judge}/prompt-{VERSION}/{month}/{repeat}"
                self.lake.land(
                    "anchor_judgements", unit, rows.select([one.name for one in table.own_columns])
                )
            land_drift(
                self.lake, ANCHOR_SET, self.registry.models[judge], month, is_simulated=self.is_simulated
            )

    def _label_failures(self, month: str, fallen: str) -> None:
        """A person labels 20 failures of each candidate.

        The candidate that fell in law fails there for want of knowledge.
        """
        sample = draw_failures(self.lake, month, per_model=20, now=_noon(month))
        name = str(sample["sample_id"][0])
        shares = {sitter.model: self.random.dirichlet([6, 3, 4, 4, 1]) for sitter in self.sitters}
        given = {}
        for row in sample.iter_rows(named=True):
            drawn = str(self.random.choice(ERROR_CLASSES, p=shares[row["model"]]))
            is_plain = row["model"] == fallen and row["discipline"] == "Law"
            given[compute_key(name, row["session_id"], row["seq"])] = ERROR_CLASSES[0] if is_plain else drawn
        land_labels(self.lake, sample, RATERS[0], given)

    def _play_league(self, month: str) -> None:
        """A league of eight candidates of the last month.

        Each time, two neighbours of the list are taken: most such pairs are of one family.
        """
        frames = build_league(
            Spec(
                "autumn", favour=0.3, run_types=("full", "without_reference"), is_simulated=self.is_simulated
            )
        )
        there = [sitter for sitter in self.sitters if month in sitter.months]
        members = frames["league_candidates"]["model"].to_list()
        starts = np.linspace(0, len(there) - 2, len(members) // 2).astype(int)
        picked = [there[start + step] for start in starts for step in (0, 1)]
        names = dict(zip(members, (one.model for one in picked), strict=True))
        families = dict(zip(members, (one.family for one in picked), strict=True))
        batches = []
        for table, frame in frames.items():
            renamed = frame.with_columns(
                pl.col(name).replace(names)
                for name in ("model", "asker", "answerer", "judge")
                if name in frame.columns
            )
            if table == "league_candidates":
                renamed = renamed.with_columns(
                    family=frame["model"].replace(families), organisation=frame["model"].replace(families)
                )
            batches.append(Batch(table, "autumn", renamed))
        self.lake.land_together(batches)
        write_statistics(self.lake, "autumn", StatisticsRequest(seed=0, resamples=500, repeats=10))

    def _score_texts(self) -> None:
        """Gscores of a dozen candidates: short answers and calculations of three subjects."""
        rows: list[dict[str, object]] = []
        for place, sitter in enumerate(self.sitters[:12]):
            for seq in range(1, 61):
                category, subject = SUBJECTS[seq % 3]
                is_calculation = seq % 3 == 2
                score = float(np.clip(self.random.normal(0.62 - 0.02 * place, 0.12), 0, 1))
                parts = {"accuracy": float(score > 0.5), "step_chrf": score} if is_calculation else {
                    "bleu4": score * 0.4, "rouge2": score * 0.5, "chrf": score * 0.6, "similarity": min(1.0, score + 0.2)}  # fmt: skip
                rows.append(
                    {
                        "run_id": "cgeval-1", "session_id": f"cgeval-1/{sitter.model}", "seq": seq, "item_id": str(seq),
                        "model": sitter.model, "is_simulated": self.is_simulated, "category": category, "subject": subject,
                        "item_kind": "calculation" if is_calculation else "short_answer", "answer_status": "answered",
                        "response": "An answer.", "gscore": score, "profile": "standard", "similarity_model": "drawn", **parts,
                    }
                )  # fmt: skip
        self.lake.land("gscores", "cgeval-1", get_table("gscores").frame(rows))

    def _replay(self, month: str) -> None:
        """Ten candidates complete questions from memory: 40 of the bank and 40 of a public set.

        One candidate has read some of the bank.
        """
        rows: list[dict[str, object]] = []
        there = [sitter for sitter in self.sitters if month in sitter.months]
        for place, sitter in enumerate(there[:10]):
            for source, share in ((BANK, 0.3 if place == 7 else 0.01), ("public-set", 0.25)):
                for item in range(40):
                    is_known = self.random.random() < share
                    rows += [
                        {
                            "replay_id": month, "model": sitter.model, "source": source, "completion": completion,
                            "item_id": number_uuid(item) if source == BANK else str(item), "is_correct": is_known,
                            "completed_text": "a span", "is_simulated": self.is_simulated,
                        }
                        for completion in (1, 2, 3)
                    ]  # fmt: skip
        self.lake.land("replays", month, get_table("replays").frame(rows))

    def _compare(self, month: str) -> None:
        """Two benchmarks of others: one that agrees with the exam, and one that hardly does."""
        rows = [
            {
                "model": sitter.model, "benchmark": benchmark, "scored_on": date.fromisoformat(f"{month}-01"), "source": "drawn",
                "score": 55 + 12 * float(np.mean(list(sitter.ability.values()))) + float(self.random.normal(0, noise)),
            }
            for benchmark, noise in (("open-arena", 3.0), ("quiz-suite", 14.0))
            for sitter in self.sitters[::2]
        ]  # fmt: skip
        for benchmark in ("open-arena", "quiz-suite"):
            own = [row for row in rows if row["benchmark"] == benchmark]
            self.lake.land("external_scores", benchmark, get_table("external_scores").frame(own))


def _noon(month: str) -> datetime:
    return datetime.fromisoformat(f"{month}-20T12:00:00").replace(tzinfo=UTC)


def _add_people(ledger: Ledger) -> None:
    with ledger.write() as connection:
        for name in RATERS:
            add_user(connection, user_id=name, role="annotator")
        for role in ("examiner", "analyst"):
            add_user(connection, user_id=f"{role}-1", role=role)


def _write_registry(
    settings: Settings, judges: Sequence[str], sitters: Sequence[Sitter], *, is_simulated: bool
) -> Registry:
    """The registry as a file of the home; its endpoint answers nobody."""
    models: dict[str, dict[str, object]] = {
        name: {"provider": "lab", "organisation": "Judges", "roles": ["judge"], "is_open": False}
        for name in judges
    }
    for sitter in sitters:
        models[sitter.model] = {
            "provider": "lab",
            **{
                name: getattr(sitter, name)
                for name in ("organisation", "family", "release_date", "is_open", "mode", "base_model", "input_price_usd", "output_price_usd")
                if getattr(sitter, name) is not None
            },
        }  # fmt: skip
    provider = {"base_url": "http://127.0.0.1:9/v1", "is_simulated": is_simulated}
    settings.registry_path.parent.mkdir(parents=True, exist_ok=True)
    settings.registry_path.write_text(
        yaml.safe_dump({"providers": {"lab": provider}, "models": models}), "utf-8"
    )
    return read_registry(settings.registry_path)
