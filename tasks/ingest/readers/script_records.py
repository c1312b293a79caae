"""Questions that a web page holds as data in its scripts, as quiz programs keep them."""

from __future__ import annotations

import re
from typing import Any

from tasks.ingest.readers.json_records import find_records

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
