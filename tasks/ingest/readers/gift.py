"""Questions in Moodle's two formats.

GIFT is written `::title:: stem {=right ~wrong}`, `{T}`, `{=answer}`, `{}`; XML `<quiz><question type="multichoice">…`.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers.extraction import IMAGE, Extraction, FoundPicture
from tasks.ingest.readers.scripts import write_levels

# Braces that hold what GIFT may hold: answers with = or ~, a judgement, a number, or nothing.
_BLOCK = re.compile(r"(?<!\\)\{(?P<inside>(?:[^{}\\]|\\.)*)(?<!\\)\}", re.DOTALL)
_TRUTHS = {"T": "true", "TRUE": "true", "F": "false", "FALSE": "false"}
_ANSWER = re.compile(
    r"(?<!\\)([=~])(?:%(-?\d+(?:\.\d+)?)%)?\s*((?:[^=~#\\]|\\.)*)(?:#(?:[^=~\\]|\\.)*)?", re.DOTALL
)
_NUMBER = re.compile(r"#\s*=?\s*(?:%[\d.]+%)?\s*(-?\d+(?:\.\d+)?)(?:\s*\.\.\s*(-?\d+(?:\.\d+)?))?")
_TITLE = re.compile(r"^\s*::.*?::\s*", re.DOTALL)
_FORMAT = re.compile(r"^\s*\[(?P<name>html|markdown|plain|moodle)\]\s*")
_MIN_QUESTIONS = 2


def find_gift(text: str) -> Extraction | None:
    """The questions of a GIFT file (blocks in braces, most with = or ~), or None."""
    if text.count("{") < _MIN_QUESTIONS or "=" not in text:
        return None
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("//", "$CATEGORY"))]
    parts = [
        part
        for part in re.split(r"\n\s*\n|\n(?=::)|(?<=\})\s*\n|(?<=\}[.?!])\s*\n", "\n".join(lines))
        if part.strip()
    ]
    read = [_read_question(part) for part in parts]
    questions = [found for found in read if found]
    if len(questions) < max(_MIN_QUESTIONS, 0.8 * len(parts)):
        return None
    records = [dict(record) for found in questions for record in found]
    extraction = Extraction(converter="gift", converter_version="1", records=records)
    unread = sum("{" in part and not found for part, found in zip(parts, read, strict=True))
    if unread:
        extraction.warnings.append(f"{unread} blocks in braces were not read.")
    return extraction


def _read_question(part: str) -> list[dict[str, str]]:
    """The records of one block: one question, or one for each pair to be matched."""
    match = _BLOCK.search(part)
    if match is None:
        return []
    inside = match.group("inside").strip()
    before = _TITLE.sub("", part[: match.start()])
    form = _FORMAT.match(before)
    read = read_markup_text if form is not None and form["name"] == "html" else str.strip
    before, after = read(_FORMAT.sub("", before)), read(part[match.end() :])
    stem = f"{before} ____ {after}" if after and inside[:1] in "=~" else f"{before} {after}".strip()
    record = {"question": _unescape(stem)}
    head = inside.partition("#")[0].strip().upper()
    answers = [(sign, worth, _unescape(read(text))) for sign, worth, text in _ANSWER.findall(inside)]
    number = _NUMBER.match(inside)
    if not stem:
        return []
    if head in _TRUTHS:
        return [record | {"type": "true_false", "answer": _TRUTHS[head]}]
    if not inside:
        return [record | {"type": "essay"}]
    if number is not None:
        shown = "–".join(part for part in number.groups() if part)
        return [record | {"type": "short_answer", "answer": shown}]
    if not answers:
        return []
    if all("->" in text for _, _, text in answers):
        pairs = [text.partition("->") for _, _, text in answers]
        return ask_pairs(record["question"], [(left.strip(), right.strip()) for left, _, right in pairs])
    if all(sign == "=" for sign, _, _ in answers):
        is_gap = "____" in stem
        return [record | {"type": "fill_in_the_blank" if is_gap else "short_answer", "answer": answers[0][2]}]
    # where no answer is right alone, those that earn a share of the marks are right together
    is_alone = any(sign == "=" for sign, _, _ in answers)
    return [
        record
        | offer_choices(
            [
                (text, sign == "=" if is_alone else bool(worth) and float(worth) > 0)
                for sign, worth, text in answers
            ]
        )
    ]


def _unescape(text: str) -> str:
    return re.sub(r"\\([~=#{}:])", r"\1", text).strip()


_LETTERS = "ABCDEFGHIJ"


def offer_choices(choices: Sequence[tuple[str, bool]]) -> dict[str, str]:
    """Choices under letters, and the letters of the right ones.

    Of more than there are letters for none is offered: a question without its options is seen to
    lack them, one with some of them is not.
    """
    if len(choices) > len(_LETTERS):
        return {"type": "multiple_choice"}
    lettered = [*zip(_LETTERS, choices, strict=False)]
    keys = "".join(letter for letter, (_, is_right) in lettered if is_right)
    return {letter: text for letter, (text, _) in lettered} | {"type": "multiple_choice", "answer": keys}


def ask_pairs(stem: str, sides: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """A choice for every left side among all right sides; a side without the other is kept."""
    offered = list(dict.fromkeys(right for _, right in sides if right))
    if not 2 <= len(offered) <= len(_LETTERS):
        return []
    return [
        {"material": stem, "question": left} | offer_choices([(text, text == right) for text in offered])
        for left, right in sides
        if left
    ]


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
    unread: list[str] = []
    records: list[dict[str, str]] = []
    for question in root.iter("question"):
        kind = question.get("type", "")
        if kind in ("category", "description"):
            continue
        found = _read_element(question, kind, extraction)
        records.extend(found)
        unread += [] if found else [kind]
    extraction.records = [dict(record) for record in records]
    extraction.leave_unread(unread)
    return extraction


def _read_element(question: Any, kind: str, extraction: Extraction) -> list[dict[str, str]]:
    def read(element: Any) -> str:
        return _read_text(element, extraction)

    stem = read(question.find("questiontext"))
    record = {"question": stem, "explanation": read(question.find("generalfeedback"))}
    if not stem:
        return []
    answers = [(read(answer), _read_fraction(answer)) for answer in question.findall("answer")]
    right = [text for text, worth in answers if worth > 0]
    if kind == "multichoice":
        return [record | offer_choices([(text, worth > 0) for text, worth in answers])]
    if kind == "truefalse":
        return [record | {"type": "true_false", "answer": right[0] if right else ""}]
    if kind in ("shortanswer", "numerical", "calculatedsimple", "calculated"):
        is_gap = re.search(r"_{2,}", stem) is not None
        best = max(answers, key=lambda answer: answer[1], default=("", 0.0))
        return [record | {"type": "fill_in_the_blank" if is_gap else "short_answer", "answer": best[0]}]
    if kind == "matching":
        pairs = question.findall("subquestion")
        return ask_pairs(stem, [(read(pair), read(pair.find("answer"))) for pair in pairs])
    if kind == "essay":
        return [record | {"type": "essay", "answer": read(question.find("graderinfo"))}]
    return []


def _read_fraction(answer: Any) -> float:
    try:
        return float(answer.get("fraction", "0"))
    except ValueError:
        return 0.0


def _read_text(element: Any, extraction: Extraction) -> str:
    """The text below an element, its HTML written as lines, with the pictures that it brings."""
    if element is None:
        return ""
    files = {file.get("name") or "": file.text or "" for file in element.iterchildren("file")}

    def mark(image: re.Match[str]) -> str:
        source = _SOURCE.search(image[0])
        name = unquote(source[1].partition("?")[0].rpartition("/")[2]) if source else ""
        data = b""
        with contextlib.suppress(ValueError):
            data = base64.b64decode(files.get(name, ""))
        return extraction.add_picture(FoundPicture(data=data)) if data else IMAGE

    return read_markup_text(_IMAGE.sub(mark, element.findtext("text") or ""))


# An image of a text, and the file beside the text that it shows.
_IMAGE = re.compile(r"(?i)<img\b[^<>]{0,2000}>")
_SOURCE = re.compile(r"(?i)\bsrc\s*=\s*[\"']?@@PLUGINFILE@@([^\"'\s>]+)")


def read_markup_text(text: str) -> str:
    """HTML written as lines; a picture leaves `[image]`."""
    from html import unescape

    text = _IMAGE.sub(IMAGE, write_levels(text))
    text = unescape(_TAG.sub("", _BREAK.sub("\n", text))) if "<" in text or "&" in text else text
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
