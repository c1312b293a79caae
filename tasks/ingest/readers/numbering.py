"""Word's automatic numbering, computed exactly.

It is the label that Word prints before a paragraph.

Follows ECMA-376 part 1, §17.9: counters belong to the abstract definition, a higher level restarts the lower ones,
`startOverride` restarts a list when its instance is first met.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lxml import etree

MAX_LEVELS = 9
# What stands for the sign of a list without numbers, whatever its font draws.
BULLET = "•"
_DIGITS = "〇一二三四五六七八九"
_TRADITIONAL_DIGITS = "零壹貳參肆伍陸柒捌玖"
_LEGAL_DIGITS = "零壹贰叁肆伍陆柒捌玖"
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
# Documents know a few hundred tags; a file made to do harm may bring more.
MAX_NAMES = 4096
_NAMES: dict[object, str] = {}


def local_name(element: etree._Element) -> str:
    """Return the tag without its namespace, so that transitional and strict packages read alike."""
    tag = element.tag
    name = _NAMES.get(tag)
    if name is None:
        name = tag.rpartition("}")[2] if isinstance(tag, str) else ""
        if len(_NAMES) < MAX_NAMES:
            _NAMES[tag] = name
    return name


def find_child(element: etree._Element | None, name: str) -> etree._Element | None:
    """Return the first child with this local name, or None."""
    return None if element is None else next(element.iterchildren(f"{{*}}{name}"), None)


def index_children(element: etree._Element | None) -> dict[str, etree._Element]:
    """Return the children by local name, the first of each: for several looks at one element."""
    found: dict[str, etree._Element] = {}
    for child in element if element is not None else ():
        found.setdefault(local_name(child), child)
    return found


def read_attribute(element: etree._Element | None, name: str) -> str | None:
    """Return the attribute with this local name whatever its namespace, or None."""
    if element is None:
        return None
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return None


def read_integer(element: etree._Element | None, name: str = "val") -> int | None:
    """Return the attribute as an integer, or None where it is absent or no number."""
    value = read_attribute(element, name)
    try:
        return int(value) if value is not None else None
    except ValueError:
        return None


@dataclass
class Level:
    """One level of a list definition."""

    start: int = 1
    number_format: str = "decimal"
    text: str = ""
    is_legal: bool = False
    restart: int | None = None
    suffix: str = "tab"
    paragraph_style: str | None = None


@dataclass
class _Instance:
    abstract_id: str
    levels: dict[int, Level] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """The lists of one document and their running counters. Ask for labels in document order."""

    def __init__(self, root: etree._Element | None) -> None:
        """Read `word/numbering.xml`; None stands for a document without lists."""
        self._abstract: dict[str, dict[int, Level]] = {}
        self._instances: dict[str, _Instance] = {}
        self._counters: dict[str, list[int | None]] = {}
        self._started: set[tuple[str, int]] = set()
        self.style_levels: dict[str, tuple[str, int]] = {}
        if root is None:
            return
        style_links: dict[str, str] = {}
        linked: dict[str, str] = {}
        for element in root:
            if local_name(element) == "abstractNum":
                self._read_abstract(element, style_links, linked)
        for element in root:
            if local_name(element) == "num":
                self._read_instance(element, style_links, linked)

    def _read_abstract(
        self, element: etree._Element, style_links: dict[str, str], linked: dict[str, str]
    ) -> None:
        abstract_id = read_attribute(element, "abstractNumId") or ""
        levels: dict[int, Level] = {}
        for child in element:
            name = local_name(child)
            if name == "lvl":
                levels[read_integer(child, "ilvl") or 0] = _read_level(child)
            elif name == "styleLink":
                style_links[read_attribute(child, "val") or ""] = abstract_id
            elif name == "numStyleLink":
                linked[abstract_id] = read_attribute(child, "val") or ""
        self._abstract[abstract_id] = levels

    def _read_instance(
        self, element: etree._Element, style_links: dict[str, str], linked: dict[str, str]
    ) -> None:
        number_id = read_attribute(element, "numId") or ""
        abstract_id = read_attribute(find_child(element, "abstractNumId"), "val") or ""
        if abstract_id in linked:
            abstract_id = style_links.get(linked[abstract_id], abstract_id)
        instance = _Instance(abstract_id)
        for child in element:
            if local_name(child) != "lvlOverride":
                continue
            index = read_integer(child, "ilvl") or 0
            start = read_integer(find_child(child, "startOverride"))
            if start is not None:
                instance.starts[index] = start
            level = find_child(child, "lvl")
            if level is not None:
                instance.levels[index] = _read_level(level)
        self._instances[number_id] = instance
        for index, known in self._abstract.get(abstract_id, {}).items():
            if known.paragraph_style:
                self.style_levels.setdefault(known.paragraph_style, (number_id, index))

    def next_label(self, number_id: str, index: int) -> str:
        """Count this paragraph and return its printed label ('' for unknown lists)."""
        instance = self._instances.get(number_id)
        if instance is None or not 0 <= index < MAX_LEVELS:
            return ""
        counters = self._counters.setdefault(instance.abstract_id, [None] * MAX_LEVELS)
        level = self._level(instance, index)
        if level is None:
            return ""
        key = (number_id, index)
        if index in instance.starts and key not in self._started:
            counters[index] = instance.starts[index]
        else:
            current = counters[index]
            counters[index] = self._start(instance, index) if current is None else current + 1
        self._started.add(key)
        for lower in range(index + 1, MAX_LEVELS):
            below = self._level(instance, lower)
            if (
                below is not None
                and below.restart is not None
                and (below.restart == 0 or index >= below.restart)
            ):
                continue
            counters[lower] = None
        return self._render(instance, index, level, counters)

    def _level(self, instance: _Instance, index: int) -> Level | None:
        return instance.levels.get(index) or self._abstract.get(instance.abstract_id, {}).get(index)

    def _start(self, instance: _Instance, index: int) -> int:
        level = self._level(instance, index)
        return level.start if level else 1

    def _render(self, instance: _Instance, index: int, level: Level, counters: list[int | None]) -> str:
        if level.number_format == "bullet":
            return BULLET if level.text.strip() else ""
        if level.number_format == "none" and "%" not in level.text:
            return ""

        def substitute(match: re.Match[str]) -> str:
            place = int(match.group(1)) - 1
            of_level = self._level(instance, place)
            value = counters[place]
            if value is None:
                value = counters[place] = self._start(instance, place)
            if of_level is None:
                return ""
            number_format = "decimal" if level.is_legal and place != index else of_level.number_format
            return format_number(value, number_format)

        return re.sub(r"%([1-9])", substitute, level.text)


def _read_level(element: etree._Element) -> Level:
    start = read_integer(find_child(element, "start"))
    legal = find_child(element, "isLgl")
    return Level(
        start=1 if start is None else start,
        number_format=read_attribute(find_child(element, "numFmt"), "val") or "decimal",
        text=read_attribute(find_child(element, "lvlText"), "val") or "",
        is_legal=legal is not None and (read_attribute(legal, "val") or "1") not in ("0", "false"),
        restart=read_integer(find_child(element, "lvlRestart")),
        suffix=read_attribute(find_child(element, "suff"), "val") or "tab",
        paragraph_style=read_attribute(find_child(element, "pStyle"), "val"),
    )


def format_number(value: int, number_format: str) -> str:
    """Write `value` in a number format of ECMA-376 §17.18.59, unknown ones as decimal."""
    writer = _WRITERS.get(number_format)
    return writer(value) if writer else str(value)


def _letters(value: int, first: str) -> str:
    if value < 1:
        return str(value)
    return chr(ord(first) + (value - 1) % 26) * ((value - 1) // 26 + 1)


def _roman(value: int) -> str:
    if not 0 < value < 4000:
        return str(value)
    text = ""
    for number, letters in zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    ):
        text += letters * (value // number)
        value %= number
    return text


def chinese_number(value: int, digits: str = "零一二三四五六七八九", units: str = "十百千") -> str:
    """Write 0–9999 as a Chinese counting number (12 → 十二, 105 → 一百零五)."""
    if not 0 <= value < 10_000:
        return str(value)
    if value == 0:
        return digits[0]
    text = ""
    is_gap = False
    for power in (3, 2, 1, 0):
        digit = value // 10**power % 10
        if digit:
            text += (
                (digits[0] if is_gap and text else "") + digits[digit] + (units[power - 1] if power else "")
            )
            is_gap = False
        else:
            is_gap = True
    ten = digits[1] + units[0]
    return text[len(digits[1]) :] if text.startswith(ten) and units[0] == "十" else text


def _circled(value: int) -> str:
    if 1 <= value <= 20:
        return chr(0x2460 + value - 1)
    if 21 <= value <= 35:
        return chr(0x3251 + value - 21)
    if 36 <= value <= 50:
        return chr(0x32B1 + value - 36)
    return str(value)


def _ordinal(value: int) -> str:
    ending = "th" if 10 <= value % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"


_WRITERS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "none": lambda value: "",
    "decimalZero": lambda value: f"{value:02d}",
    "upperLetter": lambda value: _letters(value, "A"),
    "lowerLetter": lambda value: _letters(value, "a"),
    "upperRoman": _roman,
    "lowerRoman": lambda value: _roman(value).lower(),
    "ordinal": _ordinal,
    "decimalFullWidth": lambda value: "".join(chr(ord(digit) + 0xFEE0) for digit in str(value)),
    "decimalFullWidth2": lambda value: "".join(chr(ord(digit) + 0xFEE0) for digit in str(value)),
    "decimalHalfWidth": str,
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "decimalEnclosedFullstop": lambda value: chr(0x2488 + value - 1) if 1 <= value <= 20 else f"{value}.",
    "decimalEnclosedParen": lambda value: chr(0x2474 + value - 1) if 1 <= value <= 20 else f"({value})",
    "chineseCounting": chinese_number,
    "chineseCountingThousand": chinese_number,
    "japaneseCounting": chinese_number,
    "taiwaneseCounting": chinese_number,
    "taiwaneseCountingThousand": chinese_number,
    "ideographDigital": lambda value: "".join(_DIGITS[int(digit)] for digit in str(value)),
    "japaneseDigitalTenThousand": lambda value: "".join(_DIGITS[int(digit)] for digit in str(value)),
    "taiwaneseDigital": lambda value: "".join(_DIGITS[int(digit)] for digit in str(value)),
    "chineseLegalSimplified": lambda value: chinese_number(value, _LEGAL_DIGITS, "拾佰仟"),
    "ideographLegalTraditional": lambda value: chinese_number(value, _TRADITIONAL_DIGITS, "拾佰仟"),
    "ideographTraditional": lambda value: _STEMS[(value - 1) % 10],
    "ideographZodiac": lambda value: _BRANCHES[(value - 1) % 12],
    "ideographEnclosedCircle": lambda value: chr(0x3280 + value - 1) if 1 <= value <= 10 else str(value),
}
