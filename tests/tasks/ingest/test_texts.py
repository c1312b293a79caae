"""What plain text is written in: exports of Anki, Markdown, mails that quote, key tables."""

from __future__ import annotations

import pytest

from tasks.ingest.readers.extraction import join_lines
from tasks.ingest.readers.plain_text import read_text
from tasks.ingest.splitting import split_lines

ANKI = """#separator:tab
#html:true
#notetype column:1
#deck column:2
#tags column:5
Basic\tSea\tWhich house guides ships?<br>A) mill<br>B) lighthouse&nbsp;&nbsp;C) barn\tB\tlights
Cloze\tSea\tThe light burns from {{c1::dusk}} until {{c2::dawn::a time}}.\t\tlights
Basic\tSea\tWho trims the wick?\t<b>The keeper</b>\t
"""
PAPER = "\n".join(f"{n}. {stem}\nA. mill\nB. lighthouse\nC. barn" for n, stem in enumerate("VWXYZ", start=1))


def read(text: str) -> list[tuple[str, str, list[str]]]:
    lines = read_text(text.encode()).lines
    drafts = split_lines(lines, join_lines(lines)[1]).drafts
    return [(draft.number_label, draft.stem, draft.answer) for draft in drafts]


@pytest.mark.parametrize(
    "footer", ["第 {} 页 共 6 页", "Page {} of 6", "- {} -", "第{}页", "期末试卷（A）　第 {} 页，共 6 页"]
)
def test_page_numbers_are_no_questions_and_part_none(footer: str) -> None:
    lines = PAPER.replace("V\n", "V,\nwhich burns?\n").splitlines()
    paged = [one for at, line in enumerate(lines, start=1) for one in (line, footer.format(at))]
    assert read("\n".join(paged)) == read("\n".join(lines))


def test_notes_of_anki_are_rows_of_questions_and_answers() -> None:
    extraction = read_text(ANKI.encode())
    assert extraction.converter == "anki"
    assert extraction.sheets[0].rows == [
        ["Question", "Answer"],
        ["Which house guides ships?\nA) mill\nB) lighthouse  C) barn", "B"],
        ["The light burns from ____ until ____.", "dusk; dawn"],
        ["Who trims the wick?", "The keeper"],
    ]


@pytest.mark.parametrize(
    "text", ["# Notes\n1. What is a mill?\n", "#separator:unknown\na\tb\n", "#separator:tab\n"]
)
def test_a_text_with_a_title_is_no_export_of_anki(text: str) -> None:
    assert read_text(text.encode()).converter == "text"


def test_markdown_is_read_as_it_is_printed() -> None:
    text = "1\\. What is a mill?&nbsp;&nbsp;\n<!-- too easy -->\n2\\. What is a barn?\n[^1]: See chapter 2.\n"
    assert read(text) == [("1.", "What is a mill?", []), ("2.", "What is a barn?", [])]


def test_a_comment_that_is_asked_about_stays() -> None:
    assert read("1. What does <!-- --> do in HTML?\n2. What does &lt; print?\n")[0][1] == (
        "What does <!-- --> do in HTML?"
    )


def test_what_a_mail_quotes_is_read_with_what_is_written_between() -> None:
    text = (
        "Hello Ann, my answers stand below.\n\n> 1. What guides ships?\n>\n> A. a mill\n> B. a lighthouse\n> C. a barn\nAnswer: B\n"
        "> 2. What turns in the wind?\n> A. a mill\n> B. a lighthouse\n> C. a barn\nAnswer: A\n"
    )
    assert read(text) == [("1.", "What guides ships?", ["B"]), ("2.", "What turns in the wind?", ["A"])]


def test_a_line_that_begins_with_a_sign_of_comparison_stays() -> None:
    text = "1. Which holds?\n> 3\nA. always\nB. never\n2. What is larger?\nA. 2\nB. 3\n"
    assert "> 3" in read(text)[0][1]


@pytest.mark.parametrize(
    "table",
    [
        "| Question | 1 | 2 | 3 |\n| --- | --- | --- | --- |\n| Answer | A | C | B |\n| Question | 4 | 5 |  |\n| Answer | B | A |  |",
        "| 1 | A | 4 | B |\n| --- | --- | --- | --- |\n| 2 | C | 5 | A |\n| 3 | B |  |  |",
        "| Zadanie | Odp. | Pkt |\n| --- | --- | --- |\n| 1 | A | 1 |\n| 2 | C | 1 |\n| 3 | B | 2 |\n| 4 | B | 1 |\n| 5 | A | 1 |",
        "| 1 | 2 | 3 | 4 | 5 |\n| --- | --- | --- | --- | --- |\n| A | C | B | B | A |",
    ],
    ids=["rows with names", "pairs", "columns with points", "rows without names"],
)
def test_a_key_table_needs_no_name_of_its_columns(table: str) -> None:
    found = read(f"{PAPER}\n\nAnswers\n\n{table}\n")
    assert [answer for _, _, answer in found] == [["A"], ["C"], ["B"], ["B"], ["A"]]


def test_a_table_of_values_below_a_question_is_no_key() -> None:
    table = "| 1 | 2 | 3 | 4 | 5 |\n| --- | --- | --- | --- | --- |\n| 12 | 15 | 9 | 7 | 3 |"
    assert all(not answer for _, _, answer in read(f"{PAPER}\n\n6. Read the table.\n\n{table}\n"))


@pytest.mark.parametrize(
    ("above", "below"),
    [
        (
            "| Person | 1 | 2 | 3 | 4 | 5 |\n| --- | --- | --- | --- | --- | --- |\n| Group | A | B | A | C | B |",
            "",
        ),
        ("| 题号 | 难度 |\n| --- | --- |\n| 1 | A |\n| 2 | B |\n| 3 | B |\n| 4 | C |\n| 5 | A |", ""),
        ("", "| 题号 | 难度 |\n| --- | --- |\n| 1 | A |\n| 2 | B |\n| 3 | B |\n| 4 | C |\n| 5 | A |"),
    ],
    ids=["data above the questions", "another name above", "another name below"],
)
def test_letters_of_a_table_that_does_not_answer_are_no_keys(above: str, below: str) -> None:
    found = read(f"Harbour test\n\n{above}\n\n{PAPER}\n\n{below}\n")
    assert len(found) == 5 and not any(answer for _, _, answer in found)
