"""How a sample paper is set: its questions as the lines that a printed paper shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from deployments.demo.sources import Paper, PaperSection, SourceQuestion

_WORDS = {
    "zh": {
        "answer": "答案：",
        "explanation": "解析：",
        "key_heading": "参考答案",
        "material": "材料：",
        "true": "正确",
        "false": "错误",
        "and": "；",
        "sub_number": "（{}）",
        "stop": "．",
    },
    "en": {
        "answer": "Answer: ",
        "explanation": "Explanation: ",
        "key_heading": "Answer Key",
        "material": "",
        "true": "True",
        "false": "False",
        "and": "; ",
        "sub_number": "({}) ",
        "stop": ". ",
    },
}
_BRACKETS = "（ ）"
_NUMBER_FORMS = {
    "typed": {"zh": "{}．", "en": "{}. "},
    "typed_restart": {"zh": "{}. ", "en": "{}. "},
    "typed_enumerator": {"zh": "{}、", "en": "{}) "},
    "q_numbers": {"zh": "第{}题 ", "en": "Q{}. "},
}


@dataclass(frozen=True)
class PaperLine:
    """A paragraph; `numbered` names its automatic list, which `starts_list` begins again."""

    role: str
    text: str
    numbered: str = ""
    starts_list: bool = False


def render_lines(paper: Paper) -> list[PaperLine]:
    """Set the paper in its layout: title, headings, questions with options, and answers."""
    return [PaperLine("title", paper.title), *_body(paper), *_key(paper)]


def _body(paper: Paper) -> Iterator[PaperLine]:
    is_automatic = paper.layout["numbering"] == "automatic"
    for section in paper.sections:
        heading = (
            re.sub(r"^[一二三四五六七八九十]+、", "", section.heading) if is_automatic else section.heading
        )
        yield PaperLine("heading", heading, "section" if is_automatic else "")
        for position, question in enumerate(section.questions, start=1):
            yield from _question(paper, question, position)


def _question(paper: Paper, question: SourceQuestion, position: int) -> Iterator[PaperLine]:
    words = _WORDS[paper.language]
    placing = paper.layout["answers"]
    stem = question.stem
    if placing == "in_brackets" and question.question_type == "multiple_choice":
        stem = stem.replace(_BRACKETS, f"（ {''.join(question.answer)} ）")
    if placing == "in_brackets" and question.question_type == "true_false":
        stem += "（√）" if question.answer == ("true",) else "（×）"
    if paper.layout["numbering"] == "automatic":
        yield PaperLine("question", stem, "question")
    else:
        yield PaperLine("question", _number(paper, question, position) + stem)
    if question.material:
        yield PaperLine("text", words["material"] + question.material)
    for index, sub in enumerate(question.sub_questions, start=1):
        yield PaperLine("text", words["sub_number"].format(index) + sub.stem)
    yield from _options(paper, question)
    is_answered_above = question.question_type in ("multiple_choice", "true_false")
    if placing == "after_each" or (placing == "in_brackets" and not is_answered_above):
        answers = answer_lines(paper, question)
        yield PaperLine("text", words["answer"] + answers[0])
        yield from (PaperLine("text", text) for text in answers[1:])
    if placing in ("after_each", "in_brackets") and question.explanation:
        yield PaperLine("text", words["explanation"] + question.explanation)


def _number(paper: Paper, question: SourceQuestion, position: int) -> str:
    numbering = paper.layout["numbering"]
    number = position if numbering == "typed_restart" else question.number
    return _NUMBER_FORMS[numbering][paper.language].format(number)


def _options(paper: Paper, question: SourceQuestion) -> Iterator[PaperLine]:
    if paper.layout["numbering"] == "automatic":
        for index, option in enumerate(question.options):
            yield PaperLine("option", option, "option", starts_list=index == 0)
        return
    stop = _WORDS[paper.language]["stop"]
    texts = [label + stop + option for label, option in zip(question.labels, question.options, strict=True)]
    per_line = {"stacked": 1, "two_columns": 2, "inline": len(texts)}[paper.layout["options"]]
    gap = "\t" if paper.layout["options"] == "two_columns" else "    "
    for start in range(0, len(texts), per_line or 1):
        yield PaperLine("option", gap.join(texts[start : start + per_line]))


def answer_lines(paper: Paper, question: SourceQuestion) -> list[str]:
    """The answer as the paper prints it: one line, or one for each sub-question."""
    words = _WORDS[paper.language]
    if question.sub_questions:
        return [
            words["sub_number"].format(index) + sub.answer
            for index, sub in enumerate(question.sub_questions, start=1)
        ]
    if question.question_type == "multiple_choice":
        return ["".join(question.answer)]
    if question.question_type == "true_false":
        return [words[question.answer[0]]]
    return [words["and"].join(question.answer)]


def _key(paper: Paper) -> Iterator[PaperLine]:
    placing = paper.layout["answers"]
    if placing not in ("at_end", "compact_key"):
        return
    yield PaperLine("key_heading", _WORDS[paper.language]["key_heading"])
    for section in paper.sections:
        yield PaperLine("heading", re.sub(r"(?<!\s)\s*[（(].*$", "", section.heading))
        yield from _compact_key(paper, section) if placing == "compact_key" else _full_key(paper, section)


def _full_key(paper: Paper, section: PaperSection) -> Iterator[PaperLine]:
    words = _WORDS[paper.language]
    for position, question in enumerate(section.questions, start=1):
        answers = answer_lines(paper, question)
        yield PaperLine("text", _number(paper, question, position) + answers[0])
        yield from (PaperLine("text", text) for text in answers[1:])
        if question.explanation:
            yield PaperLine("text", words["explanation"] + question.explanation)


def _compact_key(paper: Paper, section: PaperSection) -> Iterator[PaperLine]:
    """The answer key: single keys in runs of five, short answers in a row, long ones by line."""
    questions = section.questions
    if all(question.question_type == "multiple_choice" for question in questions):
        if all(len(question.answer) == 1 for question in questions):
            runs = [
                list(run) for _, run in groupby(questions, key=lambda question: (question.number - 1) // 5)
            ]
            yield PaperLine("text", "  ".join(_run_of_keys(run) for run in runs))
        else:
            yield PaperLine("text", "  ".join(f"{q.number}. {''.join(q.answer)}" for q in questions))
    elif all(question.question_type == "true_false" for question in questions):
        marks = {"true": "√", "false": "×"}
        yield PaperLine(
            "text", "  ".join(f"{question.number}. {marks[question.answer[0]]}" for question in questions)
        )
    else:
        for question in questions:
            yield PaperLine("text", f"{question.number}. " + answer_lines(paper, question)[0])


def _run_of_keys(run: list[SourceQuestion]) -> str:
    keys = "".join(question.answer[0] for question in run)
    return f"{run[0].number}-{run[-1].number}：{keys}"
