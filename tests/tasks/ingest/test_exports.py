"""Files of question banks and platforms, in their own forms.

They are Moodle XML, web pages, records, Markdown and sheets.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks.ingest_accuracy import read_landed
from tests.tasks.ingest.builders import make_xlsx, write

MOODLE = """<?xml version="1.0" encoding="UTF-8"?>
<quiz>
 <question type="category"><category><text>$course$/Harbour</text></category></question>
 <question type="multichoice">
  <questiontext format="html"><text><![CDATA[<p>What guides <b>ships</b>?</p>]]></text></questiontext>
  <generalfeedback><text>It burns all night.</text></generalfeedback>
  <answer fraction="0"><text>a mill</text></answer>
  <answer fraction="100"><text>a lighthouse</text></answer>
 </question>
 <question type="truefalse">
  <questiontext><text>A ferry crosses a river.</text></questiontext>
  <answer fraction="100"><text>true</text></answer><answer fraction="0"><text>false</text></answer>
 </question>
 <question type="shortanswer">
  <questiontext><text>Corn is kept in a ____.</text></questiontext>
  <answer fraction="50"><text>barn</text></answer><answer fraction="100"><text>granary</text></answer>
 </question>
 <question type="matching">
  <questiontext><text>Match what turns with what turns it.</text></questiontext>
  <subquestion><text>mill wheel</text><answer><text>water</text></answer></subquestion>
  <subquestion><text>sail of a mill</text><answer><text>wind</text></answer></subquestion>
 </question>
 <question type="ddmarker"><questiontext><text>Drag the names.</text></questiontext></question>
</quiz>
"""


def read(path: Path) -> list[tuple[str, str, list[str], list[str]]]:
    return [
        (
            question["question_type"],
            question["stem"],
            [option["text"] for option in question["options"]],
            question["answer"],
        )
        for question in read_landed(path)["questions"]
    ]


def test_a_moodle_question_bank_gives_its_questions_and_names_what_it_does_not_read(tmp_path: Path) -> None:
    path = write(tmp_path, "bank.xml", MOODLE)
    assert read(path) == [
        ("multiple_choice", "What guides ships?", ["a mill", "a lighthouse"], ["B"]),
        ("true_false", "A ferry crosses a river.", [], ["true"]),
        ("fill_in_the_blank", "Corn is kept in a ____.", [], ["granary"]),
        ("multiple_choice", "mill wheel", ["water", "wind"], ["A"]),
        ("multiple_choice", "sail of a mill", ["water", "wind"], ["B"]),
    ]
    assert read_landed(path)["document"]["warnings"] == ["1 question of the type 'ddmarker' not read."]


def test_a_side_to_be_matched_that_has_no_match_has_no_answer(tmp_path: Path) -> None:
    pair = "<subquestion><text>mill wheel</text>"
    alone = "<subquestion><text>anchor</text><answer><text></text></answer></subquestion>"
    assert read(write(tmp_path, "bank.xml", MOODLE.replace(pair, alone + pair)))[3:] == [
        ("multiple_choice", "anchor", ["water", "wind"], []),
        ("multiple_choice", "mill wheel", ["water", "wind"], ["A"]),
        ("multiple_choice", "sail of a mill", ["water", "wind"], ["B"]),
    ]


def test_a_damaged_moodle_file_is_corrupt(tmp_path: Path) -> None:
    document = read_landed(write(tmp_path, "bank.xml", MOODLE[:400]))["document"]
    assert document["status"] == "corrupt"


def test_ordered_lists_of_a_web_page_count_its_questions_and_their_options(tmp_path: Path) -> None:
    page = """<html><body><h1>Quiz</h1><ol>
    <li><p>What is kept in a granary?</p><ol type="A"><li>Corn</li><li>Oil</li><li>Coal</li></ol></li>
    <li>What guides ships?<ol style="list-style-type: upper-alpha"><li>A mill</li><li>A lamp</li><li>A road</li></ol></li>
    </ol><h2>Answers</h2><ol><li>A</li><li>B</li></ol></body></html>"""
    assert read(write(tmp_path, "quiz.html", page)) == [
        ("multiple_choice", "What is kept in a granary?", ["Corn", "Oil", "Coal"], ["A"]),
        ("multiple_choice", "What guides ships?", ["A mill", "A lamp", "A road"], ["B"]),
    ]


def test_where_a_line_of_the_source_ends_a_web_page_ends_none(tmp_path: Path) -> None:
    page = """<html><body><p>1. What was built between the years 1920 and
    2. in the list of towns?</p><p>A. <b>A</b>
    mill</p><p>B. A
    lamp</p><p>2. 粮仓里存放的是
    （ ）</p><p>A.谷物</p><p>B.灯油</p><p>答案：A</p><pre>3. What is C?
    A. air
    B. oil</pre></body></html>"""
    assert read(write(tmp_path, "quiz.html", page)) == [
        (
            "multiple_choice",
            "What was built between the years 1920 and 2. in the list of towns?",
            ["A mill", "A lamp"],
            [],
        ),
        ("multiple_choice", "粮仓里存放的是 ( )", ["谷物", "灯油"], ["A"]),
        ("multiple_choice", "What is C?", ["air", "oil"], []),
    ]


def test_radio_buttons_of_a_web_page_are_options(tmp_path: Path) -> None:
    block = (
        "<p>Question {n}</p><p>{stem}</p><label><input type=radio>Corn</label><br><label><input type=radio>Oil</label><br>"
        "<label><input type=radio>Coal</label><details><summary>Show answer</summary>{key}</details>"
    )
    asked = [("What feeds a mill?", "Corn"), ("What feeds a lamp?", "Oil"), ("What feeds an engine?", "Coal")]
    page = "".join(
        block.format(n=number, stem=stem, key=key) for number, (stem, key) in enumerate(asked, start=1)
    )
    assert read(write(tmp_path, "quiz.html", f"<html><body>{page}</body></html>")) == [
        ("multiple_choice", stem, ["Corn", "Oil", "Coal"], [letter])
        for (stem, _), letter in zip(asked, "ABC", strict=True)
    ]


def test_what_a_web_page_raises_and_lowers_stays_so(tmp_path: Path) -> None:
    page = (
        "<html><body><p>1. What is 10<sup>3</sup>?</p><p>A. 30</p><p>B. 1000</p><p>Answer: B</p>"
        "<p>2. What is H<sub>2</sub>O?</p><p>A. water</p><p>B. salt</p><p>Answer: A</p>"
        "<p>3. What is 2<sup><font size='1'>10</font></sup>?</p><p>A. 1024</p><p>B. 210</p><p>Answer: A</p></body></html>"
    )
    assert read(write(tmp_path, "quiz.html", page)) == [
        ("multiple_choice", "What is 10³?", ["30", "1000"], ["B"]),
        ("multiple_choice", "What is H₂O?", ["water", "salt"], ["A"]),
        ("multiple_choice", "What is 2¹⁰?", ["1024", "210"], ["A"]),
    ]


def test_underlined_space_of_a_web_page_is_a_blank_and_a_control_character_nothing(tmp_path: Path) -> None:
    page = (
        "<html><body><p>1. <u>&nbsp; &nbsp;</u> guides ships <u>at</u><u> </u><u>ni\x07ght</u>.</p><p>Answer: A lamp</p>"
        "<p>2. Corn is kept in a <u><span>&nbsp;&nbsp;</span></u>.</p><p>Answer: granary</p></body></html>"
    )
    assert read(write(tmp_path, "quiz.html", page)) == [
        ("fill_in_the_blank", "____ guides ships at night.", [], ["A lamp"]),
        ("fill_in_the_blank", "Corn is kept in a ____.", [], ["granary"]),
    ]


BLACKBOARD = """MC\tWhat feeds a lamp?\tCorn\tincorrect\tOil\tcorrect
MA\tWhat grows?\tA tree\tcorrect\tAn ox\tcorrect\tA stone\tincorrect
TF\tA lamp burns 10<sup>3</sup> stones.\tfalse
FIB\tA mill grinds ____.\tcorn\tgrain
ESS\tWhy do rivers bend?\tThe outer bank wears away.
MAT\tMatch.\tmill wheel\twater\tsail\twind
ORD\tPut in order.\tfirst\tsecond
"""


def test_a_blackboard_file_is_read_by_its_types(tmp_path: Path) -> None:
    path = write(tmp_path, "pool.txt", BLACKBOARD)
    assert read(path) == [
        ("multiple_choice", "What feeds a lamp?", ["Corn", "Oil"], ["B"]),
        ("multiple_choice", "What grows?", ["A tree", "An ox", "A stone"], ["A", "B"]),
        ("true_false", "A lamp burns 10³ stones.", [], ["false"]),
        ("fill_in_the_blank", "A mill grinds ____.", [], ["corn"]),
        ("essay", "Why do rivers bend?", [], ["The outer bank wears away."]),
        ("multiple_choice", "mill wheel", ["water", "wind"], ["A"]),
        ("multiple_choice", "sail", ["water", "wind"], ["B"]),
    ]
    assert read_landed(path)["document"]["warnings"] == ["1 question of the type 'ORD' not read."]
    # with a header the same words are a table of another kind
    table = write(
        tmp_path, "bank.txt", "Type\tQuestion\tA\tB\tAnswer\n" + "MC\tWho sails?\tA miller\tA skipper\tB\n"
    )
    assert read(table) == [("multiple_choice", "Who sails?", ["A miller", "A skipper"], ["B"])]


def test_more_choices_than_letters_are_missing_and_not_cut(tmp_path: Path) -> None:
    words = [f"word {at}" for at in range(12)]
    offered = "\t".join(f"{word}\t{'in' * (at not in (2, 11))}correct" for at, word in enumerate(words))
    pool = write(tmp_path, "pool.txt", f"MA\tWhich of them sail?\t{offered}\nTF\tA lamp burns.\ttrue\n")
    gift = write(
        tmp_path,
        "gift.txt",
        f"Which of them sails? {{{' ~'.join(['', *words])} =a skipper}}\n\nWho? {{=I ~you}}\n",
    )
    flagged = [{"text": word, "is_correct": at in (2, 11)} for at, word in enumerate(words)]
    records = [
        {"question": "Which of them sail?", "options": offered, "answer": key}
        for offered, key in ((flagged, None), (words, "CL"), (words, words[11]))
    ]
    files = [
        write(
            tmp_path,
            f"{at}.json",
            json.dumps([one, {"question": "Who?", "options": ["I", "you"], "answer": "A"}]),
        )
        for at, one in enumerate(records)
    ]
    for path in (pool, gift, *files):
        (asked, _), landed = read(path), read_landed(path)
        assert (asked[0], asked[2:]) == ("multiple_choice", ([], []))
        assert landed["document"]["status"] == "held"


def test_blocks_of_a_gift_file_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    pairs = " ".join(f"=left {at} -> right {at}" for at in range(11))
    asked = "\n\n".join(f"Who sails {at}? {{=I ~you}}" for at in range(4))
    path = write(tmp_path, "gift.txt", f"{asked}\n\nMatch them. {{{pairs}}}\n")
    assert len(read(path)) == 4
    assert read_landed(path)["document"]["warnings"] == ["1 blocks in braces were not read."]


def test_sections_with_titles_and_passages_with_questions_are_opened(tmp_path: Path) -> None:
    sections = [
        {
            "type": "single_choice",
            "title": "Part I",
            "questions": [
                {"content": "What feeds a lamp?", "options": {"A": "Corn", "B": "Oil"}, "answer": "B"}
            ],
        },
        {
            "type": "true_false",
            "title": "Part II",
            "questions": [{"content": "A mill grinds.", "answer": True}],
        },
    ]
    paper = write(tmp_path, "paper.json", json.dumps({"exam": {"title": "Rivers", "sections": sections}}))
    assert read(paper) == [
        ("multiple_choice", "What feeds a lamp?", ["Corn", "Oil"], ["B"]),
        ("true_false", "A mill grinds.", [], ["true"]),
    ]
    passage = {
        "text": "Tim lives by the sea, sells fish and paints boats.",
        "questions": [{"question": "What does Tim sell?", "answer": "Fish"}],
    }
    found = read_landed(write(tmp_path, "passage.json", json.dumps([passage])))["questions"]
    assert [(one["material"], one["stem"]) for one in found] == [(passage["text"], "What does Tim sell?")]


def test_pairs_between_tabs_are_questions_and_answers_but_numbers_are_none(tmp_path: Path) -> None:
    cards = "What feeds a lamp?\tOil\nWhat feeds a mill?\tCorn\nWhat crosses a river?\tA ferry\n"
    assert read(write(tmp_path, "cards.txt", cards)) == [
        ("short_answer", "What feeds a lamp?", [], ["Oil"]),
        ("short_answer", "What feeds a mill?", [], ["Corn"]),
        ("short_answer", "What crosses a river?", [], ["A ferry"]),
    ]
    numbered = "1.\tWhat feeds a lamp?\n2.\tWhat feeds a mill?\n3.\tWhat crosses a river?\n"
    assert [stem for _, stem, _, _ in read(write(tmp_path, "paper.txt", numbered))] == [
        "What feeds a lamp?",
        "What feeds a mill?",
        "What crosses a river?",
    ]
    marked = (
        "What feeds a lamp?\t(2 marks)\nWhat feeds a mill?\t(3 marks)\nWhat crosses a river?\t(5 marks)\n"
    )
    assert all(not answer for *_, answer in read(write(tmp_path, "marks.txt", marked)))


def test_records_flag_their_right_options_or_name_them_by_id(tmp_path: Path) -> None:
    choices = [
        {"id": "o1", "text": "Corn", "is_correct": False},
        {"id": "o2", "text": "Oil", "is_correct": True},
    ]
    plain = [{"id": "o1", "text": "Corn"}, {"id": "o2", "text": "Oil"}]
    items = [
        {"uid": "n1", "body": "What feeds a lamp?", "choices": choices},
        {"uid": "n2", "body": "What feeds a mill?", "choices": plain, "answer": "o1"},
        {"uid": "n3", "body": "A lamp burns oil.", "kind": "TF", "correct": True},
    ]
    assert read(write(tmp_path, "bank.json", json.dumps({"quiz": {"items": items}}))) == [
        ("multiple_choice", "What feeds a lamp?", ["Corn", "Oil"], ["B"]),
        ("multiple_choice", "What feeds a mill?", ["Corn", "Oil"], ["A"]),
        ("true_false", "A lamp burns oil.", [], ["true"]),
    ]


def test_a_markdown_table_answers_the_questions_above_it(tmp_path: Path) -> None:
    text = (
        "# Quiz\n\n**1.** What feeds a lamp?\nA) Corn  B) Oil  C) Coal\n\n**2.** What is a granary for?\n\n"
        "## Key\n\n| Q | Answer |\n|---|---|\n| 1 | B |\n| 2 | Keeping corn. |\n"
    )
    assert read(write(tmp_path, "quiz.md", text)) == [
        ("multiple_choice", "What feeds a lamp?", ["Corn", "Oil", "Coal"], ["B"]),
        ("short_answer", "What is a granary for?", [], ["Keeping corn."]),
    ]


def test_the_rule_below_the_names_of_a_markdown_table_is_no_question(tmp_path: Path) -> None:
    text = (
        "# Quiz\n\n| No. | Question | A | B | C | Answer |\n|-----|------|---|---|---|---|\n"
        "| 1 | What feeds a lamp? | Corn | Oil | Coal | B |\n| 2 | What can be ground? | Corn | Oil | Coal | A |\n"
    )
    assert read(write(tmp_path, "quiz.txt", text)) == [
        ("multiple_choice", "What feeds a lamp?", ["Corn", "Oil", "Coal"], ["B"]),
        ("multiple_choice", "What can be ground?", ["Corn", "Oil", "Coal"], ["A"]),
    ]


def test_one_option_to_a_row_with_a_column_of_ticks(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["No.", "Question", "Option", "Is correct"],
        [1, "What feeds a lamp?", "Corn", None],
        [None, None, "Oil", "x"],
        [2, "What can be ground?", "Corn", "x"],
        [None, None, "Oil", None],
        [None, None, "Salt", "x"],
    ]
    assert read(write(tmp_path, "bank.xlsx", make_xlsx({"Sheet1": rows}))) == [
        ("multiple_choice", "What feeds a lamp?", ["Corn", "Oil"], ["B"]),
        ("multiple_choice", "What can be ground?", ["Corn", "Oil", "Salt"], ["A", "C"]),
    ]


def test_options_and_keys_named_by_the_heavenly_stems(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["序", "考题内容", "甲", "乙", "丙", "正确项"],
        [1, "点灯用什么？", "谷物", "油", "煤", "乙"],
    ]
    judged: list[list[object]] = [
        ["序", "考题内容", "结论（对/错）"],
        [1, "灯塔为船指路。", "对"],
        [2, "粮仓里存油。", "错"],
    ]
    assert read(write(tmp_path, "bank.xlsx", make_xlsx({"单选": rows, "判断": judged}))) == [
        ("multiple_choice", "点灯用什么？", ["谷物", "油", "煤"], ["B"]),
        ("true_false", "灯塔为船指路。", [], ["true"]),
        ("true_false", "粮仓里存油。", [], ["false"]),
    ]


def test_a_review_of_moodle_in_any_language_gives_the_right_answers_and_not_the_ticked_ones(
    tmp_path: Path,
) -> None:
    def show(number: int, state: str, stem: str, right: str, ticked: int) -> str:
        offered = "".join(
            f'<div><input type="radio" {"checked" if at == ticked else ""}><span class="answernumber">{"abc"[at]}. </span>'
            f"<p>{text}</p></div>"
            for at, text in enumerate(("жито", "овёс", "лён"))
        )
        return (
            f'<div class="que multichoice"><div class="info"><h3 class="no">Вопрос <span class="qno">{number}</span></h3>'
            f'<div class="state">{state}</div><div class="grade">Баллов: 1,00 из 1,00</div></div><div class="content">'
            f'<div class="qtext"><p>{stem}</p></div><div class="prompt">Выберите один ответ:</div><div class="answer">{offered}</div>'
            f'<div class="specificfeedback">Ваш ответ: {state}.</div><div class="rightanswer">{right}</div></div></div>'
        )

    page = (
        show(1, "Верно", "Что мелют на хлеб?", "Правильный ответ: жито", 0)
        + show(2, "Неверно", "Что дают коню?", "Правильный ответ: овёс", 2)
        + show(3, "Неверно", "Из чего ткут?", "Правильный ответ — «лён».", 0)
    )
    found = read(write(tmp_path, "review.html", f"<html><body>{page}</body></html>"))
    offered = ["жито", "овёс", "лён"]
    assert found == [
        ("multiple_choice", "Что мелют на хлеб?", offered, ["A"]),
        ("multiple_choice", "Что дают коню?", offered, ["B"]),
        ("multiple_choice", "Из чего ткут?", offered, ["C"]),
    ]
