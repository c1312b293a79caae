"""The records that are questions, in JSON, JSON lines, and the scripts of web pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers.extraction import Extraction
from tasks.ingest.readers.plain_text import decode
from tasks.ingest.words.columns import find_role
from tasks.ingest.words.lexicon import match_type_name


def read_json(data: bytes) -> Extraction:
    """Return the records of a JSON file (the longest list of objects in it) or of JSON lines.

    A line of JSON lines that cannot be read is left out and named in the warnings.

    Raises:
        DocumentError: `corrupt` when it is neither.
    """
    text, encoding = decode(data)
    text = text.lstrip("\ufeff")
    extraction = Extraction(converter="json", converter_version=encoding)
    try:
        extraction.records = find_records(json.loads(text))
    except (json.JSONDecodeError, RecursionError):
        extraction.records, bad = _read_json_lines(text)
        if bad:
            extraction.warnings.append(_name_bad_lines(bad, len(extraction.records)))
    return extraction


def _read_json_lines(text: str) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the objects of JSON lines and the numbers of the lines that hold none."""
    records: list[dict[str, Any]] = []
    bad: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            record = None
        if isinstance(record, dict):
            records.append(record)
        else:
            bad.append(number)
    if len(bad) > len(records):
        raise DocumentError(
            "corrupt",
            f"Line {bad[0]} is no JSON object, and the file as a whole is no JSON either. Export it again.",
        )
    return records, bad


def _name_bad_lines(bad: Sequence[int], count: int) -> str:
    named = ", ".join(map(str, bad[:10])) + (" …" if len(bad) > 10 else "")
    return f"{len(bad)} of {len(bad) + count} lines are no JSON object and were left out: {named}."


def _list_inner(record: dict[str, Any], depth: int) -> list[dict[str, Any]]:
    """The questions in lists of an object that asks nothing, such as a passage or a section."""
    if depth > 4 or any(_ASKING.search(name) and isinstance(text, str) for name, text in record.items()):
        return []
    own: dict[str, Any] = {}
    for name, item in record.items():
        is_type = name != "type" or match_type_name(str(item)) is not None
        if isinstance(item, str) and name != "id" and is_type and find_role(name) != "stem":
            own[name] = item
        elif (
            isinstance(item, str) and name != "title" and find_role(name) == "stem" and len(item) >= _PASSAGE
        ):
            own["material"] = item  # a title may be long
    found: list[dict[str, Any]] = []
    for name, item in record.items():
        if isinstance(item, list) and name not in _OFFERS:
            inner = find_records(item, depth + 1)
            if sum(1 for one in inner if _asks(one)) > 0.5 * len(inner):
                found += [
                    {**{key: text for key, text in own.items() if key not in one}, **one} for one in inner
                ]
    return found


def _asks(record: dict[str, Any]) -> bool:
    """Whether a record names a question, or a text beside its options or its answer."""
    roles = {find_role(name) for name in record}
    return any(map(_ASKING.search, record)) or ("stem" in roles and bool(roles & {"options", "answer"}))


_PASSAGE = 30
_OFFERS = ("options", "choices", "选项")
_ASKING = re.compile(r"(?i)^q$|question(?!s)|stem|prompt|problem|题干|题目|问题|试题")


def find_records(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """The longest list of objects in a JSON value; of several sections, all with their keys."""
    if isinstance(value, list):
        records = [item for item in value if isinstance(item, dict)]
        below = [inner for record in records for inner in _list_inner(record, depth)]
        if below:
            return below
        if len(records) == 1 and depth < 4:
            inner = find_records(records[0], depth + 1)
            return inner if len(inner) > 1 else records
        return records
    if not isinstance(value, dict) or depth > 4:
        return []
    lists = {key: find_records(item, depth + 1) for key, item in value.items() if isinstance(item, list)}
    lists = {key: records for key, records in lists.items() if records and key not in _OFFERS}
    if lists:
        merged: list[dict[str, Any]] = []
        for key, records in lists.items():
            merged.extend(record if "section" in record else {**record, "section": key} for record in records)
        return merged
    nested = [find_records(item, depth + 1) for item in value.values() if isinstance(item, dict)]
    longest = max(nested, key=len, default=[])
    if len(longest) > 1:
        return longest
    if value and all(isinstance(item, dict) for item in value.values()):
        return [{"number": key, **item} for key, item in value.items()]
    return [value]


_MIN_RECORDS = 3
_MAX_DEPTH = 12
_OPENS = re.compile(r"(?:[=(:]|\breturn|^)\s*(?=[\[{]\s*[\[{\"'A-Za-z_$/])")
_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*[\s\S]*?\*/|"
    r"(?P<text>\"(?:[^\"\\\n]|\\[\s\S])*+\"|'(?:[^'\\\n]|\\[\s\S])*+'|`(?:[^`\\$]|\\[\s\S]|\$(?!\{))*+`)|"
    r"(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_$][\w$]*+)|(?P<sign>[\[\]{}:,+])"
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|[\s\S])")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}


def find_script_records(scripts: list[str]) -> list[dict[str, Any]]:
    """The records of questions in scripts, of all lists that hold such."""
    found: list[dict[str, Any]] = []
    for script in scripts:
        position = 0
        while (opening := _OPENS.search(script, position)) is not None:
            reader = _Literal(script, opening.end())
            try:
                value = reader.read()
            except ValueError:
                position = opening.end() + 1
                continue
            position = reader.position
            records = find_records(value)
            if len(records) >= _MIN_RECORDS and _are_questions(records):
                found += records
    return found


def _are_questions(records: list[dict[str, Any]]) -> bool:
    """Whether most of the records ask and offer: a text, and a list beside it."""
    asking = sum(
        1
        for record in records
        if any(isinstance(value, str) and len(value) > 5 for value in record.values())
        and any(isinstance(value, list | dict) and len(value) > 1 for value in record.values())
    )
    return asking > 0.5 * len(records)


class _Literal:
    """A literal of JavaScript that holds nothing but data, read from a place in a script."""

    def __init__(self, script: str, position: int) -> None:
        self.script, self.position = script, position
        self._next: tuple[str, str] = ("", "")
        self._advance()

    def read(self, depth: int = 0) -> Any:
        """Return the value. Raises ValueError where it is more than data."""
        kind, text = self._next
        if depth > _MAX_DEPTH:
            raise ValueError(text)
        if kind == "text":
            self._advance()
            value = _unescape(text)
            while self._next == ("sign", "+"):
                self._advance()
                if self._next[0] != "text":
                    raise ValueError(text)
                value += _unescape(self._next[1])
                self._advance()
            return value
        if kind == "number":
            self._advance()
            return float(text) if set(text) & set(".eE") else int(text)
        if kind == "name" and text in _WORDS:
            self._advance()
            return _WORDS[text]
        if text == "[":
            return self._read_list(depth)
        if text == "{":
            return self._read_object(depth)
        raise ValueError(text)

    def _read_list(self, depth: int) -> list[Any]:
        self._advance()
        values: list[Any] = []
        while self._next != ("sign", "]"):
            values.append(self.read(depth + 1))
            self._pass_comma("]")
        self._close(depth)
        return values

    def _read_object(self, depth: int) -> dict[str, Any]:
        self._advance()
        values: dict[str, Any] = {}
        while self._next != ("sign", "}"):
            kind, text = self._next
            if kind not in ("text", "name", "number"):
                raise ValueError(text)
            self._advance()
            if self._next != ("sign", ":"):
                raise ValueError(text)
            self._advance()
            values[_unescape(text) if kind == "text" else text] = self.read(depth + 1)
            self._pass_comma("}")
        self._close(depth)
        return values

    def _close(self, depth: int) -> None:
        """Pass a closing bracket; nothing is read beyond the outermost one."""
        if depth:
            self._advance()

    def _pass_comma(self, closing: str) -> None:
        if self._next == ("sign", ","):
            self._advance()
        elif self._next != ("sign", closing):
            raise ValueError(self._next[1])

    def _advance(self) -> None:
        while True:
            match = _TOKEN.match(self.script, self.position)
            if match is None:
                raise ValueError(self.script[self.position : self.position + 20])
            self.position = match.end()
            if match.lastgroup is not None:
                self._next = (match.lastgroup, match.group(0))
                return


def _unescape(text: str) -> str:
    def write(match: re.Match[str]) -> str:
        sign = match.group(1)
        if sign[0] in "ux" and len(sign) > 1:
            return chr(int(sign[1:], 16))
        return "" if sign.endswith("\n") else _PLAIN.get(sign, sign)

    return _ESCAPE.sub(write, text[1:-1])
