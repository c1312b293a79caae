"""What a paper says of itself is held against what was read of it (contracts.yaml)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.ingest.content.drafts import Draft
from tasks.ingest.contracts import Breach, Checked
from tasks.ingest.contracts.asking import is_no_paper
from tasks.ingest.contracts.checking import check_reading, describe_breaches
from tasks.ingest.contracts.contents import list_held
from tasks.ingest.contracts.readings import Reading, Stretch
from tasks.ingest.layout.announcements import read_announcement, read_range
from tasks.ingest.layout.outlines import Outline
from tasks.ingest.layout.pieces import PASSAGE, make_pieces
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.splitting import ReadPaper, Split, split_lines
from tests.benchmarks.ingest_accuracy import read_landed

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "contracts.yaml").read_text(encoding="utf-8")
)


def split(paper: str) -> Split:
    lines = [Line(line) for line in paper.rstrip("\n").split("\n")]
    _, starts, _ = join_lines(lines)
    return split_lines(lines, starts)


def list_contracts(checked: Checked) -> list[str]:
    return [breach.contract for breach in checked.breaches]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["contract"])
def test_a_paper_that_is_as_it_says_keeps_the_contract(case: dict[str, Any]) -> None:
    checked = split(case["keeps"]).checked
    assert case["contract"] not in list_contracts(checked)
    assert checked.score == 1.0 and checked.kept > 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["contract"])
def test_a_reading_that_is_not_as_the_paper_says_breaks_it(case: dict[str, Any]) -> None:
    checked = split(case["breaks"]).checked
    breach = next(one for one in checked.breaches if one.contract == case["contract"])
    assert breach.size == case["breach"]
    assert case["words"] in breach.words
    assert 0 <= breach.place < len(case["breaks"])
    assert checked.score < 1.0


def test_lines_that_ask_and_that_nothing_claims_are_reported_and_change_no_reading() -> None:
    tools = "Tools\n1 What is a mill?\n2 What is a kiln?\n"
    beasts = "Beasts\n1) When do hens lay?\n2) When do bees swarm?\n"
    alone, both = split(beasts), split(tools + beasts)
    assert [draft.stem for draft in both.drafts] == [draft.stem for draft in alone.drafts]
    assert (list_contracts(alone.checked), list_contracts(both.checked)) == ([], ["asking_claimed"])
    assert "2 lines ask and belong to no question (from '1 What is a mill?', character 6" in both.warnings[0]


@pytest.mark.parametrize(("count", "breaches"), [(2, []), (6, ["parts_few"])])
def test_a_section_read_as_one_question_holds_no_long_list(count: int, breaches: list[str]) -> None:
    texts = ["SECTION A", *(f"{number}. What is its span?" for number in range(1, count + 1))]
    lines = [Line(text) for text in texts]
    raw, starts, _ = join_lines(lines)
    draft = Draft(number_label="SECTION A", value=1, section=1, marks=5, end=len(raw))
    stretch = Stretch(1, 0, 1, "part", heading="SECTION A", is_question=True)
    checked, _ = check_reading(Reading([draft], make_pieces(lines, starts), [stretch]))
    assert list_contracts(checked) == breaches


@pytest.mark.parametrize(
    ("title", "breaches"), [("三、判断题（共6分，每小题2分）", ["announced_here"]), ("三、判断题", [])]
)
def test_a_question_holds_no_line_that_announces_others(title: str, breaches: list[str]) -> None:
    lines = [Line("2. 橡木为何能浮？"), Line(f"得分  {title}")]
    raw, starts, _ = join_lines(lines)
    draft = Draft(number_label="2.", value=2, stem="橡木为何能浮？", end=len(raw))
    checked, _ = check_reading(Reading([draft], make_pieces(lines, starts)))
    assert list_contracts(checked) == breaches


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("一、单项选择题（共20分，每小题2分）", (10,)),
        ("二、填空题（每空1分，共20分）", None),
        ("三、判断题（10×1分=10分）", (10, 1)),
        ("本大题共4小题，共28分", (4,)),
        ("Answer ALL ten questions", (10,)),
        ("Section B: 5 points each, 25 points total", (5,)),
        ("Choose any two of the following", (2,)),
        ("四、简答题（30分）", None),
        ("第三题 设有10个球", None),
        ("一、选择题 10×2=20分", (10, 2)),
    ],
)
def test_announcements_are_read_in_marks_and_in_words(text: str, counts: tuple[int, ...] | None) -> None:
    announced = read_announcement(text)
    assert (announced.counts if announced else None) == counts


@pytest.mark.parametrize(
    ("text", "named"),
    [("Questions 1-15 carry one mark", (1, 15)), ("第1~10题，每题2分", (1, 10)), ("pages 3-9", None)],
)
def test_a_range_of_questions_is_read(text: str, named: tuple[int, int] | None) -> None:
    assert read_range(text) == named


def test_many_breaches_of_one_contract_are_one_sentence() -> None:
    breaches = tuple(Breach("number_runs", place, 1, f"Gap {place}.") for place in range(5))
    assert describe_breaches(Checked(breaches)) == ["Not read: Gap 0. So do 4 more."]


@pytest.mark.parametrize(("divided_at", "breaches"), [("题", []), ("（", ["series"])])
def test_what_is_numbered_on_through_the_paper_is_a_question_or_a_heading(
    divided_at: str, breaches: list[str]
) -> None:
    texts = [
        text
        for number in "一二三"
        for text in (f"题{number}.（40分）", "一根木梁架在两个支点上。", "（1）求挠度；", "（2）求反力。")
    ]
    lines = [Line(text) for text in texts]
    raw, starts, _ = join_lines(lines)
    begins = [start for start, text in zip(starts, texts, strict=True) if text.startswith(divided_at)]
    drafts = [
        Draft(stem=f"求{start}", start=start, end=end, marks=5)
        for start, end in zip(begins, [*begins[1:], len(raw)], strict=True)
    ]
    checked, _ = check_reading(Reading(drafts, make_pieces(lines, starts)))
    assert list_contracts(checked) == breaches


def test_a_score_table_with_spare_columns_promises_nothing_where_the_marks_are_complete() -> None:
    paper = "题号 一 二 三 四 总分\n一、填空题（共40分）\n1. 桥由____组成。\n二、简答题（共60分）\n1. 什么是拱？\n"
    assert split(paper).checked.score == 1.0
    assert "score_table" in list_contracts(split(paper.replace("60分", "20分")).checked)


def count_breaches(texts: list[str], step: int) -> list[tuple[str, int]]:
    """The contracts that are broken where a question begins at every `step`th line."""
    lines = [Line(text) for text in texts]
    raw, starts, _ = join_lines(lines)
    begins = starts[::step]
    drafts = [
        Draft(stem="which", start=start, end=end, marks=1)
        for start, end in zip(begins, [*begins[1:], len(raw)], strict=True)
    ]
    checked, _ = check_reading(Reading(drafts, make_pieces(lines, starts)))
    return [(one.contract, one.size) for one in checked.breaches if one.contract in ("closed", "asked")]


def test_lines_that_end_with_an_answer_in_one_form_are_as_many_as_the_questions() -> None:
    texts = [text for key in "ABABBA" for text in ("One of these floats.", f"Richtig ist: {key}")]
    assert count_breaches(texts, 2) == []
    assert count_breaches(texts, 4) == [("closed", 3)]
    assert count_breaches(["One of these floats.", "Ahorn B"] * 4, 4) == []  # too few to be a form


def test_lines_that_ask_and_alternate_with_others_are_as_many_as_the_questions() -> None:
    texts = [text for number in range(12) for text in (f"木材{'甲乙丙丁'[number % 4]}产于( )", "南方")]
    assert count_breaches(texts, 2) == []
    assert count_breaches(texts, 6) == [("asked", 8)]


def test_an_announced_count_ends_where_a_further_paper_begins() -> None:
    heading = "一、填空题（共2题）"
    lines = [Line(text) for text in (heading, *(f"{number}. 桥由____组成。" for number in (1, 2, 1, 2, 3)))]
    raw, starts, _ = join_lines(lines)
    stretch = Stretch(1, 0, 1, "cn", heading=heading)

    def list_broken(values: list[int]) -> list[str]:
        drafts = [
            Draft(stem="桥由____组成。", value=value, section=1, start=start, end=end)
            for value, start, end in zip(values, starts[1:], [*starts[2:], len(raw)], strict=False)
        ]
        return list_contracts(check_reading(Reading(drafts, make_pieces(lines, starts), [stretch]))[0])

    assert "announced_count" not in list_broken([1, 2, 1, 2, 3])
    assert "announced_count" in list_broken([1, 2, 3, 4, 5])


def test_lists_below_lines_that_ask_nothing_are_no_options(tmp_path: Path) -> None:
    recipe = "\n".join(
        f"{drink}: 两包茶叶+{minutes}分钟:\n- 中杯: 20g糖+冰\n- 大杯: 30g糖+冰"
        for minutes, drink in enumerate(("磨坊茶", "码头茶", "渡船茶", "灯塔茶", "集市茶"), start=3)
    )
    path = tmp_path / "kitchen.txt"
    path.write_text(recipe, encoding="utf-8")
    assert read_landed(path)["questions"] == []


@pytest.mark.parametrize(
    ("stems", "breaches"),
    [(("9 Bogen", "10 Platte", "11 Seil"), ["numbers_out"]), (("9 Bogen", "12 Platte", "7 Seil"), [])],
)
def test_numbers_that_rise_from_stem_to_stem_are_no_text(stems: tuple[str, ...], breaches: list[str]) -> None:
    drafts = [Draft(stem=f"{stem} tragen was?", start=place) for place, stem in enumerate(stems)]
    checked, _ = check_reading(Reading(drafts, ()))
    assert list_contracts(checked) == breaches


def test_numbers_that_run_on_below_a_passage_count_and_the_passage_is_what_they_are_about() -> None:
    texts = [
        "1. 谁在等船？",
        "2. 船何时靠岸？",
        "（一）",
        "水车在冬天停转。",
        "3. 水车何时停转？",
        "4. 谁换下叶片？",
    ]
    lines = [Line(text) for text in texts]
    raw, starts, _ = join_lines(lines)
    pieces = make_pieces(lines, starts)
    drafts = [
        Draft(number_label=label, value=value, stem="何时？", start=starts[line], end=end)
        for label, value, line, end in (
            ("1.", 1, 0, starts[1]),
            ("2.", 2, 1, starts[2]),
            ("（一）", 1, 2, len(raw)),
        )
    ]
    numbers, passages = list_held(Reading(drafts, pieces))
    assert sorted(numbers) == [starts[0], starts[1], starts[4], starts[5]]
    assert passages == {starts[2]}
    _, _, title, *_ = Outline(numbers=numbers, passages=passages, given=True).label(pieces)
    assert (title.text, title.label) == (PASSAGE, None)
    # what begins again at 1 is parts of the question
    texts[4:] = ["1. 水车何时停转？", "2. 谁换下叶片？"]
    assert list_held(Reading(drafts, make_pieces([Line(text) for text in texts], starts))) == (
        {},
        frozenset(),
    )


def test_many_lines_that_set_tasks_are_more_than_a_few_questions() -> None:
    tasks = [f"Explain how part {letter} of a mill works." for letter in "ABCDEFGHIJKL"]
    lines = [Line(text) for text in tasks]
    raw, starts, _ = join_lines(lines)

    def list_broken(count: int) -> list[str]:
        begins = starts[:: len(starts) // count]
        ends = [*begins[1:], len(raw)]
        drafts = [
            Draft(stem="Explain", start=first, end=end, marks=1)
            for first, end in zip(begins, ends, strict=True)
        ]
        return list_contracts(check_reading(Reading(drafts, make_pieces(lines, starts)))[0])

    assert "asked" in list_broken(2)
    assert "asked" not in list_broken(4)


@pytest.mark.parametrize(
    ("end", "breaches"), [("Answer key\nSee the other booklet.", ["answered"]), ("Answer sheet", [])]
)
def test_choices_without_a_key_are_told_where_the_paper_prints_answers(end: str, breaches: list[str]) -> None:
    asked = "".join(f"{n}. Which wheel turns in mill {n}?\nA. oak\nB. elm\nC. ash\n" for n in range(1, 6))
    read = split(f"Mill test\n{asked}{end}\n")
    assert [one for one in list_contracts(read.checked) if one == "answered"] == breaches
    assert all(("answer_part_without_it" in draft.notes) == bool(breaches) for draft in read.drafts)


_MILLS = [f"Which {part} of the mill was built first?" for part in ("wheel", "floor", "stone", "roof")]
_OFFERED = "\nA. the old one\nB. the new one\nC. neither"


@pytest.mark.parametrize(
    ("before", "below", "form"),
    [
        (_MILLS, ["Where does its water come from?", "Who owns it?"], "{}. "),
        (_MILLS, [f"Where does water {letter} go?" for letter in "abcdef"], "({}) "),
        ([f"{text}{_OFFERED}" for text in _MILLS], ["Its water is warm", "Its owner is rich"], "{}) "),
        ([f"{text}{_OFFERED}\nAnswer: A" for text in _MILLS], ["It turns. ( )", "It stands. ( )"], "Q{}. "),
        (["水轮由____带动。", "石盘由____凿成。"], ["渡船何时开？", "绳桩在何处？", "谁守渡口？"], "{}、"),
    ],
)
def test_a_list_that_begins_again_below_a_complete_question_is_a_further_list(
    before: list[str], below: list[str], form: str
) -> None:
    texts = [form.format(number) + text for some in (before, below) for number, text in enumerate(some, 1)]
    found = split("\n".join(texts))
    assert [draft.stem for draft in found.drafts] == [text.partition("\n")[0] for text in (*before, *below)]
    assert found.checked.breaches == ()


@pytest.mark.parametrize(
    "below",
    [
        "\n1. Who was here?\n2. Who mended it?\n4. Which mill is this?",  # the numbers around it go on
        " Answer the following:\n1. Who was here?\n2. Who mended it?",
        "\n1. It is old.\n2. It is new.\nA. only 1\nB. only 2\nC. 1 and 2",
        "\nAnswer: for two reasons\n1. It is old.\n2. It is wet.",
        "\n(1) Who was here?\n(2) Who mended it?",
    ],
)
def test_a_list_that_its_question_needs_or_names_is_of_its_parts(below: str) -> None:
    mills = [f"{number}. {text}" for number, text in enumerate(_MILLS[:3], 1)]
    found = split("\n".join(mills) + below)
    assert "own" not in list_contracts(found.checked)
    assert [draft.value for draft in found.drafts][:3] == [1, 2, 3]
    assert len(found.drafts) == 3 + below.count("4. ")


def test_a_list_that_may_be_steps_of_the_last_question_is_named_with_its_place() -> None:
    texts = [*(f"{number}. {text}" for number, text in enumerate(_MILLS, 1)), "1. Open it.", "2. Turn it."]
    (words,) = split("\n".join(texts)).warnings
    assert words.endswith("(2 from character 175 of the text on).")


@pytest.mark.parametrize("number", ["（{}）", "{}. "])
def test_no_heading_is_a_question_whose_parts_have_the_marks_of_questions_below_another(number: str) -> None:
    terms = [
        number.format(place) + f"History of the {part}" for place, part in enumerate(("weir", "race"), 1)
    ]
    offered = [number.format(place) + f"{text}{_OFFERED}" for place, text in enumerate(_MILLS, 1)]
    found = split("\n".join(["Part I", *terms, "Part II", *offered]))
    assert len(found.drafts) == len(terms) + len(offered) or "parts_few" in list_contracts(found.checked)


def test_where_contracts_tie_marks_that_mean_the_same_decide() -> None:
    def read(asking: int, score: float = 1.0) -> ReadPaper:
        stretches = [Stretch(place, place, place, "cn", is_question=place < asking) for place in range(8)]
        return ReadPaper([], [], "zh", [], stretches, Checked(score=score), [], ())

    assert read(8).exceeds(read(4))
    assert not read(4).exceeds(read(8))
    assert not read(8).exceeds(read(8))
    assert read(4).exceeds(read(8, score=0.9))


def test_numbered_rows_of_a_table_are_never_lost_without_a_word() -> None:
    rows = [
        ("#", "Statement", "Agree", "Disagree"),
        *((f"{number}", f"The harbour of town {number} is open at night.", "", "") for number in range(4, 9)),
    ]
    lines = [
        *(
            Line(text)
            for text in (
                "SECTION 1 – MULTIPLE CHOICE",
                *(f"{n}. Which is {n}? A. one B. two" for n in (1, 2, 3)),
            )
        ),
        Line("SECTION 2 – TRUE OR FALSE"),
        *(Line(" | ".join(row), kind="table", cells=row, table=1) for row in rows),
        *(Line(text) for text in ("SECTION 3 – WRITTEN", "9. List four signals.", "10. What is a buoy?")),
    ]
    _, starts, _ = join_lines(lines)
    found = split_lines(lines, starts)
    held = "\n".join(draft.stem for draft in found.drafts)
    assert all(row[1] in held for row in rows[1:]) or "numbered_lines" in list_contracts(found.checked)


@pytest.mark.parametrize(("first", "breaches"), [(0, []), (2, ["number_runs"])])
@pytest.mark.parametrize("form", ["{}. Grind the grain {}.", "{}、磨谷{}袋。"])
def test_a_section_does_not_begin_in_the_middle_of_a_list(form: str, first: int, breaches: list[str]) -> None:
    lines = [Line(form.format(number, number)) for number in (1, 2, 3, 4)]
    raw, starts, _ = join_lines(lines)
    drafts = [
        Draft(stem=f"Grind {value}", value=value, number_label=f"{value}.", start=start, end=end)
        for value, (start, end) in enumerate(zip(starts, [*starts[1:], len(raw)], strict=True), start=1)
    ]
    checked, _ = check_reading(Reading(drafts[first:], make_pieces(lines, starts)))
    assert [one for one in list_contracts(checked) if one == "number_runs"] == breaches


def test_a_text_above_statements_makes_no_questions_of_them() -> None:
    """News under numbers: paragraphs between them were passages, and 186 of them a paper."""

    def make(stem: str, number: int) -> Draft:
        return Draft(number_label=f"{number}.", value=number, section=0, stem=stem, material="四月要闻。")

    news = [make(f"{month}月1日，两国外长举行会谈。", month) for month in range(1, 13)]
    assert is_no_paper(news)
    assert not is_no_paper([make(f"第{number}段的主旨是什么？", number) for number in range(1, 4)])
    assert not is_no_paper([*news[:3], make("这段话的主旨是什么？", 4)])
