"""What a confidence is made of: evidence, the fit, and its worth on other papers."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from schemas.errors import UsageError
from tasks.ingest.confidence import (
    Known,
    KnownPaper,
    Terms,
    fit_confidence,
    judge_reading,
    read_fit,
    shows_answers,
    try_left_out,
)
from tasks.ingest.confidence.evidence import find_residue, gather_paper
from tasks.ingest.confidence.judging import Fit, parse_fit
from tasks.ingest.contracts import Breach, Checked
from tasks.ingest.readers.extraction import Line


def make_row(number: int, stem: str = "What is it?", **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "question_uuid": f"q{number}",
        "question_type": "multiple_choice",
        "section": 0,
        "stem": stem,
        "material": None,
        "options": [{"label": label, "text": f"{label}{number}"} for label in "ABCD"],
        "answer": ["A"],
        "text_start": number * 10,
        "text_end": number * 10 + 10,
        "parse_confidence": 1.0,
        "parse_notes": [],
        "status": "parsed",
    }
    return row | changes


def judge(rows: list[dict[str, Any]], checked: Checked, **terms: Any) -> dict[str, Any]:
    document: dict[str, Any] = {"media_type": "text/plain", "status": "crashed", "error": None}
    judge_reading(document, rows, "x" * (10 * len(rows) + 10), checked, Terms(**terms))
    return document


def test_broken_contracts_make_every_question_of_the_paper_less_sure() -> None:
    whole, broken = ([make_row(number) for number in range(20)] for _ in range(2))
    judge(whole, Checked(kept=8))
    judge(broken, Checked((Breach("announced_count", 0, 8, "8 were not found.", 0),), 3, 0.6))
    for first, second in zip(whole, broken, strict=True):
        assert second["parse_confidence"] < first["parse_confidence"]


def test_a_paper_is_held_where_too_much_of_it_breaks_its_contracts_and_the_reason_names_them() -> None:
    breach = Breach("announced_count", 0, 12, "Section 三 announces 12 questions, 0 were found.", 1)
    rows = [make_row(number) for number in range(8)]
    document = judge(rows, Checked((breach,), 3, 0.4), least_right=0.0)
    assert document["status"] == "held"
    assert "does not hold for 60% of its questions. Section 三 announces 12 questions" in document["error"]
    assert {row["parse_confidence"] <= 0.6 for row in rows} == {True}


def test_a_paper_is_held_where_too_little_is_expected_to_be_right() -> None:
    rows = [
        make_row(
            number,
            parse_notes=["options_missing", "stem_too_short", "holds_second_answer", "stem_holds_heading"],
            answer=[],
        )
        for number in range(8)
    ]
    checked = Checked((Breach("keys", 0, 4, "4 answers are missing.", 0),), 0, 0.55)
    document = judge(rows, checked)
    assert (document["status"], {row["status"] for row in rows}) == ("held", {"low_confidence"})
    assert (
        f"Only {document['expected_right_rate']:.0%} of it is expected to be read right" in document["error"]
    )
    assert judge(rows, checked, least_right=0.0)["status"] == "parsed"


def test_a_paper_without_questions_is_not_judged() -> None:
    document = judge([], Checked())
    assert document == {"media_type": "text/plain", "status": "crashed", "error": None}


@pytest.mark.parametrize(
    ("stems", "options", "held"),
    [
        (["【单选题】甲是什么", "【单选题】乙是什么", "【单选题】丙是什么"], "x", 3),
        (["甲是什么（2.0分）", "乙是什么（1.5分）", "丙是什么（3分）"], "x", 3),
        (["<p>甲</p>", "乙是什么", "丙是什么"], "x", 1),
        (["甲是什么（ ）", "乙是什么（ ）", "丙是什么（ ）"], "x", 0),
        (["What does <p> mean?", "What does <b> mean?", "What is <i>?"], "x", 0),
        (["甲是什么", "乙是什么", "丙是什么"], "x ✅", 3),
    ],
    ids=["tags of types", "marks", "markup", "places for answers", "markup asked about", "ticks"],
)
def test_print_around_questions_that_is_still_in_them_is_seen(
    stems: list[str], options: str, held: int
) -> None:
    rows = [
        make_row(number, stem, options=[{"label": "A", "text": options}]) for number, stem in enumerate(stems)
    ]
    assert len(find_residue(rows)) == held


def test_text_that_no_question_claims_is_measured_in_letters() -> None:
    rows = [make_row(0, text_start=0, text_end=30), make_row(1, text_start=20, text_end=50)]
    paper = gather_paper({"media_type": None}, rows, "a" * 40 + " " * 100 + "b" * 60, Checked())
    assert paper["text_unclaimed"] == pytest.approx(0.6)


def make_papers(count: int, seed: int) -> list[KnownPaper]:
    """Papers of many sources in which doubt makes a question wrong with a known chance."""
    draw = random.Random(seed)
    papers = []
    for number in range(count):
        broken = draw.random() < 0.3
        known = []
        for _ in range(8):
            doubt = draw.random()
            chance = 1 / (1 + math.exp(-(3 - 3 * doubt - 3 * broken)))
            known.append(Known({"doubt": doubt, "contracts_broken": float(broken)}, draw.random() < chance))
        papers.append(KnownPaper(f"p{number}", f"s{number % 40}", {"contracts_broken": float(broken)}, known))
    return papers


def test_a_fit_finds_the_weights_by_which_papers_were_made_and_repeats_itself() -> None:
    papers = make_papers(400, seed=7)
    fit = fit_confidence(papers)
    assert fit.question["doubt"] == pytest.approx(-3, abs=0.6)
    assert fit.question["contracts_broken"] == pytest.approx(-3, abs=0.6)
    assert fit_confidence(papers) == fit
    shares = [share for _, share in fit.steps]
    assert shares == sorted(shares)
    trials = try_left_out(papers)
    count, wrong = trials.count_wrong(0.9)
    assert count > 300
    assert wrong / count <= 0.1  # sure of nine in ten at least, and no more are wrong than that
    for low, high in ((0.3, 0.5), (0.5, 0.7), (0.7, 0.9)):
        inside = [one for one in trials.questions if low <= one.confidence < high]
        right = sum(one.is_right for one in inside) / len(inside)
        assert right == pytest.approx(sum(one.confidence for one in inside) / len(inside), abs=0.08)


def test_a_paper_without_weight_is_judged_and_adds_nothing_to_a_fit() -> None:
    papers = make_papers(40, seed=1)
    weightless = [
        replace(one, name=f"w{number}", source=f"s{number}+", weight=0.0)
        for number, one in enumerate(make_papers(9, seed=2))
    ]
    assert fit_confidence([*weightless, *papers]) == fit_confidence(papers)
    trials = try_left_out([*weightless, *papers])
    assert trials.select(one.name for one in papers) == try_left_out(papers)
    assert [one.paper for one in trials.select(one.name for one in weightless).papers] == [
        f"w{n}" for n in range(9)
    ]


def test_a_fit_is_read_from_what_it_writes_and_named_by_its_numbers() -> None:
    fit = fit_confidence(make_papers(40, seed=1), {"papers": 40})
    assert parse_fit(fit.render()) == fit
    assert fit.version == Fit(fit.question, fit.paper, fit.steps, {"made": "elsewhere"}).version
    assert fit.version != read_fit(None).version
    with pytest.raises(UsageError, match="cannot be read"):
        parse_fit("{}")


def test_the_packaged_fit_says_what_it_was_fitted_on_and_doubts_what_breaks_contracts() -> None:
    fit = read_fit(None)
    assert fit.made["papers"] >= 80
    assert fit.made["sources"] >= 20
    assert fit.question["contracts_broken"] < 0
    assert fit.question["residue"] < 0


def test_no_question_lacks_an_answer_where_the_paper_prints_none() -> None:
    rows = [make_row(number, answer=[]) for number in range(12)]
    document: dict[str, Any] = {"media_type": "text/plain", "status": "crashed", "error": None}
    statuses = []
    for shows in (True, False):
        judge_reading(document, rows, "x" * 130, Checked(), Terms(), shows_answers=shows)
        statuses.append(document["status"])
    assert statuses == ["held", "parsed"]


@pytest.mark.parametrize(
    ("below", "shows"),
    [
        ("Answer all the questions.", False),
        ("Is the answer correct? (A) or (B)", False),
        ("A. 2  B. 4  C. 6  D. 8", False),
        ("A．2 B．4 C．6 D．8", False),
        ("Answer: oak", True),
        ("Richtige Antwort: oak", True),
        ("【答案】", True),
        ("答：橡树会浮。", True),
        ("解析：橡树会浮。", True),
        ("1-5 ABCDA", True),
        ("Final: 1 b, 2 c, 3 b (not d)", True),
        ("( B ).\n( C ).", True),
        ("✓ oak\n✓ iron", True),
    ],
)
def test_a_sign_of_an_answer_is_seen(below: str, shows: bool) -> None:
    text = f"1. What floats?\n2. What sinks?\n{below}"
    rows = [
        make_row(1, answer=[], text_start=0, text_end=15),
        make_row(2, answer=[], text_start=16, text_end=30),
    ]
    assert shows_answers(text, rows, [Line(line) for line in text.split("\n")]) == shows


@pytest.mark.parametrize(
    ("stands_out", "kind", "shows"),
    [
        ((), "bold", False),
        (("A. oak",), "bold", True),
        # its first line is long enough to tell
        (("B. iron of the ship",), "bold", True),
        # the word that is asked about, and all there is to choose from
        (("1. Why does oak float?", "2. Why does oak sink?"), "bold", False),
        (("A. oak", "B. iron of the ship", "that sank"), "bold", False),
    ],
)
def test_options_that_stand_out_may_be_answers(stands_out: tuple[str, ...], kind: str, shows: bool) -> None:
    offered = "A. oak\nB. iron of the ship\nthat sank"
    text = f"1. Why does oak float?\n{offered}\n2. Why does oak sink?\n{offered}"
    options = [{"label": "A", "text": "oak"}, {"label": "B", "text": "iron of the ship that sank"}]
    second = text.index("2. ")
    rows = [
        make_row(1, answer=[], options=options, text_start=0, text_end=second - 1),
        make_row(2, answer=[], options=options, text_start=second, text_end=len(text)),
    ]
    assert shows_answers(text, rows, _stand_out(text, stands_out, kind)) == shows


@pytest.mark.parametrize(("kind", "shows"), [("bold", False), ("colour", True)])
def test_bold_print_heads_what_is_below_a_free_question_and_colour_may_answer_it(
    kind: str, shows: bool
) -> None:
    text = "1. Name the parts.\nTable of ships\nmast, keel\n2. Name the ropes.\nTable of ships\nmast, keel"
    second = text.index("2. ")
    rows = [
        make_row(1, answer=[], options=[], text_start=0, text_end=second - 1),
        make_row(2, answer=[], options=[], text_start=second, text_end=len(text)),
    ]
    assert shows_answers(text, rows, _stand_out(text, ("Table of ships",), kind)) == shows


def _stand_out(text: str, lines: tuple[str, ...], kind: str) -> list[Line]:
    return [
        Line(line, emphasis=((0, len(line), kind),) if line in lines else ()) for line in text.split("\n")
    ]
