from __future__ import annotations

from tasks.report.page import NamedQuery
from tasks.report.terminal import render_leaderboard_text


def test_the_table_has_a_row_per_candidate_in_order(season: NamedQuery) -> None:
    frame = season("leaderboard", {})

    text = render_leaderboard_text(frame)

    lines = [line for line in text.splitlines() if line.startswith("│")]
    assert [line.split("│")[2].split(" (")[0].strip() for line in lines] == frame["model"].to_list()
    best = frame.row(0, named=True)
    assert f"{best['score']:.2f}" in lines[0] and "100.00" in lines[0]
    assert "SIMULATED" not in text and "PROVISIONAL" not in text
    assert "Judge: judge-a" in text and "Run: run-2025-07" in text


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
