"""Rules go straight to the lines that begin with certain characters.

No line that a rule's pattern matches begins with another character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache

import pytest

from tasks.ingest.content import keys, printed_marks, questions
from tasks.ingest.contracts import contents
from tasks.ingest.layout import (
    announcements,
    answer_marks,
    exports,
    furniture,
    heading_marks,
    headings,
    key_rows,
    mending,
    option_chains,
)
from tasks.ingest.words import cleaning, grammar, labels, lexicon
from tasks.ingest.words.answers import ANSWER_MARK, ANSWER_STARTS, match_answer, read_key
from tasks.ingest.words.word_lists import WORDS
from tests.benchmarks.ingest_mutations import PAPERS, SIZE, mutate
from tests.benchmarks.ingest_papers import make_paper
from tests.hunts import IS_WHOLE
from tests.tasks.ingest.test_layouts import CASES

pytestmark = pytest.mark.hunt

# Signs and letters put before a line: most patterns match what begins with some of them.
_BEFORE = "（([【〔《*#-_·★√×①一二三第题答解Aa1QＫſ\u212aİ 　"


@cache
def _list_lines() -> list[str]:
    """Lines of papers, and each with one of 32 signs before it; with four or five in a long run."""
    lines = {line for case in CASES for line in case["paper"].split("\n")}
    for seed, (language, options, answers) in enumerate(PAPERS):
        lines.update(
            line
            for _, changed in mutate(make_paper(SIZE, seed, language, options, answers))
            for line in changed[:40]
        )
    found = sorted(line for line in lines if line.strip())
    step = 7 if IS_WHOLE else 32
    return [
        *found,
        *(sign + line for place, line in enumerate(found) for sign in _BEFORE[place % step :: step]),
    ]


def _holds(starts: Collection[str]) -> Callable[[str], bool]:
    return lambda first: first in starts


RULES: dict[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "answer mark": (ANSWER_MARK, _holds(ANSWER_STARTS)),
    "any answer mark": (grammar.answer_mark(), grammar.may_open_answer),
    "answer heading": (answer_marks._ANSWER_HEADING, _holds(answer_marks._ANSWER_HEADING_STARTS)),
    "heading": (heading_marks._HEADING, heading_marks._may_open_heading),
    "stem": (exports._STEM, _holds(exports._STEM_STARTS)),
    "decoration": (mending._DECORATION, mending._may_decorate),
    "block of keys": (key_rows._KEY_LEAD, key_rows._may_open_block),
    "notice": (furniture._NOTICE, _holds("注考答说NnIiDdİı")),
    "bracket": (furniture._LEADING_BRACKET, _holds("（([")),
    "type tag": (printed_marks._GROUP, _holds(printed_marks._TAG_STARTS)),
    "marks": (headings.MARKS_GROUP, _holds(printed_marks._TAG_STARTS)),
}


@pytest.mark.parametrize("name", RULES)
def test_no_line_that_a_pattern_matches_is_passed_over(name: str) -> None:
    pattern, may_open = RULES[name]
    matched = [line for line in _list_lines() if (match := pattern.match(line)) and match.group(0).strip()]
    assert [line for line in matched if not may_open(line.lstrip()[0])] == []


# What a dear pattern finds, and what asks a cheap question first.
LOOKS: dict[str, tuple[Callable[[str], object], Callable[[str], object]]] = {
    "what asks": (lambda line: grammar.asking().match(line), grammar.begins_asking),
    "what answers": (ANSWER_MARK.match, match_answer),
    "odd signs at an end": (
        questions._ODD_END.search,
        lambda line: line.rstrip()[-1:] in questions._ODD_ENDS,
    ),
    "an option of a list": (
        headings.FIRST_OPTION.match,
        lambda line: line.lstrip()[:1] in headings._OPTION_STARTS,
    ),
}


@cache
def _write_lines() -> list[str]:
    """The same lines in capitals, after a verb, before a key."""
    lines, step = _list_lines(), 1 if IS_WHOLE else 3
    return [
        *lines,
        *(line.upper() for line in lines[:: 5 * step]),
        *(f"{line} B" for line in lines[:: 3 * step]),
        *(f"briefly {line}" for line in lines[1 :: 3 * step]),
    ]


@pytest.mark.parametrize("name", LOOKS)
def test_a_cheap_look_hides_nothing_that_a_pattern_finds(name: str) -> None:
    finds, looks = LOOKS[name]
    found = [line for line in _write_lines() if finds(line)]
    assert len(found) > 3
    assert [line for line in found if not looks(line)] == []


@pytest.mark.parametrize("name", sorted(announcements._HOLDS))
def test_no_announcement_is_passed_over(name: str) -> None:
    patterns = announcements._patterns()[name]
    found = [line for line in _write_lines() if any(pattern.search(line) for pattern in patterns)]
    assert found
    assert [line for line in found if not announcements._list_patterns(line, name)] == []


def test_what_no_key_holds_is_in_no_key() -> None:
    for key in ("B", "a、c", "A and C", "选项B", "option D", "①③", "甲乙", "（ABD）", "A和C", "B。"):
        assert read_key(key) is not None, key
    assert not [
        line
        for line in _write_lines()
        if read_key(line) and not set(read_key(line) or ()) <= set("ABCDEFGHIJ")
    ]
    assert read_key("A. the first of them") is None and read_key("乙方") is None


def test_a_stem_is_known_by_its_first_letters_however_many_signs_precede_them() -> None:
    assert keys._fold_start("  （1）Bridges stand") == "1bridg"
    assert keys._fold_start("—" * 60 + "Straße, breit") == "strass"
    assert keys._fold_start("— ? —") == ""


def test_the_language_of_a_text_is_that_of_most_of_it() -> None:
    assert cleaning.detect_language("桥的构件 abc") == "zh"
    assert cleaning.detect_language("桥墩 the pier of a bridge stands on rock") == "en"
    assert cleaning.detect_language("桥") == "zh" and cleaning.detect_language("7") is None


@pytest.mark.parametrize("line", ["", " ", "# ", "****", "【】", "##\t*"])
def test_a_line_of_nothing_but_signs_is_no_heading(line: str) -> None:
    assert headings.read_heading(line) is None


def test_no_label_is_passed_over() -> None:
    labelled = [line for line in _list_lines() if labels.parse_label(line) is not None]
    assert [line for line in labelled if not labels.may_label(line.lstrip()[0])] == []
    assert len(labelled) > 100


def test_every_name_of_a_type_is_found_by_its_ends() -> None:
    """In capitals, in traditional characters, and as it stands."""
    for name in (name for fine in lexicon.read_fine_types() for name in fine.names):
        for written in (name, name.upper(), name.replace("题", "題").replace("选择", "選擇")):
            assert lexicon.match_exactly(written) is not None, written


def test_every_status_line_is_found() -> None:
    for line in WORDS["status_lines"]:
        for written in (line, line.upper(), line.capitalize(), line.replace("#", "12.5")):
            assert grammar.is_status_line(written), written


@pytest.mark.parametrize(
    ("title", "name"),
    [("CHOOSE THE BEST ANSWER", "single_choice"), ("Select all", "multiple_answer"), ("Decide if it is T or F: say whether T/F", "true_false")],
)  # fmt: skip
def test_a_sentence_names_its_type_in_either_case(title: str, name: str) -> None:
    fine = lexicon.find_type_by_pattern(title)
    assert fine is not None and fine.name == name


def test_a_second_answer_and_a_heading_inside_a_question_are_looked_for_by_first_characters() -> None:
    for line in _list_lines():
        if contents._name_answer(line):
            assert line.lstrip()[0] in ANSWER_STARTS
        heading = headings.read_heading(line)
        if heading is not None and heading.label is not None and heading.label.style in ("cn", "part"):
            label = labels.parse_label(line)
            assert headings.may_open_title(line) if label is None else label.style in ("cn", "part"), line


@pytest.mark.parametrize(
    ("line", "is_choice", "styles"),
    [
        ("A. river    B. mill", True, {"stopped": "AB"}),
        ("(A) river (B) mill", True, {"bracketed": "AB"}),
        ("A river  B mill", True, {"spaced": "AB"}),
        ("A, river; B, mill", True, {"comma": "AB"}),
        ("a) river  b) mill", False, {"small_stopped": "AB"}),
        ("（a）河流 （b）磨坊", True, {"small_bracketed": "AB"}),
        ("Ⓐ河流 Ⓑ磨坊", False, {"circled": "AB"}),
        ("The mill, e. g. a river", False, {"small_stopped": "EG"}),
    ],
)
def test_the_letters_of_a_line_are_found_in_one_look(
    line: str, is_choice: bool, styles: dict[str, str]
) -> None:
    found = {
        style: "".join(mark[2] for mark in marks)
        for style, marks in option_chains.scan_line(line, is_choice).items()
    }
    assert {style: found.get(style) for style in styles} == styles
