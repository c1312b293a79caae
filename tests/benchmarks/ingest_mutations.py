"""Plain papers with one thing printed differently.

It measures how many of their questions are still read correctly.

Five papers (Chinese and English; answers in brackets, behind each question, at the end) and 90 changes of each: another
stop or bracket at numbers, options and answers, another word for a heading, other spacing, one line missing. A reader
made of lists of known marks falls off a cliff here; the changes are no list to be learned by heart.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.ingest.readers.formats import limit_runs
from tasks.ingest.reading import read_extraction
from tests.benchmarks.ingest_lines import Extraction, Line
from tests.benchmarks.ingest_papers import MadePaper, MadeQuestion, make_paper

# language, options, answers of each plain paper
PAPERS = (
    ("zh", "inline", "brackets"),
    ("zh", "stacked", "behind"),
    ("zh", "columns", "end"),
    ("en", "stacked", "behind"),
    ("en", "inline", "end"),
)
CHANGES = 90
SIZE = 3_400
_CN = "一二三四五六七八九十"
# not those of a key line, `9.√  10.×`
_FORM_OF_NUMBER = re.compile(r"^(\d{1,3})[.、] ?(?=\D)(?![√×]\s)")
_FORM_OF_OPTION = re.compile(r"(^|\s)([A-D])[.、] ")
_FORM_OF_ANSWER = re.compile(r"^(答案：|Answer: )")
_FORM_OF_EXPLANATION = re.compile(r"^(解析：|Explanation: )")
_FORM_OF_HEADING = re.compile(rf"^(?:([{_CN}])、|Part ([IV]+)\. )")
_FORM_OF_END = re.compile(r"^(参考答案|Answer Key)$")

Change = tuple[str, Callable[[list[str]], list[str]]]


@dataclass
class Outcome:
    """What became of one changed paper.

    It counts questions asked, read correctly, landed, and landed wrongly with confidence.
    """

    name: str
    asked: int
    right: int
    landed: int
    sure: int
    sure_wrong: int
    warnings: list[str]
    wrong: list[str] = field(default_factory=list)


def _spell(number: int) -> str:
    tens, ones = divmod(number, 10)
    return (("" if tens == 1 else _CN[tens - 1]) + "十" if tens else "") + (_CN[ones - 1] if ones else "")


def _roman(number: int) -> str:
    text = ""
    for value, letters in ((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
        text += letters * (number // value)
        number %= value
    return text


def _number(form: str) -> Callable[[list[str]], list[str]]:
    """Print the numbers of questions in another form.

    The forms are {n} Arabic, {c} Chinese, {f} full width, {r} Roman, {o} circled.
    """

    def change(lines: list[str]) -> list[str]:
        return [_FORM_OF_NUMBER.sub(lambda match: _write(form, int(match.group(1))), line) for line in lines]

    return change


def _write(form: str, number: int) -> str:
    wide = str(number).translate({48 + digit: 0xFF10 + digit for digit in range(10)})
    circled = chr(0x245F + number) if number <= 20 else chr(0x3251 + number - 21)
    return form.format(n=number, c=_spell(number), f=wide, r=_roman(number), o=circled, z=f"{number:02d}")


def _option(form: str) -> Callable[[list[str]], list[str]]:
    """Print the labels of options in another form.

    The forms are {l} capital, {s} small, {o} circled, {d} digit, {f} full width.
    """

    def write(match: re.Match[str]) -> str:
        place = "ABCD".index(match.group(2))
        label = form.format(
            l=match.group(2), s="abcd"[place], o="①②③④"[place], d=place + 1, f=chr(0xFF21 + place)
        )
        return match.group(1) + label

    return lambda lines: [_FORM_OF_OPTION.sub(write, line) for line in lines]


def _answer(form: str) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        changed = []
        for line in lines:
            mark = _FORM_OF_ANSWER.match(line)
            changed.append(form.format(a=line[mark.end() :]) if mark else line)
        return changed

    return change


def _replace(pattern: re.Pattern[str], text: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [pattern.sub(lambda _: text, line) for line in lines]


def _heading(form: str) -> Callable[[list[str]], list[str]]:
    """Print the numbers of sections in another form.

    The forms are {c} Chinese, {n} Arabic, {R} Roman, {A} letter, {w} word.
    """
    words = ("One", "Two", "Three", "Four", "Five")

    def change(lines: list[str]) -> list[str]:
        def write(match: re.Match[str]) -> str:
            n = (
                _CN.index(match.group(1)) + 1
                if match.group(1)
                else ["I", "II", "III", "IV", "V"].index(match.group(2)) + 1
            )
            return form.format(
                c=_CN[n - 1], n=n, R=_roman(n).upper(), A="ABCDEFGH"[n - 1], w=words[(n - 1) % 5]
            )

        return [_FORM_OF_HEADING.sub(write, line) for line in lines]

    return change


def _words(pairs: dict[str, str]) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        for old, new in pairs.items():
            lines = [line.replace(old, new) for line in lines]
        return lines

    return change


def _drop(pattern: re.Pattern[str], place: int) -> Callable[[list[str]], list[str]]:
    """Leave out the line that matches for the `place`-th time."""

    def change(lines: list[str]) -> list[str]:
        found = [index for index, line in enumerate(lines) if pattern.search(line)]
        return [line for index, line in enumerate(lines) if place >= len(found) or index != found[place]]

    return change


def list_changes() -> list[Change]:
    """Every change with its name; one that changes nothing in a paper is not counted there."""
    numbers = (
        "{n}、 {n}． {n}, {n}， {n}) {n}） ({n}) （{n}） [{n}] 【{n}】 {n}: {n}： {n}。 {n}- {n}-- {n}> {n}] {n}· {n}/ <{n}> {n}．） {z}. {f}． {o} ({r}) "
        "第{n}题 第{n}题： 第{c}题 第{n}题、 Q{n}. Q{n} Q{n}: Q{n}) No.{n} Question#{n}: Question#{n}. Problem#{n}: #{n} 题{n}： 题目{n}: ★{n}."
    )
    options = "{l}、 {l}． {l}) {l}） ({l}) （{l}） {l}: {l}： {l}, {l}， [{l}] 【{l}】 {l}- {l}> {l}] {l}。 {l}# {s}. {s}) ({s}) {s}> {f}． {o} {d}) ({d})"
    answers = (
        "答案:{a}|答案 {a}|【答案】{a}|[答案]{a}|参考答案：{a}|正确答案：{a}|正确答案是{a}|答案是：{a}|答案为{a}|答：{a}|标准答案：{a}|（答案：{a}）|本题答案：{a}|"
        "Ans: {a}|Ans. {a}|Ans- {a}|Answer {a}|Answer - {a}|ANSWER: {a}|Key: {a}|Correct answer: {a}|The correct answer is {a}|答案→{a}|※答案：{a}|答案—{a}|Answer={a}"
    )
    headings = "{c}. |{c}。|{c}．|{c}，|{c} |（{c}）|第{c}部分 |第{c}大题 |第{c}题 |Part {R}: |Part {R} - |PART {w}. |Section {A}: |SECTION {R}. |{R}. |{R}、|{A}. |Part {w}: |【{c}】|◆ {c}、|"
    ends = "答案|标准答案|参考答案及评分标准|【参考答案】|附：参考答案|试题答案：|答案部分|Answers|ANSWERS:|Solutions|Key|评分标准|答案与解析|== 参考答案 =="
    found: list[Change] = []
    # `#` stands for a space that belongs to the form
    found += [(f"number {form}", _number(form.replace("#", " ") + " ")) for form in numbers.split()]
    found += [(f"option {form}", _option(form.replace("#", " ") + " ")) for form in options.split()]
    found += [(f"answer {form}", _answer(form)) for form in answers.split("|")]
    found += [(f"end {form}", _replace(_FORM_OF_END, form)) for form in ends.split("|")]
    found += [(f"heading {form}", _heading(form)) for form in headings.split("|")]
    found += [
        ("number without a space", lambda lines: [re.sub(r"^(\d+[.、]) ", r"\1", line) for line in lines]),
        ("option without a space", lambda lines: [re.sub(r"(^|\s)([A-D][.、]) ", r"\1\2", line) for line in lines]),
        ("indent", lambda lines: ["    " + line for line in lines]),
        ("wide indent", lambda lines: ["　　" + line for line in lines]),
        ("blank lines", lambda lines: [one for line in lines for one in (line, "")]),
        ("trailing spaces", lambda lines: [line + "   " for line in lines]),
        ("wide spaces", lambda lines: [line.replace(" ", "　") for line in lines]),
        ("hard spaces", lambda lines: [line.replace(" ", "\u00a0") for line in lines]),
        ("space before the stop", lambda lines: [re.sub(r"^(\d+)([.、])", r"\1 \2", line) for line in lines]),
        ("types by other names", _words({"单项选择题": "单选", "判断题": "是非题", "填空题": "填空", "简答题": "问答题", "Multiple Choice": "Objective Questions", "True or False": "T/F", "Fill in the Blanks": "Completion", "Short Answer Questions": "Short Questions"})),
        ("types in capitals", lambda lines: [line.upper() if line.startswith("Part ") else line for line in lines]),
        ("no marks in headings", lambda lines: [re.sub(r"（每.*?）$| \(\d+ points? each\)$", "", line) for line in lines]),
        ("marks first", lambda lines: [re.sub(r"^([^（]+、)(.+?)（(每.*?)）$", r"\1（\3）\2", line) for line in lines]),
        ("no explanations", lambda lines: [line for line in lines if not _FORM_OF_EXPLANATION.match(line)]),
        ("explanations in thick brackets", _replace(_FORM_OF_EXPLANATION, "【解析】")),
        ("empty brackets", lambda lines: [line.replace("（ ）", "（）").replace("( )", "()") for line in lines]),
        ("wide empty brackets", lambda lines: [line.replace("（ ）", "（    ）").replace("( )", "(    )") for line in lines]),
    ]  # fmt: skip
    for place in (0, 2, 5):
        found += [
            (f"number {place + 1} missing", _drop(_FORM_OF_NUMBER, place)),
            (f"option line {place + 1} missing", _drop(re.compile(r"^[A-D][.、] "), place)),
            (f"answer {place + 1} missing", _drop(_FORM_OF_ANSWER, place)),
        ]
    found += [(f"heading {place + 1} missing", _drop(_FORM_OF_HEADING, place)) for place in range(3)]
    return found


def mutate(paper: MadePaper) -> Iterator[tuple[str, list[str]]]:
    """The first 90 changes that change something in this paper, spread over all kinds."""
    changed = [(name, change(list(paper.lines))) for name, change in list_changes()]
    changed = [(name, lines) for name, lines in changed if lines != paper.lines]
    step = len(changed) / min(CHANGES, len(changed))
    yield from (changed[int(place * step)] for place in range(min(CHANGES, len(changed))))


def read_lines(lines: Sequence[str | Line]) -> dict[str, Any]:
    """What would be landed of these lines."""
    document: dict[str, Any] = {
        "document_id": "00000000-0000-0000-0000-000000000000",
        "document_name": "paper.txt",
        "source_path": "paper.txt",
        "source_kind": "other",
        "discipline": None,
        "sub_discipline": None,
        "error": None,
        "warnings": [],
    }
    extraction = limit_runs(
        Extraction("text", "utf-8", lines=[Line(one) if isinstance(one, str) else one for one in lines])
    )
    return read_extraction(extraction, Path("paper.txt"), document, {"confidence_threshold": 0.6})


def fold(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(character for character in text if character.isalnum())


def is_right(question: MadeQuestion, read: dict[str, Any]) -> bool:
    """Whether a question was read as it was made: stem, type, options, answer."""
    return (
        _same_stem(question, read)
        and read["question_type"] == question.question_type
        and [fold(option["text"]) for option in read["options"]] == [fold(text) for text in question.options]
        and [fold(text) for text in read["answer"]] == [fold(text) for text in question.answer]
    )


def _same_stem(question: MadeQuestion, read: dict[str, Any]) -> bool:
    wanted = fold(question.stem)
    got = fold((read["material"] or "") + read["stem"])
    # the line that only says to read and answer belongs to neither
    if got == wanted:
        return True
    lines = [read["material"] or "", *read["stem"].split("\n")]
    return (
        bool(read["material"])
        and all(fold(line) in wanted for line in lines)
        and len(got) > 0.9 * len(wanted)
    )


def judge(name: str, lines: Sequence[str], paper: MadePaper) -> Outcome:
    """Read a changed paper and compare it with what was asked.

    Questions whose lines are gone are not asked for.
    """
    # one line was left out: the question that it belonged to cannot be right any more, and is not counted
    first = next((index for index, line in enumerate(lines) if line != paper.lines[index]), len(lines))
    gone = [first] if name.endswith("missing") else []
    touched = {place for place, question in enumerate(paper.questions) if _is_touched(question, gone, paper)}
    asked = [question for place, question in enumerate(paper.questions) if place not in touched]
    result = read_lines(lines)
    landed = result["questions"]
    right = [question for question in asked if any(is_right(question, read) for read in landed)]
    sure = [read for read in landed if read["parse_confidence"] >= 0.9]
    excused = [question for place, question in enumerate(paper.questions) if place in touched]
    sure_wrong = [
        read
        for read in sure
        if not any(is_right(question, read) for question in asked)
        and not any(fold(question.stem)[:12] in fold(read["stem"]) for question in excused)
    ]
    missed = [question.stem[:40] for question in asked if question not in right]
    return Outcome(
        name,
        len(asked),
        len(right),
        len(landed),
        len(sure),
        len(sure_wrong),
        result["document"]["warnings"],
        missed,
    )


def _is_touched(question: MadeQuestion, gone: Sequence[int], paper: MadePaper) -> bool:
    for own in gone:
        if _FORM_OF_HEADING.match(paper.lines[own]):
            continue  # its questions are asked all the same
        number = next(
            (index for index in range(own, -1, -1) if _FORM_OF_NUMBER.match(paper.lines[index])), None
        )
        stem = fold(paper.lines[number].replace("√", "").replace("×", "")) if number is not None else ""
        if fold(question.stem.split("\n")[0])[:20] in stem:
            return True
    return False


Changed = tuple[str, list[str]]


def run(choose: Callable[[list[Changed]], list[Changed]] = list) -> list[list[Outcome]]:
    """The changes of all papers, paper by paper; the first of each is the paper as it is."""
    outcomes: list[list[Outcome]] = []
    for seed, (language, options, answers) in enumerate(PAPERS):
        paper = make_paper(SIZE, seed, language, options, answers)
        found = [judge("as it is", paper.lines, paper)]
        found += [judge(name, lines, paper) for name, lines in choose(list(mutate(paper)))]
        outcomes.append(found)
    return outcomes


def summarise(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Shares over changed papers.

    They are questions right, papers fully right, papers below half without a warning, and sure and wrong.
    """
    asked = sum(one.asked for one in outcomes)
    return {
        "questions_right": sum(one.right for one in outcomes) / asked,
        "papers_right": sum(one.right == one.asked for one in outcomes) / len(outcomes),
        "papers_below_half": sum(one.right < 0.5 * one.asked for one in outcomes),
        "silent_below_half": sum(one.right < 0.5 * one.asked and not one.warnings for one in outcomes),
        "sure_wrong": sum(one.sure_wrong for one in outcomes) / max(1, sum(one.sure for one in outcomes)),
    }


def main(arguments: Sequence[str] = ()) -> None:
    """Print the results of each plain paper's changes.

    With `-v` the changes that lose questions are printed, too.
    """
    everything: list[Outcome] = []
    for paper, found in zip(PAPERS, run(), strict=True):
        everything += found[1:]
        print(f"{' '.join(paper)}: as it is {found[0].right}/{found[0].asked}; {render(found[1:])}")
        if "-v" in arguments:
            for one in found[1:]:
                if one.right < one.asked or one.sure_wrong:
                    state = f"{one.right}/{one.asked}, landed {one.landed}, sure and wrong {one.sure_wrong}/{one.sure}"
                    print(f"    {one.name!r}: {state}{'' if one.warnings else ', silent'}")
    print(f"all: {render(everything)}")


def render(outcomes: Sequence[Outcome]) -> str:
    """The figures of some changed papers in one line."""
    figures = summarise(outcomes)
    return (
        f"{len(outcomes)} changes, questions right {figures['questions_right']:.1%}, papers fully right "
        f"{figures['papers_right']:.1%}, below half {figures['papers_below_half']} ({figures['silent_below_half']} silent), "
        f"wrong of those sure {figures['sure_wrong']:.1%}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
