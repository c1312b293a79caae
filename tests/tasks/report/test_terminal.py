from __future__ import annotations

import polars as pl

from tasks.report.panels import NamedQuery
from tasks.report.terminal import render_leaderboard_text


def test_the_table_has_a_row_per_candidate_in_order(season: NamedQuery) -> None:
    frame = season("leaderboard", {})

    text = render_leaderboard_text(frame)

    lines = [line for line in text.splitlines() if line.startswith("│")]
    assert [
        name for line in lines if (name := line.split("│")[2].split(" (")[0].strip()) != "(reference)"
    ] == (frame["model"].to_list())
    best = frame.row(0, named=True)
    assert f"{best['score']:.2f}" in lines[0] and "100.00" in lines[0]
    assert "SIMULATED" not in text and "PROVISIONAL" not in text
    assert "Judge: judge-a" in text and "Run: run-2025-07" in text
    assert f"{best['score_low']:.1f}–{best['score_high']:.1f}" in lines[0]
    assert f"{best['rank_low']}–{best['rank_high']}" in lines[0] and "│     A │" in lines[0]
    count = best["rank_high"] - best["rank_low"]
    assert f"Not distinguishable (all pairs together, 5%): {best['model']} from {count};" in text
    assert "Edition: run-2025-07/1 (Published on 2027-01-01)" in text


def test_an_overridden_gate_stands_above_the_table_with_its_reason(season: NamedQuery) -> None:
    frame = season("leaderboard", {}).with_columns(
        overridden_gates=pl.lit(["ratings"], dtype=pl.List(pl.String)),
        override_reason=pl.lit("No raters in May."),
    )

    text = " ".join(render_leaderboard_text(frame).split())

    assert text.startswith("PUBLISHED WITH A GATE SHUT the calibration rests on too few ratings.")
    assert "the reason: No raters in May." in text


def test_what_has_no_equated_score_has_its_cause_below_the_table(season: NamedQuery) -> None:
    def render(cause: str | None) -> str:
        frame = season("leaderboard", {}).with_columns(
            equated_score=pl.lit(None, dtype=pl.Float64), unequated_because=pl.lit(cause, dtype=pl.String)
        )
        return " ".join(render_leaderboard_text(frame).split())

    assert (
        "– No equated score: too few answers to questions that were published before link this month to others"
        in render("anchors")
    )
    assert "– No equated score: the model of the answers came to no one result" in render("draws")
    assert "– No equated score: this edition does not say why." in render(None)
    equated = season("leaderboard", {}).with_columns(equated_score=pl.lit(50.0))
    assert "No equated score" not in render_leaderboard_text(equated)


def test_a_repetition_of_the_month_has_a_table_below_the_first(season: NamedQuery) -> None:
    frame = season("leaderboard", {})
    again = frame.with_columns(is_repetition=pl.lit(True), edition_id=pl.lit("run-2025-07b/1"))

    text = render_leaderboard_text(pl.concat([frame, again]))

    titles = [line.strip() for line in text.splitlines() if line.startswith("Leaderboard")]
    assert titles == ["Leaderboard 2025-07", "Leaderboard 2025-07 · REPETITION"]


def test_simulated_and_provisional_stand_above_the_table(simulated_season: NamedQuery) -> None:
    lines = render_leaderboard_text(simulated_season("leaderboard", {})).splitlines()

    assert lines[0].startswith("SIMULATED")
    assert lines[1].startswith("PROVISIONAL")


def test_the_table_speaks_chinese_and_keeps_to_its_width(season: NamedQuery) -> None:
    text = render_leaderboard_text(season("leaderboard", {}), language="zh", width=100)

    assert "名次" in text and "西湖-2" in text
    # A Chinese character takes two columns of the terminal.
    assert (
        max(sum(2 if ord(character) > 0x2E7F else 1 for character in line) for line in text.splitlines())
        <= 100
    )


def test_without_rows_a_sentence_says_what_to_do(season: NamedQuery) -> None:
    text = render_leaderboard_text(season("leaderboard", {"month": "1999-01"}))

    assert "Judge a run" in text
