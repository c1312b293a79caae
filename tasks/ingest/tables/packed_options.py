"""Options that share a cell, stand in a stem, or come as the lists and objects of a record."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.choices import COMBINED
from tasks.ingest.layout.options import option_text, split_options
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.scripts import write_levels
from tasks.ingest.words.cleaning import clean_line, clean_text
from tasks.ingest.words.labels import parse_label

MOST_OPTIONS = len("ABCDEFGHIJ")  # as many as candidates are offered


def clean_cell(text: str, language: str | None) -> str:
    """The text of a cell with its line breaks, cleaned as the lines of a paper are."""
    if not text.strip():
        return ""
    if "</su" in text and _OTHER_TAG.search(text) is None:
        text = write_levels(text)
    lines = re.split(r"\r\n|\r|\n|<br\s*/?>", text)
    return clean_text("\n".join(clean_line(line)[0] for line in lines), language)


# a question about web pages shows tags
_OTHER_TAG = re.compile(r"<(?!/?(?:su[bp]|br)\b)/?[A-Za-z]")
# `A=x` and `A-x` have a sign for a mark; after a bracket or a space it is the option's own: `(A) -1`, `B) =1+1`.
_LABEL = re.compile(
    r"(?:^|(?<=[,，;；|\s$#]))[（(]?([A-J])(?:[)）]?\s*[;；:：.．、,，]|(?<![（(][A-J])(?:[=\-－]|\s+[=\-－]\s))\s*"
)


def strip_label(label: str, text: str) -> str:
    """Drop a label that the cell repeats (`A.苹果` in column A)."""
    match = re.match(rf"[（(\[]?{label}[)）\]]?\s*[.．、:：]\s*|[（(\[]?{label}[)）\]]\s*", text)
    return text[match.end() :].strip() if match and match.end() < len(text) else text


def strip_labels(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Drop the labels that options repeat, and bare ones (`A磨坊`) where most have one."""
    stripped = [(label, strip_label(label, text)) for label, text in pairs]
    bare = [re.match(rf"{label}(?:\s+(?=\S)|(?=[^\x00-\x7f]))", text) for label, text in pairs]
    closed = [own != text for (_, own), (_, text) in zip(stripped, pairs, strict=True)]
    if len(pairs) < 2 or not all(map(any, zip(closed, bare, strict=True))):
        return stripped
    is_meant = sum(closed) >= 0.5 * len(pairs) or all(bare)
    return [
        (label, text[mark.end() :] if mark is not None and is_meant and own == text else own)
        for (label, own), (_, text), mark in zip(stripped, pairs, bare, strict=True)
    ]


def split_packed_options(text: str, language: str | None) -> list[tuple[str, str]]:
    """Split `A.x B.y`, lines, `A;x,B;y`, `x|y|z`, `["x", "y"]`, `{"A": "x"}`."""
    stripped = text.strip()
    listed = read_literal(stripped)
    if listed is not None:
        return read_options(listed, language)
    labelled = list(_LABEL.finditer(stripped))
    chain: list[re.Match[str]] = []
    for match in labelled:
        if match.group(1) == chr(ord("A") + len(chain)):
            chain.append(match)
    if len(chain) >= 2 and chain[0].start() == 0:
        pairs = []
        for index, match in enumerate(chain):
            end = chain[index + 1].start() if index + 1 < len(chain) else len(stripped)
            pairs.append(
                (match.group(1), clean_cell(stripped[match.end() : end].strip().strip(",，;；|$#"), language))
            )
        if all(value for _, value in pairs):
            return pairs
    pieces = [as_piece(line) for line in stripped.splitlines() if line.strip()]
    split = split_options(pieces, True) if COMBINED.match(stripped) is None else None
    if split is not None and not split.stem:
        texts = [option_text(found) for _, found in split.options]
        if all(text.endswith((";", "；")) for text in texts[:-1]):
            texts = [text.rstrip(";；").rstrip() for text in texts]
        return [
            (label, clean_cell(text, language)) for (label, _), text in zip(split.options, texts, strict=True)
        ]
    for separator in ("\n", "$;$", "|", "$$", "###", "；", ";", "、", "\t", ",", "，", "/"):
        parts = [part.strip() for part in stripped.split(separator) if part.strip()]
        if (2 if separator != "/" else 3) <= len(parts) <= 10:
            texts = [clean_cell(part, language) for part in _cut_numbers(parts)]
            return [(chr(ord("A") + index), text) for index, text in enumerate(texts)]
    return []


def _cut_numbers(parts: Sequence[str]) -> Sequence[str]:
    """The parts without what counts them, `1.` or `(ii)`."""
    labels = [parse_label(part) for part in parts]
    sure = [label for label in labels if label is not None and not label.is_weak]
    counted = [(label.style, label.value) for label in sure]
    texts = [part[label.end :].strip() for part, label in zip(parts, sure, strict=False)]
    is_list = len(sure) == len(parts) and counted == [(sure[0].style, at) for at in range(1, len(parts) + 1)]
    return texts if is_list and all(texts) and COMBINED.match(parts[0]) is None else parts


def read_literal(text: str) -> Any:
    """The list or object that a cell writes out, as JSON or as Python has it, or None."""
    if text[:1] not in ("[", "{") or text[-1:] not in ("]", "}"):
        return None
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        pass
    try:
        found = ast.literal_eval(text) if len(text) < _LONGEST_LITERAL else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, list | dict) else None


def write_out(value: Any) -> str:
    """What a field says as text: labels in a row, else its parts one after the other."""
    if isinstance(value, str):
        listed = read_literal(value.strip())
        return value if listed is None else write_out(listed)
    if isinstance(value, list):
        parts = [write_out(item) for item in value]
        if value and all(isinstance(item, dict) for item in value):
            parts = parts[:1]  # the same answer as several people gave it
        is_keys = all(re.fullmatch(r"[A-J]", part) for part in parts)
        return "".join(parts) if is_keys else "；".join(parts)
    if isinstance(value, dict):
        # `{"value": "Rhine", "aliases": […]}`, `{"text": ["Rhine", "the Rhine"], "answer_start": […]}`
        for name in ("value", "text", "answer"):
            if value.get(name) not in (None, "", []):
                return write_out(value[name][0] if isinstance(value[name], list) else value[name])
        return "；".join(f"{key}: {write_out(item)}" for key, item in value.items())
    return str(value)


# A cell that is longer holds a text.
_LONGEST_LITERAL = 10_000


def as_piece(line: str) -> Piece:
    """A line of a cell as the lines of papers are."""
    text, sources = clean_line(line)
    return Piece(text, 0, len(line), tuple(sources))


def take_options_from_stem(
    stem: str, is_choice: bool, language: str | None
) -> tuple[str, list[tuple[str, str]]]:
    """Options written into the stem's own cell."""
    split = split_options([as_piece(line) for line in stem.splitlines()], is_choice)
    if split is None or not split.stem or len(split.options) < 2:
        return stem, []
    pairs = [(label, clean_cell(option_text(found), language)) for label, found in split.options]
    return clean_text("\n".join(piece.text for piece in split.stem), language), pairs


_OPTION_TEXTS = ("text", "content", "body", "html", "value", "option", "choice", "title", "description", "内容", "选项内容", "文本")  # fmt: skip
_OPTION_NAMES = ("label", "key", "id", "name", "letter", "标号", "选项")
_RIGHT = re.compile(
    r"(?i)(?:is_?|是否)?(?:correct|right|true|answer|key|正确|对|答案)(?:_?answer|_?option|答案|选项)?"
)
_WORTH = ("fraction", "weight", "score", "points", "credit", "label")


def list_flagged(value: Any) -> Any:
    """`{"a mill": 1, "a ship": 0}`, `{"choices": […], "labels": [1, 0]}` as a list of options."""
    if not isinstance(value, dict):
        return value
    pairs = [*value.items()]
    lists = [item for item in value.values() if isinstance(item, list)]
    if len(lists) == len(value) == 2 and len(lists[0]) == len(lists[1]):
        pairs = [*zip(*lists, strict=True)]
    flags = [flag for _, flag in pairs]
    # not `{"has_image": 0, "is_long": 1}`, which says something of the question
    is_told = flags and {*map(type, flags)} == {int} and {*flags} == {0, 1}
    if not is_told or all(_IDENTIFIER.fullmatch(str(text)) for text, _ in pairs):
        return value
    return [{"text": text, "correct": bool(flag)} for text, flag in pairs]


_IDENTIFIER = re.compile(r"[a-z]+_\w*")


def read_option_flags(value: Any) -> str:
    """The letters of options with `is_correct`, `right`, or a `fraction` above 0."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return ""
    right: list[str] = []
    for index, item in enumerate(value):
        flags = [flag for name, flag in item.items() if _RIGHT.fullmatch(str(name))]
        worth = [item[name] for name in _WORTH if isinstance(item.get(name), int | float)]
        is_right = any(
            flag is True or str(flag).strip().casefold() in ("true", "1", "yes", "是") for flag in flags
        )
        if is_right or (not flags and any(number > 0 for number in worth)):
            right.append(chr(ord("A") + index))
    return "".join(right) if len(right) < max(len(value), 2) else ""


def read_named_key(value: Any, answer: Any) -> str:
    """The letters of options whose own names (`"id": "o7"`) an answer lists, or ''."""
    if isinstance(value, dict):  # `{"text": […], "label": ["1", "2"]}`
        listed = (value[key] for key in _OPTION_NAMES if isinstance(value.get(key), list))
        value = [{"label": label} for label in next(listed, ())]
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return ""
    names = {
        str(item[key]).strip(): chr(ord("A") + index)
        for index, item in enumerate(value)
        for key in _OPTION_NAMES
        if key in item
    }
    named = [str(one).strip() for one in (answer if isinstance(answer, list) else [answer])]
    letters = [names.get(name, "") for name in named]
    return "".join(sorted(letters)) if all(letters) else ""


def offer_with(answer: str, wrong: Sequence[str]) -> list[tuple[str, str]]:
    """The right answer among the wrong ones: in the order of their texts none stands out."""
    return [(chr(ord("A") + place), text) for place, text in enumerate(sorted({answer, *wrong}))]


def read_options(value: Any, language: str | None) -> list[tuple[str, str]]:
    """Options of a record: a list of texts, of {label, text}, or an object by label."""
    if isinstance(value, str):
        return split_packed_options(value, language)
    if isinstance(value, dict) and all(isinstance(item, list) for item in value.values()) and value:
        # `{"text": ["a mill", "a ship"], "label": ["A", "B"]}`
        texts: list[Any] = next((value[key] for key in _OPTION_TEXTS if key in value), [])
        labels: list[Any] = next((value[key] for key in _OPTION_NAMES if key in value), [])
        if len(labels) == len(texts):
            return read_options(
                [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)], language
            )
        return read_options(texts, language)
    if isinstance(value, dict):
        pairs = [
            (str(key).strip().upper(), clean_cell(str(text), language))
            for key, text in value.items()
            if text is not None and str(text).strip()
        ]
        if all(re.fullmatch(r"[A-J]", label) for label, _ in pairs):
            return pairs
        return [(chr(ord("A") + index), text) for index, (_, text) in enumerate(pairs)]
    if not isinstance(value, list):
        return []
    pairs = []
    for index, item in enumerate(value):
        label = chr(ord("A") + index)
        if isinstance(item, dict):
            others = [one for key, one in item.items() if isinstance(one, str) and key not in _OPTION_NAMES]
            text = next((item[key] for key in _OPTION_TEXTS if key in item), max(others, key=len, default=""))
            named = next((item[key] for key in _OPTION_NAMES if key in item), label)
            label = str(named).strip().upper() if re.fullmatch(r"[A-Ja-j]", str(named).strip()) else label
        elif isinstance(item, list) and len(item) == 2:
            label, text = str(item[0]).strip().upper()[:1] or label, item[1]
        else:
            text = item
        pairs.append((label, clean_cell(str(text), language)))
    return strip_labels([(label, text) for label, text in pairs if text])
