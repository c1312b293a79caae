"""Questions in the XML that Moodle exports: `<quiz><question type="multichoice">…`."""

from __future__ import annotations

import re
from typing import Any

from schemas.errors import DocumentError
from tasks.ingest.readers.extraction import Extraction
from tasks.ingest.readers.gift import LETTERS, ask_pairs

_TAG = re.compile(r"<[^<>]{0,2000}>")
_BREAK = re.compile(r"(?i)<(?:br|/p|/div|/li|/tr)\s*/?>")


def read_moodle_xml(data: bytes) -> Extraction:
    """Return the questions of a Moodle question bank as records.

    Descriptions and categories are no questions.

    Raises:
        DocumentError: `corrupt` when the XML cannot be parsed.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        root: Any = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DocumentError(
            "corrupt", f"The XML cannot be parsed: {error}. Export the questions again."
        ) from error
    extraction = Extraction(converter="moodle-xml", converter_version="1")
    unread: dict[str, int] = {}
    records: list[dict[str, str]] = []
    for question in root.iter("question"):
        kind = question.get("type", "")
        if kind in ("category", "description"):
            continue
        found = _read_question(question, kind)
        records.extend(found)
        if not found:
            unread[kind] = unread.get(kind, 0) + 1
    extraction.records = [dict(record) for record in records]
    for kind, count in sorted(unread.items()):
        extraction.warnings.append(f"{count} questions of the type {kind!r} were not read.")
    return extraction


def _read_question(question: Any, kind: str) -> list[dict[str, str]]:
    stem = _read_text(question.find("questiontext"))
    record = {"question": stem, "explanation": _read_text(question.find("generalfeedback"))}
    if not stem:
        return []
    answers = [(_read_text(answer), _read_fraction(answer)) for answer in question.findall("answer")]
    right = [text for text, worth in answers if worth > 0]
    if kind == "multichoice":
        letters = dict(zip(LETTERS, answers, strict=False))
        options = {letter: text for letter, (text, _) in letters.items()}
        keys = "".join(letter for letter, (_, worth) in letters.items() if worth > 0)
        return [record | options | {"type": "multiple_choice", "answer": keys}]
    if kind == "truefalse":
        return [record | {"type": "true_false", "answer": right[0] if right else ""}]
    if kind in ("shortanswer", "numerical", "calculatedsimple", "calculated"):
        is_gap = re.search(r"_{2,}", stem) is not None
        best = max(answers, key=lambda answer: answer[1], default=("", 0.0))
        return [record | {"type": "fill_in_the_blank" if is_gap else "short_answer", "answer": best[0]}]
    if kind == "matching":
        pairs = question.findall("subquestion")
        return ask_pairs(stem, [(_read_text(pair), _read_text(pair.find("answer"))) for pair in pairs])
    if kind == "essay":
        return [record | {"type": "essay", "answer": _read_text(question.find("graderinfo"))}]
    return []


def _read_fraction(answer: Any) -> float:
    try:
        return float(answer.get("fraction", "0"))
    except ValueError:
        return 0.0


def _read_text(element: Any) -> str:
    """The text below an element, its HTML written as lines; a picture leaves `[image]`."""
    if element is None:
        return ""
    from html import unescape

    text = element.findtext("text") or ""
    text = re.sub(r"(?i)<img\b[^<>]{0,2000}>", "[image]", text)
    text = unescape(_TAG.sub("", _BREAK.sub("\n", text))) if "<" in text or "&" in text else text
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
