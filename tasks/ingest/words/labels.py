"""The printed labels `一、` `1.` `(1)` `①` `Q1.` `Question 1.` `Part II` …"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple, TypeGuard

from schemas import patterns as re
from tasks.ingest.words.once import once_a_paper
from tasks.ingest.words.word_lists import WORDS, spell

_CHINESE = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
            "壹": 1, "贰": 2, "叁": 3, "肆": 4, "伍": 5, "陆": 6, "柒": 7, "捌": 8, "玖": 9}  # fmt: skip
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_CN = "一二三四五六七八九十百壹贰叁肆伍陆柒捌玖拾"


class Label(NamedTuple):
    """A label found at the start of a line.

    `style` names the form, `value` its number, `end` the index where the text begins. A weak label may as
    well be ordinary text (`2.1938年`, `3 men`) and needs its neighbours to confirm it. A given one was told by more than
    its line: it counts, whatever its neighbours are.
    """

    style: str
    value: int
    end: int
    text: str
    is_weak: bool = False
    is_given: bool = False


def form_of(label: Label) -> tuple[str, str]:
    """What labels of one form have in common: their style and what closes them."""
    last = label.text[-1:]
    return label.style, "" if last.isnumeric() else last


SPELLED: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "sixteen": 16, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "eighty": 80, "hundred": 100,
}  # fmt: skip
# so far questions and parts are numbered in words
_SPELLED = "|".join(word.title() for word, value in SPELLED.items() if value <= 10)
# what makes a number the label of a question, as it is printed
_NAMES = "|".join(map(re.escape, WORDS["label_words"]))
# what heads a part of a paper, as a title or in capitals throughout
_PARTS = (
    "Part|Section|Unit|Round|Bagian|Bölüm|Phần|Deel|Część|Runde|Ronda|Manche|Раунд|Teil|Abschnitt|Parte|Partie|Exercice|"
    "Sección|Seccion|Sezione|Seção|Часть|Раздел|Розділ|Частина"
)

_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "part",
        re.compile(
            rf"(?:{_PARTS}|{_PARTS.upper()})\s*[-:.]?\s*([IVX]{{1,5}}|[A-HАБВСГ]|\d{{1,2}}|{_SPELLED}|{_SPELLED.lower()}|{_SPELLED.upper()})"
            r"(?![A-Za-z])\s*[.．、:：)）\-–—]?\s*"
        ),
    ),
    # alone on its line or above a title: `Group 2 elements` and `Group A  Group B` head nothing
    ("part", re.compile(r"(?:Group|GROUP)\s*[-–—:.]?\s*([IVX]{1,4}|[A-H])\s*[-–—:.]?\s*(?=[(（\[]|$)")),
    (
        "part",
        re.compile(
            rf"第\s*([{_CN}]{{1,3}}|[IVXⅠⅡⅢⅣⅤⅥⅦⅧ]{{1,4}}|\d{{1,2}})\s*(?:部分|大[题問]|卷|問(?!題))\s*[.．、:：]?\s*"
        ),
    ),
    (
        "wordp",
        re.compile(
            r"(?:Question|Problem|Exercise|QUESTION|PROBLEM|Q)\s*[.#]?\s*\d{1,2}[.\-]?([a-h])\s*(?:[.．:：)）]\s*|(?=\s|[(\[])|$)"
        ),
    ),
    (
        "word",
        re.compile(
            rf"(?:(?:{_NAMES}|Q|DOMANDA|QUEST[AÃ]O|Exercice)\s*[.:#]?\s*(?:No|NO|Number|NUMBER|Num|Nr|[Nn]\s?[°º])|{_NAMES})\s*[.:#№-]?\s*(\d{{1,3}})(?:\s*(?:of|/)\s*\d{{1,3}}(?=\s*(?:[.:：]|$)))?\s*(?:[.．:：、)）\-–]|(?=\s|[(（\[])|$)\s*"
        ),
    ),
    (
        "word",
        re.compile(
            rf"(?:Question|Problem|Exercise|QUESTION|PROBLEM|EXERCISE)\s+({_SPELLED})\b\s*[.．:：、)）\-–—]?\s*",
            re.IGNORECASE,
        ),
    ),
    ("word", re.compile(r"Q\s*\.?\s*(\d{1,3})(?:\s*[.．:：、)）](?:\s++|(?!\d))|\s*-?\s*(?!\w))")),
    (
        "word",
        re.compile(
            r"(?:【|\[)?\s*(?:第\s*(\d{1,4})\s*[题题](?!\s*图(?:[\s|)）]|$))|题\s*目?\s*(\d{1,4})(?=[\s.．:：、】\]]|(?<=目\d)$|(?<=目\d\d)$)|试题\s*(\d{1,4}))\s*(?:】|\])?\s*[.．:：、]?\s*"
        ),
    ),
    ("word", re.compile(rf"第\s*([{_CN}]{{1,3}})\s*题\s*[.．:：、]?\s*")),
    ("word", re.compile(r"例\s*题?\s*(\d{1,3})\s*[.．:：、]?\s*")),
    ("cn", re.compile(rf"([{_CN}]{{1,3}})\s*[、.．,，:：]\s*")),
    ("cnp", re.compile(rf"[（(]\s*([{_CN}]{{1,3}})\s*[)）]\s*[、.．]?\s*")),
    ("nump", re.compile(r"[（(]\s*(\d{1,3})\s*[)）]\s*[、.．,，:：]?\s*")),
    ("nump", re.compile(r"([⑴-⒇])\s*")),
    ("bracket", re.compile(r"[\[【]\s*(\d{1,4})\s*[\]】]\s*[、.．:：]?\s*")),
    ("capnum", re.compile(r"[A-HАБВСГ](\d{1,2})[.)]\s+(?=\S)")),
    ("num", re.compile(r"(\d{1,3})\s?[-–]\s?\d{1,3}\s?[.)]\s+(?=[A-Z])")),
    ("dec", re.compile(r"\d{1,2}\.([1-9]\d?)[.)]?\s+(?=[A-Z(])")),
    # `2.1 …` in exercises: the chapter, then the number
    ("sub", re.compile(r"(?!0)\d{1,2}[.．](?=[1-9])(\d{1,2})(?:\s+|\s*、\s*)(?=[\u4e00-\u9fff“《])")),
    ("num", re.compile(r"(\d{1,4})\s*(?:[、．]|[.](?!\d)|[.](?=\d))(?:[-–—](?=\s*[^\s\d]))?\s*")),
    ("num", re.compile(r"([⒈-⒛])\s*")),
    ("paren", re.compile(r"(\d{1,3})\s*[°º]?\s*[)）]\s*[、.．]?\s*")),
    ("circ", re.compile(r"([①-⑳㉑-㉟])\s*[、.．]?\s*")),
    ("romanp", re.compile(r"[（(]\s*([ivx]{1,5}|[IVX]{1,5})\s*[)）]\s*")),
    ("roman", re.compile(r"([IVX]{1,5}|[Ⅰ-Ⅻ])\s*[、.．:：]\s*")),
    ("romanl", re.compile(r"([ivx]{1,5})\s*[).）．]\s*")),
    ("letterp", re.compile(r"[（(]\s*([a-z])\s*[)）]\s*")),
    ("letter", re.compile(r"([a-h])\s*[).）．、]\s+")),
)
_BARE = re.compile(
    r"(\d{1,3})(?:[ \t]+|(?=[\u3400-\u9fff“《（【]))(?=[^\d\s.,，。:%％=+\-*/<>年月日个分元]|-{5})"
    rf"(?!{spell(WORDS['counted_words'])}\b)"
)
_COMMA = re.compile(r"(\d{1,3})\s*[,，:：]\s*(?=\D)")
# With what a label of each style may begin; a 0 stands for every digit.
_STARTS = {
    "part": "PSUTAEЧР第RBDCMG",
    "wordp": "QPE",
    "word": "QqPpEeNIFDВ【[第题试例",
    "cn": _CN,
    "cnp": "（(",
    "nump": "（(" + "".join(map(chr, range(0x2474, 0x2488))),
    "bracket": "[【",
    "capnum": "ABCDEFGHАБВСГ",
    "num": "0" + "".join(map(chr, range(0x2488, 0x249C))),
    "dec": "0",
    "sub": "0",
    "paren": "0",
    "circ": "".join(map(chr, (*range(0x2460, 0x2474), *range(0x3251, 0x3260)))),
    "romanp": "（(",
    "roman": "IVX" + "".join(map(chr, range(0x2160, 0x216C))),
    "romanl": "ivx",
    "letterp": "（(",
    "letter": "abcdefgh",
}
# Most lines are no label, and their first character tells: the forms to try, in their order, by that character.
_BY_START: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
for _style, _pattern in _FORMS:
    for _character in _STARTS[_style]:
        _BY_START.setdefault(_character, []).append((_style, _pattern))
# forms that number the parts of a question
PARTS = ("letter", "letterp", "romanl", "romanp", "dec")
# forms that count questions without help, the last those of exercises
COUNTING = ("num", "nump", "paren", "word", "bracket")
KNOWN_NUMBERS = (*COUNTING, "sub")
# forms that head sections, whatever stands behind them
HEADING = ("cn", "part", "roman")


def is_sure(label: Label | None, styles: Collection[str]) -> TypeGuard[Label]:
    """Whether a label is of one of these styles, and can hardly be ordinary text."""
    return label is not None and not label.is_weak and label.style in styles


def counts_questions(label: Label | None) -> TypeGuard[Label]:
    """Whether a label needs nothing else to be the number of a question."""
    # `is_sure`, without another call: it is asked of every line by many steps
    return label is not None and not label.is_weak and label.style in KNOWN_NUMBERS


def may_label(character: str) -> bool:
    """Whether a label may begin with this character."""
    return character in _BY_START or character.isdecimal()


_PLAIN_NUMBER = re.compile(r"(\d{1,4})\s*[、．.](?!\d)(?:[-–—](?=\s*[^\s\d]))?\s*")


@once_a_paper
def parse_label(text: str) -> Label | None:
    """Return the label at the start of `text` (after white space), or None."""
    body = text.lstrip()
    lead = len(text) - len(body)
    first = body[:1]
    plain = _PLAIN_NUMBER.match(body) if first.isdecimal() else None
    if plain is not None and plain[1].isascii():
        # most of them; `6. 298 K` is as sure as `6. What`
        end = plain.end()
        is_weak = end < len(body) and body[end].isdigit() and not body[end - 1].isspace()
        return Label("num", int(plain[1]), lead + end, plain[0].strip(), is_weak)
    for style, pattern in _BY_START.get("0" if first.isdecimal() else first, ()):
        match = pattern.match(body)
        if not match:
            continue
        token = next(group for group in match.groups() if group)
        value = _read_letter(token) if style in ("part", "letter", "letterp", "wordp") else read_number(token)
        if value is None:
            continue
        # `3.14` may be a decimal, `6. 298 K` is not
        is_weak = (
            style == "num"
            and match.end() < len(body)
            and body[match.end()].isdigit()
            and not body[match.end() - 1].isspace()
        )
        if is_weak and value == 0:
            continue  # `0.01`
        if style == "romanl" and token in ("v", "x"):
            is_weak = True
        if style == "cn" and body[len(token) :].lstrip()[:1] in ",，.:：" and len(token) == 1:
            is_weak = True
        return Label(style, value, lead + match.end(), match.group(0).strip(), is_weak)
    for style, pattern in (("num", _COMMA), ("bare", _BARE)) if first.isdecimal() else ():
        match = pattern.match(body)
        if match:
            return Label(style, int(match.group(1)), lead + match.end(), match.group(1), True)
    return None


def _read_letter(token: str) -> int | None:
    """Read a letter as a number; `Part V` is the fifth all the same."""
    token = token.translate(_LATIN)
    is_letter = len(token) == 1 and ("A" <= token <= "H" or "a" <= token <= "z")
    return ord(token.casefold()) - ord("a") + 1 if is_letter else read_number(token)


# `Часть А`, `Часть В`, and `Часть Б` for the latter
_LATIN = str.maketrans("АБВСГ", "ABBCD")


def read_number(token: str) -> int | None:
    """Read an Arabic, Chinese, Roman, circled or spelled number; None when it is none of them."""
    token = token.strip()
    if token.isascii() and token.isdigit():
        return int(token)
    if len(token) == 1:
        code = ord(token)
        for first, last, base in (
            (0x2460, 0x2473, 1), (0x3251, 0x325F, 21), (0x2474, 0x2487, 1), (0x2488, 0x249B, 1), (0x2160, 0x216B, 1),
        ):  # fmt: skip
            if first <= code <= last:
                return code - first + base
    if (spelled := SPELLED.get(token.casefold())) is not None:
        return spelled
    if all(character in _ROMAN for character in token.upper()) and token:
        return _read_roman(token.upper())
    is_letter = len(token) == 1 and ("A" <= token <= "H" or "a" <= token <= "z")
    return _read_letter(token) if is_letter else _read_chinese(token)


def _read_roman(token: str) -> int | None:
    total = 0
    for index, character in enumerate(token):
        value = _ROMAN[character]
        following = _ROMAN[token[index + 1]] if index + 1 < len(token) else 0
        total += -value if value < following else value
    return total if 0 < total < 60 else None


def _read_chinese(token: str) -> int | None:
    total, digit, seen = 0, 0, False
    for character in token:
        if character in _CHINESE:
            digit, seen = _CHINESE[character], True
        elif character in "十拾":
            total, digit, seen = total + (digit or 1) * 10, 0, True
        elif character in "百佰":
            total, digit, seen = total + (digit or 1) * 100, 0, True
        else:
            return None
    return total + digit if seen else None
