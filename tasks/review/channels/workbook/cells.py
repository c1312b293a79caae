"""How a question and a decision become the cells of a row, and cells become values again."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from schemas.vocabulary import DISCIPLINES, QUESTION_TYPES
from tasks.questions import Option, read_options
from tasks.review.channels.workbook.layout import CLEAR_WORDS
from tasks.review.decisions import Edit, GivenDecision
from tasks.review.marking import fit_cell
from tasks.review.words import Language, Topic, list_words, parse_word

CUT_MARK = "\n[… cut: the whole text is longer than a cell 文本过长，此处截断]"
TRUE_WORDS = frozenset({"true", "t", "yes", "对", "正确", "是", "√", "✓"})
FALSE_WORDS = frozenset({"false", "f", "no", "错", "错误", "否", "×", "✗", "x"})


def render_input_cells(
    given: GivenDecision | None, question_type: str, language: Language = "en"
) -> dict[str, str]:
    """What the cells to fill in hold when a decision has been given already, by column name."""
    if given is None:
        return {}
    cells = {
        "decision": list_words("decisions", language)[given.decision],
        "reject_reason": list_words("reasons", language).get(given.reject_reason or "", ""),
        "comment": given.comment or "",
    }
    edit = given.edit or Edit()
    for name, value in edit.as_row().items():
        cells[f"new_{name}"] = _render_value(name, value, edit.question_type or question_type, language) or (
            "" if name == "answer" else CLEAR_WORDS[0]
        )
    return {name: fit_cell(value, CUT_MARK) for name, value in cells.items() if value}


def render_options(options: Sequence[Option]) -> str:
    """One option per line, `A. text`."""
    return "\n".join(f"{option.label}. {option.text}" for option in options)


def render_answer(answer: Sequence[str], question_type: str) -> str:
    """Keys joined (`AC`); other answers one per line."""
    return ("" if question_type == "multiple_choice" else "\n").join(answer)


def parse_correction(name: str, text: str, question_type: str) -> object:
    """The corrected value of a field in its stored form; ValueError says what is wrong."""
    if text.strip().casefold() in CLEAR_WORDS:
        if name == "options":
            return []
        if name in ("sub_discipline", "material", "explanation"):
            return None
        raise ValueError("this field cannot be emptied")
    if name == "question_type":
        return _parse_choice(text, "question_types", "type", QUESTION_TYPES)
    if name == "discipline":
        return _parse_choice(text, "disciplines", "discipline", DISCIPLINES)
    if name == "options":
        return parse_options(text)
    if name == "answer":
        return parse_answer(text, question_type)
    return text.strip()


def parse_options(text: str) -> list[dict[str, str]]:
    """Options from lines `A. text`; a line without a label continues the one above."""
    options: list[dict[str, str]] = []
    for line in text.strip().splitlines():
        match = re.match(r"\s*[(（]?([A-Za-zＡ-Ｚａ-ｚ])[)）]?\s*[.．、:：)）]\s*(.*)$", line)
        if match is None:
            if not options:
                raise ValueError("the first line does not begin with a label such as `A.`")
            options[-1]["text"] += "\n" + line
        else:
            label = unicodedata.normalize("NFKC", match.group(1)).upper()
            options.append({"label": label, "text": match.group(2)})
    return [{"label": option["label"], "text": option["text"].strip()} for option in options]


def parse_answer(text: str, question_type: str) -> list[str]:
    """Answers of a cell by type: letters, true/false, one per line for blanks, else whole."""
    if question_type == "multiple_choice":
        letters = re.sub(r"[\s,;，；、/]+", "", unicodedata.normalize("NFKC", text)).upper()
        if not re.fullmatch(r"[A-Z]+", letters):
            raise ValueError("the key of a choice is written in letters only, such as AC")
        return sorted(set(letters))
    if question_type == "true_false":
        word = unicodedata.normalize("NFKC", text).strip().casefold()
        if word in TRUE_WORDS:
            return ["true"]
        if word in FALSE_WORDS:
            return ["false"]
        raise ValueError("the answer of a true/false question is true or false")
    if question_type == "fill_in_the_blank":
        return [line.strip() for line in text.splitlines() if line.strip()]
    return [text.strip()]


def _render_value(name: str, value: object, question_type: str, language: Language) -> str:
    """A corrected value as its cell holds it; empty for an emptied field."""
    if isinstance(value, list) and name == "options":
        return render_options(read_options(value))
    if isinstance(value, list):
        return render_answer(value, question_type)
    if name == "question_type":
        return list_words("question_types", language).get(str(value), str(value))
    if name == "discipline":
        return list_words("disciplines", language).get(str(value), str(value or ""))
    return value if isinstance(value, str) else ""


def _parse_choice(text: str, topic: Topic, what: str, allowed: Sequence[str]) -> str:
    code = parse_word(text, topic)
    if code is None:
        raise ValueError(f"the {what} is not one of {', '.join(allowed)}")
    return code
