"""The pages that are made of panels.

The tests check what they say of the rows, what they keep to themselves, and what an empty one says.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert

from schemas.tables import get_table
from tasks.report.labels import Language
from tasks.report.month_charts import fill_gaps
from tasks.report.pages.bank import read_bank
from tasks.report.pages.contamination import read_contamination
from tasks.report.pages.cost import read_cost
from tasks.report.pages.errors import read_errors
from tasks.report.pages.judges import read_judges
from tasks.report.pages.method import read_commitments, read_method
from tasks.report.pages.stability import read_stability
from tasks.report.pages.trends import read_trends
from tasks.report.panels import Cell, NamedQuery, Panel, Source, flatten_lists, write_rows
from tests.tasks.report.conftest import OpenSeason, ask, fill_trial
from tests.tasks.report.synthetic import build_season
from tests.warehouse.bank_rows import BANK, split_bank
from tests.warehouse.publishing import publish_runs
from tests.warehouse.test_sql_cases import fill_rows

READERS = (
    read_judges,
    read_stability,
    read_contamination,
    read_errors,
    read_bank,
    read_cost,
    read_method,
    read_trends,
)
COMMANDS = (Path(__file__).parents[3] / "docs" / "commands.md").read_text("utf-8")


def make_frames(**tables: list[dict[str, Any]]) -> dict[str, pl.DataFrame]:
    return {name: fill_rows(get_table(name), rows) for name, rows in tables.items()}


def find_panel(panels: list[Panel], name: str) -> Panel:
    return next(panel for panel in panels if panel.name == name)


def read_text(panel: Panel, place: int = 1) -> list[list[str]]:
    return [[cell["words"][place] for cell in row] for row in write_rows(panel)]


@pytest.fixture(scope="module")
def panels(season: NamedQuery) -> list[Panel]:
    return [panel for read in READERS for panel in read(Source(season))]


@pytest.fixture(scope="module")
def spread(open_season: OpenSeason) -> NamedQuery:
    """A bank of four lineages of law and one of history.

    East has met three in two months, North one; nobody was judged.
    """
    uuids = [f"00000000-0000-4000-8000-{number:012d}" for number in range(1, 6)]
    bank = [
        {"bank_version": 1, "question_uuid": uuid, "lineage_uuid": uuid, "discipline": "Law" if number < 4 else "History",
         "question_type": "essay", "method": "original"}
        for number, uuid in enumerate(uuids)
    ]  # fmt: skip
    sessions = [
        {"session_id": f"{organisation}-{month}", "run_id": month, "month": month, "set_id": set_id, "model": organisation.lower(),
         "organisation": organisation, "status": "closed", "is_simulated": False}
        for organisation, month, set_id in (("East", "2025-06", "s1"), ("East", "2025-07", "s2"), ("North", "2025-07", "s1"))
    ]  # fmt: skip
    sets = [
        {"set_id": set_id, "set_number": number, "lineage_uuid": uuids[place], "question_uuid": uuids[place], "bank_version": 1,
         "discipline": "Law", "is_simulated": False}
        for number, set_id, place in ((1, "s1", 0), (2, "s2", 1), (2, "s2", 2))
    ]  # fmt: skip
    return open_season({**make_frames(sessions=sessions, sets=sets), **_fill_bank(bank)})


def _fill_bank(rows: list[dict[str, Any]]) -> dict[str, pl.DataFrame]:
    return {
        name: frame.with_columns(landing_unit=pl.lit("case"))
        for name, frame in split_bank(fill_rows(BANK, rows)).items()
    }


def test_a_panel_without_rows_names_commands_that_there_are(open_season: OpenSeason) -> None:
    source = Source(open_season({}))
    for panel in (panel for read in READERS for panel in read(source)):
        assert panel.frame.is_empty(), panel.name
        assert panel.finding is None, panel.name
        assert panel.filled_by, panel.name
        for command in panel.filled_by:
            words = re.sub(r" (--.*|RUN)$", "", command)
            assert f"`{words}" in COMMANDS or f"{words}\n" in COMMANDS, command


@pytest.mark.parametrize("language", ["zh", pytest.param("en", marks=pytest.mark.long)])
def test_every_figure_can_be_drawn_and_has_a_sentence_for_who_cannot_see_it(
    panels: list[Panel], spread: NamedQuery, language: Language
) -> None:
    source = Source(spread)
    drawn = [
        panel
        for panel in (*panels, *read_contamination(source), *read_bank(source))
        if panel.draw is not None
    ]
    assert {
        "calibration",
        "agreement",
        "disagreements",
        "styles",
        "points",
        "months",
        "models",
        "pooling",
        "forecast",
        "outlook",
        "types",
    } <= {panel.name for panel in drawn}
    for panel in drawn:
        assert panel.draw is not None and panel.finding is not None
        assert all(panel.finding)
        assert vl_convert.vegalite_to_vega(panel.draw(language).to_dict())["marks"]


def test_what_organisations_have_met_is_counted_and_none_is_named(spread: NamedQuery) -> None:
    source = Source(spread)
    panels = [*read_contamination(source), *read_bank(source)]
    found = {panel.name: panel.finding[1] for panel in panels if panel.finding is not None}
    assert found == {
        "pooling": "2 organisations that pool have met 60% of the bank on average, 60% at most.",
        "forecast": "By 2025-07 all organisations together have met 60% of the bank; it has been half since 2025-07.",
        "outlook": "Law runs out first. Months left: 1 for the organisation that is through it soonest, 2 for the one in the middle.",
        "types": "Version 1 holds 5 questions; most are of Law (4), fewest of History (1).",
        "versions": "There is version 1 alone: 5 questions.",
        "sources": "Augmentation makes 5 questions of 5 originals (+0%).",
    }
    for panel in panels:
        said = flatten_lists(panel.frame).write_csv() + json.dumps(panel.finding)
        assert not re.search(r"\b(East|North)\b", said), panel.name


def test_no_panel_holds_a_question_or_an_answer(panels: list[Panel], spread: NamedQuery) -> None:
    hidden = {"question_uuid", "lineage_uuid", "response", "reason_a", "reason_b", "raw", "stem"}
    for panel in (*panels, *read_contamination(Source(spread)), *read_bank(Source(spread))):
        assert not hidden & set(panel.frame.columns), panel.name


def test_the_judge_that_agrees_most_is_that_of_the_last_calibration(open_season: OpenSeason) -> None:
    def row(judge: str, occasion: str, model: str, kappa: float | None) -> dict[str, Any]:
        return {
            "judge": judge, "prompt_version": "1", "occasion": occasion, "model": model, "round": 1, "weighting": "none",
            "kappa": kappa, "pair_count": 20,
        }  # fmt: skip

    calibration = [
        row("old", "first", "a", 0.95),
        row("north", "2026-03", "a", 0.8),
        row("north", "2026-03", "b", 0.6),
        row("south", "2026-03", "a", 0.5),
        row("south", "2026-03", "b", None),
    ]
    panel = find_panel(read_judges(Source(open_season(make_frames(calibration=calibration)))), "calibration")
    assert panel.finding is not None
    assert (
        panel.finding[1]
        == "north agrees most with people in the 2026-03 calibration: mean κ 0.700 over 2 candidates, from 0.60 to 0.80."
    )
    assert read_text(panel) == [
        ["north", "1", "2026-03", "1", "0.700", "0.600 … 0.800", "2", "40"],
        ["south", "1", "2026-03", "1", "0.500", "0.500 … 0.500", "1", "40"],
        ["old", "1", "first", "1", "0.950", "0.950 … 0.950", "1", "20"],
    ]


def test_a_candidate_is_named_where_the_lower_end_of_its_recall_is_above_five_per_cent(
    open_season: OpenSeason,
) -> None:
    def complete(model: str, item: int, *right: bool) -> list[dict[str, Any]]:
        return [
            {"replay_id": "r", "model": model, "source": "bank", "item_id": str(item), "completion": place, "is_correct": is_right}
            for place, is_right in enumerate(right, start=1)
        ]  # fmt: skip

    # 4 of 10: Wilson's interval is 16.8 to 68.7; 1 of 10: 1.8 to 40.4.
    replays = [
        row
        for model, count in (("knows", 4), ("guesses", 1))
        for item in range(10)
        for row in complete(model, item, item < count, True, False)
    ]
    panel = find_panel(read_contamination(Source(open_season(make_frames(replays=replays)))), "recall")
    assert panel.finding is not None
    assert panel.finding[1] == "Candidates that recall our bank: knows."
    assert read_text(panel) == [
        ["guesses", "our bank", "10", "1", "10.0", "1.8 … 40.4", "0", ""],
        ["knows", "our bank", "10", "4", "40.0", "16.8 … 68.7", "0", "memorised"],
    ]


def test_organisations_of_the_leak_watch_are_numbered_by_their_gain() -> None:
    def answer(organisation: str, question: int, gain: float) -> dict[str, Any]:
        is_met = question % 2 == 0
        return {
            "organisation": organisation, "model": organisation, "question_uuid": f"{question:03d}", "lineage_uuid": f"{question:03d}",
            "stars": 1.0 + question % 3 * 0.5 + (gain if is_met else 0.0), "discrimination": 1.0, "difficulty": question % 5 * 0.4 - 0.8,
            "threshold_1": -1.0, "threshold_2": 0.0, "threshold_3": 1.0, "is_met": is_met,
            "asymptote_1": 0.0, "asymptote_2": 0.0, "asymptote_3": 0.0,
        }  # fmt: skip

    rows = pl.DataFrame(
        [answer("Quiet", number, 0.0) for number in range(60)]
        + [answer("Loud", number, 1.0) for number in range(60)]
    )

    def run_named(name: str, _: dict[str, object]) -> pl.DataFrame:
        return rows if name == "leak_rows" else pl.DataFrame({"source": [], "recalled_low": [], "model": []})

    from tasks.report.pages.contamination import _read_leaks

    panel = _read_leaks(Source(run_named))
    assert panel.frame["place"].to_list() == [1, 2]
    assert panel.frame["is_found"].to_list() == [True, False]
    assert "Loud" not in panel.frame.write_csv()
    assert panel.finding is not None
    assert (
        panel.finding[1]
        == "Of 2 organisations that can be compared 1 score more than expected on questions met before."
    )


def test_a_month_without_a_row_is_a_gap() -> None:
    rows = pl.DataFrame(
        {"month": ["2025-11", "2026-02", "2026-01"], "name": ["a", "a", "b"], "value": [1.0, 2.0, 3.0]}
    )
    assert fill_gaps(rows, ["name"], "value").rows() == [
        ("2025-11", "a", 1.0),
        ("2025-12", "a", None),
        ("2026-01", "a", None),
        ("2026-02", "a", 2.0),
        ("2026-01", "b", 3.0),
    ]


def test_commitments_come_from_the_public_log_by_the_last_commit_of_a_run(tmp_path: Path) -> None:
    def commit(number: int, replaces: int | None) -> dict[str, Any]:
        return {
            "number": number, "at": "2026-12-01T08:30:00+00:00", "kind": "commit", "previous": "0",
            "body": {"run": "2026-12", "month": "2026-12", "is_simulated": False, "share_commitment": f"share{number}",
                     "bank": {"version": 3, "root": "root", "lineages": 9}, "plan_commitment": "plan", "replaces": replaces},
        }  # fmt: skip

    beacon = {"source": "drand round 5", "value": "5"}
    entries = [
        commit(1, None),
        commit(2, 1),
        {"number": 3, "at": "t", "kind": "share", "body": {"run": "2026-12", "commit": 2, "candidate": "a"}},
        {"number": 4, "at": "t", "kind": "share", "body": {"run": "2026-12", "commit": 1, "candidate": "b"}},
        {"number": 5, "at": "t", "kind": "draw", "body": {"run": "2026-12", "commit": 2, "beacon": beacon,
                                                          "seed_commitment": "seed", "sets": [{"set": "s", "root": "r"}]}},
        {"number": 6, "at": "t", "kind": "open", "body": {"run": "2026-12", "session": "s"}},
    ]  # fmt: skip
    lines = [json.dumps(entry, separators=(",", ":")) for entry in entries]
    (tmp_path / "log.jsonl").write_text("\n".join([*lines, '{"number":7,"kind":"draw","bo']) + "\n")
    assert read_commitments(tmp_path).rows(named=True) == [
        {
            "run": "2026-12", "month": "2026-12", "committed_at": "2026-12-01 08:30 UTC", "entry": 2, "bank_version": 3, "bank_root": "root",
            "plan_commitment": "plan", "share_commitment": "share2", "seed_commitment": "seed", "set_count": 1, "share_count": 1,
            "beacon": "drand round 5 (typed)", "is_disclosed": False, "is_simulated": False,
        }
    ]  # fmt: skip
    assert read_commitments(tmp_path / "nothing").is_empty()
    assert read_commitments(None).is_empty()


def test_judges_together_and_what_they_give_for_form_stand_beside_what_was_published() -> None:
    edition = {"edition_id": "r/1", "run_id": "r", "month": "2026-01", "revision": 1}
    shared = {"edition_id": "r/1", "month": "2026-01"}
    later = {"computed_at": "2026-02-01"}
    frames = make_frames(
        editions=[edition],
        jury_judges=[
            shared | later | {"votes_hash": "a", "judge": judge, "prompt_version": "1", "discipline": field, "weight": weight,
                              "information_bits": weight, "agreement_rate": 0.9, "bias": 0.1, "response_count": 40, "rated_count": 20}
            for judge, field, weight in (("north", "all", 0.75), ("south", "all", 0.25), ("north", "Law", 0.6), ("south", "Law", None))
        ],
        jury_scores=[
            shared | later | {"votes_hash": "a", "prompt_style": "zero_shot", "model": model, "estimator": "jury", "score": score,
                              "jury_score": 60, "jury_se": 2, "jury_low": 56, "jury_high": 64, "judge_count": 2,
                              "response_count": 40, "rated_count": 20}
            for model, score in (("m", 70.0), ("n", 61.0))
        ],
        judge_style_effects=[
            {"judge": "north", "prompt_version": "1", "occasion": "first", "feature": feature, "pair_count": 120, "cluster_count": 60,
             "feature_mean": 1, "feature_sd": 0.5, "effect": effect, "effect_se": 0.02, "effect_low": effect - 0.04,
             "effect_high": effect + 0.04, "p_value": p_value, "p_holm": p_value}
            for feature, effect, p_value in (("length", 0.12, 0.001), ("bold", 0.01, 0.5))
        ],
        style_controlled_scores=[
            shared | later | {"ratings_hash": "a", "prompt_style": "zero_shot", "model": model, "judge": "north", "prompt_version": "1",
                              "score": score, "controlled_score": controlled, "controlled_se": 1, "controlled_low": controlled - 2,
                              "controlled_high": controlled + 2, "length_mean": 8, "rated_count": 120}
            for model, score, controlled in (("m", 62.0, 58.5), ("n", 61.0, 61.5))
        ],
    )  # fmt: skip
    panels = read_judges(Source(ask(fill_trial(frames))))
    said = {name: find_panel(panels, name) for name in ("weights", "jury", "style", "controlled")}
    assert {name: panel.finding and panel.finding[1] for name, panel in said.items()} == {
        "weights": "2026-01: north has most of the weight (75%).",
        "jury": "2026-01: S of 1 of 2 candidates lies outside the 95% interval by all judges.",
        "style": "north gives +0.12 stars for twice the length where people gave the same.",
        "controlled": "2026-01: with form taken off 2 of 2 candidates change their rank; S moves by 3.5 points at most.",
    }
    assert read_text(said["weights"])[0] == [
        "2026-01",
        "all disciplines",
        "north",
        "75%",
        "0.75",
        "90.0%",
        "0.10",
        "20",
    ]
    assert read_text(said["style"])[0] == [
        "north",
        "first",
        "twice the length",
        "120",
        "0.120",
        "0.080 … 0.160",
        "0.001",
        "found",
    ]
    for panel in said.values():
        for language in ("zh", "en"):
            assert panel.draw is not None
            assert vl_convert.vegalite_to_vega(panel.draw(language).to_dict())["marks"]
    weights = said["weights"].draw
    assert weights is not None
    drawn = [str(weights(one).to_dict()) for one in ("zh", "en")]
    assert [("全部" in one, "all disc" in one) for one in drawn] == [(True, False), (False, True)]


def test_a_candidate_without_S_is_in_no_correlation_and_stops_no_page() -> None:
    frames = build_season(months=("2025-06",), repeats=1, questions_per_discipline=1)
    missed = frames["allocations"].filter(
        pl.col("session_id").str.contains("/east-7b/"), pl.col("discipline") == "Law"
    )
    for name in ("allocations", "responses", "judgements"):
        frames[name] = frames[name].join(missed, on=["session_id", "seq"], how="anti")
    models = sorted(frames["models"]["model"].unique())
    connection = fill_trial(
        frames
        | make_frames(
            external_scores=[
                {"model": model, "benchmark": "X", "score": place} for place, model in enumerate(models)
            ]
        )
    )
    publish_runs(connection)
    run_named = ask(connection)
    assert run_named("leaderboard", {}).filter(pl.col("score").is_null())["model"].to_list() == ["east-7b"]
    (found,) = run_named("external_correlation", {}).iter_rows(named=True)
    assert found["candidate_count"] == len(models) - 1
    (beside,) = find_panel(read_trends(Source(run_named)), "external").frame.iter_rows(named=True)
    assert beside["spearman_rho"] == pytest.approx(found["spearman_rho"])
    read_stability(Source(run_named))


def test_what_a_subtraction_of_equals_leaves_is_shown_as_nothing() -> None:
    title = ("", "")
    cells = (
        Cell("low", title, "interval", digits=1, high="low"),
        Cell("share", title, "percent", digits=1),
        Cell("gap", title, "number", digits=1),
    )
    frame = pl.DataFrame({"low": [-0.04], "share": [-3.6e-15], "gap": [-3.6e-15]})
    assert read_text(Panel("panel", title, title, "query", frame, cells)) == [["0.0 … 0.0", "0.0%", "0.0"]]
