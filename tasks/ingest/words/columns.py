"""Which column of a sheet means what, by header names or, without a header, by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources

import yaml

from schemas import patterns as re
from tasks.ingest.words.grammar import asking

MAX_HEADER_ROW = 30
_SAMPLE = 200
# a word for options, or none, with a letter or a number: `选项A`, `Option 2`, `(C)`, `A项`
_OPTION_AFFIX = re.compile(
    r"(?P<word>\D*?)(?<![\s_\-:：.])[\s_\-:：.]*+[（(]?(?:(?P<letter>[a-j])|(?P<number>[1-9一二三四五六七八九]))[)）]?[\s_]*(?P<behind>项|项目|项内容|选项内容|选项|答案|option|choice)?"
)
_STEMS_OF_TEN = ("甲", "乙", "丙", "丁", "戊", "己")
# Names that a template makes longer (`大题题干`, `试题的标准答案`) still end like the short ones.
_LOOSE_NAMES = (
    ("type", re.compile(r"题型$|试题类型$")),
    ("stem", re.compile(r"题干$|(?:试题|题目|考题)(?:内容|正文|描述|文本)$")),
    (
        "answer",
        re.compile(
            r"(?:正确|标准|参考)(?:答案|选项)$|^correct (?:answer|option|choice|response)s?\b.{0,12}$"
        ),
    ),
    ("explanation", re.compile(r"(?:答案|试题|题目)?解析$")),
    ("chapter", re.compile(r"知识点$")),
)
# what counts names of one kind: `distractor 2`
NUMBER_OF = re.compile(r"(?:(?<![\s_])[\s_]++|(?<![\s_\d]))\d++$")
_BLANK_HEADER = re.compile(r"^(?:答案|answer|正确答案|空|填空答案|blank)[\s_\-]*([1-9])$")
# several options in one cell
_PACKED = re.compile(r"\A[^A]{0,20}\bA\s?[;；.．、:：)）][^B]*\bB\s?[;；.．、:：)）]")


@dataclass
class Header:
    """The columns of one sheet, by role (`columns`) and by label (`options`).

    `flags` are the columns that say of an option that it is right, by its label, `wrong` those that hold only
    wrong options.
    """

    row: int
    columns: dict[str, int]
    options: dict[str, int] = field(default_factory=dict)
    blanks: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    unmapped: list[int] = field(default_factory=list)
    flags: dict[str, int] = field(default_factory=dict)
    wrong: list[int] = field(default_factory=list)


@lru_cache(maxsize=1)
def _default_names() -> dict[str, tuple[str, ...]]:
    source = resources.files("tasks.ingest.words").joinpath("columns.yaml").read_text(encoding="utf-8")
    return {role: tuple(str(name) for name in names) for role, names in yaml.safe_load(source).items()}


@lru_cache(maxsize=1)
def _default_roles() -> dict[str, str]:
    """The role by folded name; of two roles with one name the first in the file has it."""
    roles: dict[str, str] = {}
    for role, names in _default_names().items():
        for name in names:
            roles.setdefault(fold_header(name), role)
    return roles


# A cell that is longer is no header, whatever it begins with.
_LONGEST_HEADER = 1_000


@lru_cache(maxsize=4096)
def fold_header(text: str) -> str:
    """Fold case, spaces, underscores, brackets with what they hold, and marks."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text[:_LONGEST_HEADER])  # `correctAnswer`
    folded = parted.casefold()
    folded = re.sub(r"[（(【\[<《].*?[)）】\]>》]", "", folded) or folded.strip("（()）")  # `(a)`
    folded = re.split(r"[,，;；:：\n]|\s[-–—]\s", folded.strip(" *＊:：\n\t"))[0]
    return re.sub(r"[\s_\-]+", " ", folded).strip(" *.．。")


def find_role(
    name: str, extra: Mapping[str, Sequence[str]] | None = None, *, only_extra: bool = False
) -> str | None:
    """Return the role that a header cell names, or None.

    Names of a mapping file (`extra`) go first, or alone.
    """
    folded = fold_header(name)
    if not folded:
        return None
    for role, names in (extra or {}).items():
        if folded in {fold_header(str(known)) for known in names}:
            return role
    if only_extra:
        return None
    role_by_name = _default_roles().get(folded)
    if role_by_name is not None:
        return role_by_name
    # `题目 Question`: a header in two languages
    both = re.fullmatch(
        r"([^\x00-\x7f]+)\s*[ /|]\s*([\x00-\x7f]+)|([\x00-\x7f]+)\s*[ /|]\s*([^\x00-\x7f]+)", folded
    )
    for part in both.groups() if both else ():
        named = find_role(part) if part else None
        if named is not None:
            return named
    if len(folded) <= 16 or folded.isascii():
        return next((role for role, pattern in _LOOSE_NAMES if pattern.search(folded)), None)
    return None


def find_header(
    rows: Sequence[Sequence[str]], extra: Mapping[str, Sequence[str]] | None = None
) -> Header | None:
    """The header among the first rows that names most; None without a question column."""
    best: Header | None = None
    best_score = 0
    for index, row in enumerate(rows[:MAX_HEADER_ROW]):
        header = _read_header(index, row, extra)
        if "stem" not in header.columns:
            continue
        _spread_options(header, rows[index + 1 : index + 1 + _SAMPLE])
        _take_keys(header, rows[index + 1 : index + 1 + _SAMPLE])
        score = len(header.columns) + len(header.options) + len(header.wrong) + len(header.blanks)
        filled = sum(1 for cell in row if cell.strip())
        if score >= 2 and score * 2 >= filled and score > best_score:
            best, best_score = header, score
    return best


def _take_keys(header: Header, below: Sequence[Sequence[str]]) -> None:
    """Read a column of explanations that holds keys alone as that of the answers."""
    place = header.columns.get("explanation")
    if place is not None and "answer" not in header.columns:
        cells = [cell for row in below if (cell := _at(row, place))]
        if len(cells) > 1 and all(map(KEY_CELL.match, cells)):
            header.columns["answer"] = header.columns.pop("explanation")


def _spread_options(header: Header, below: Sequence[Sequence[str]]) -> None:
    """Find the columns of options below one heading, or those called by numbers.

    Labels in the next row (`A | B | C`) end the header, whatever the heading is. Without them the columns behind
    `选项` have no name, or the same one again, and hold something in most rows in which the first does.
    """
    if header.options:
        return
    numbers = [place for place in header.unmapped if header.names[place].isdecimal()]
    counted = [int(header.names[place]) for place in numbers]
    if counted == [*range(1, len(counted) + 1)] and 1 < len(counted) < 9:
        header.options = {chr(ord("A") + at): place for at, place in enumerate(numbers)}
        header.unmapped = [place for place in header.unmapped if place not in numbers]
        return
    first = header.columns.get("options")
    stem = header.columns["stem"]
    # the name of the stem comes again where its cell spans both rows
    if below and _at(below[0], stem) in ("", header.names[stem]):
        taken = {place for role, place in header.columns.items() if role != "options"}
        labels = {place: read_option_label(cell) for place, cell in enumerate(below[0]) if place not in taken}
        named = {label: place for place, label in labels.items() if label is not None}
        if len(named) > 1:
            header.row += 1
            header.columns.pop("options", None)
            header.options = named
            return
    if first is None or any(_PACKED.search(_at(row, first)) for row in below):
        return  # or a cell holds all the options of its question
    shared = fold_header(header.names[first])
    last = first + 1
    while last < len(header.names) and fold_header(header.names[last]) in ("", shared):
        last += 1
    columns = range(first, min(last, first + 8))
    offering = [row for row in below if _at(row, first)]
    full = [sum(bool(_at(row, column)) for row in offering) for column in columns]
    while full and full[-1] == 0:
        full.pop()
    if len(full) > 1 and full[1] * 2 >= len(offering):
        del header.columns["options"]
        header.options = {chr(ord("A") + at): column for at, column in enumerate(columns[: len(full)])}


def _at(row: Sequence[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""


def _read_header(index: int, row: Sequence[str], extra: Mapping[str, Sequence[str]] | None) -> Header:
    header = Header(index, {}, names=[cell.strip() for cell in row])
    for column, cell in enumerate(row):
        folded = fold_header(cell)
        if not folded or len(folded) > 30:
            continue
        mapped = find_role(cell, extra, only_extra=True) if extra else None
        label = read_option_label(cell) if mapped is None else mapped
        if label is not None and len(label) == 1 and label not in header.options:
            header.options[label] = column
            continue
        if mapped is None and _BLANK_HEADER.match(folded):
            header.blanks.append(column)
            continue
        role = find_role(cell, extra)
        if role == "distractors" or (role is None and find_role(NUMBER_OF.sub("", folded)) == "distractors"):
            header.wrong.append(column)
        elif role is None:
            header.unmapped.append(column)
        elif role not in header.columns:
            header.columns[role] = column
        elif role == "stem" and _rank_stem(cell) < _rank_stem(row[header.columns["stem"]]):
            # of two columns that could be the stem, the one with the more telling name is it
            header.unmapped.append(header.columns["stem"])
            header.columns["stem"] = column
        else:
            header.unmapped.append(column)
    if len(header.blanks) > 1 and "answer" in header.columns and not header.options:
        # `Answer 1`, `Answer 2` … beside a column with the correct one are what is offered
        header.options = {chr(ord("A") + place): column for place, column in enumerate(header.blanks[:8])}
        header.blanks = []
    if header.blanks and "answer" not in header.columns:
        header.columns["answer"] = header.blanks[0]
    return header


_STEM_ORDER = (
    "题干",
    "stem",
    "question text",
    "question stem",
    "题目内容",
    "试题内容",
    "question",
    "题目",
    "问题",
    "试题",
)


def _rank_stem(name: str) -> int:
    """The place of a header cell among the names of stems, the most telling first."""
    folded = fold_header(name)
    return _STEM_ORDER.index(folded) if folded in _STEM_ORDER else len(_STEM_ORDER)


def read_option_label(name: str) -> str | None:
    """The letter of the option that a header cell names (`选项A`, `option_b`, `乙`), or None."""
    folded = fold_header(name)
    if folded in _STEMS_OF_TEN:
        return chr(ord("A") + _STEMS_OF_TEN.index(folded))
    match = _OPTION_AFFIX.fullmatch(folded)
    word = match["word"].strip(" _-:：.（(") if match is not None else ""
    names_options = _default_roles().get(word) == "options"
    if match is None or (word and not names_options and (word != "answer" or not match["letter"])):
        return None
    if match["letter"]:
        return match["letter"].upper()
    if not names_options or match["behind"]:
        return None
    token = match["number"]
    value = int(token) if token.isdigit() else "一二三四五六七八九".index(token) + 1
    return chr(ord("A") + value - 1)


# `考生作答`, `用户答案`: what somebody answered
_STUDENTS = re.compile(
    r"(?:考生|学生|用户|我的|你的|您的|作答|选手)|\b(?:your|user|student|my|selected|given)\b"
)


def is_a_students(name: str) -> bool:
    """Whether a header cell names the answers that somebody gave."""
    return _STUDENTS.search(fold_header(name)) is not None


# Header names that, in the middle of a paper, say by themselves that their column holds questions; names like
# `内容` or `Title` also head the tables of data that stems show.
_STRONG_STEM = re.compile(
    r"题|題|问|問|문제|문항|stem|questions?|question (?:text|stem|content)|problems?|prompt", re.IGNORECASE
)
KEY_CELL = re.compile(
    r"^\s*(?:[A-Ja-j](?:[\s,，、;；]*[A-Ja-j]){0,7}|√|×|✓|✗|○|对|错|正确|错误|T|F|true|false)\s*$",
    re.IGNORECASE,
)
# what heads troubles as well: `소음 공해` beside its cause
_TROUBLES = re.compile(r"问题|問題|문제|problems?")
MIN_STEM = 4


def find_question_header(rows: Sequence[Sequence[str]]) -> Header | None:
    """Return the header of a table of questions, or None where the table holds something else."""
    if not rows or max(len(row) for row in rows) < 2:
        return None
    header = find_header(rows)
    if header is None:
        return _find_numbered(rows)
    stem = fold_header(header.names[header.columns["stem"]])
    offers = len(header.options) >= 2 or "options" in header.columns
    answers = "answer" in header.columns
    is_strong = _STRONG_STEM.search(stem) is not None
    if not (offers or answers) and not (is_strong and ({"number", "type"} & set(header.columns))):
        return _find_numbered(rows)
    if not is_strong and not offers and not _are_keys(rows, header):
        return _find_numbered(rows)
    column = header.columns["stem"]
    stems = [row[column].strip() for row in rows[header.row + 1 :] if column < len(row)]
    is_data = not (offers or answers) and header.unmapped and _TROUBLES.fullmatch(stem) is not None
    if is_data and not any(asking().search(text) for text in stems):
        return None
    if all(find_role(text) == "answer" for text in stems if text):
        return None  # `Frage | 1 | 2 | 3` above `Lösung | C | A | B`
    return header if any(len(text) >= MIN_STEM for text in stems) else None


_LEAST_NUMBERED, _MOST_ASKING = 4, 0.6


def _find_numbered(rows: Sequence[Sequence[str]]) -> Header | None:
    """The columns of a table whose rows are numbered and set tasks, below names or none."""
    filled = [row for row in rows if any(cell.strip() for cell in row[1:])]
    is_named = bool(filled) and filled[0] is rows[0] and not any(map(str.isdigit, filled[0][0]))
    header = _read_header(0, rows[0], None) if is_named else Header(-1, {})
    filled = filled[is_named:]
    values = [row[0].strip().rstrip(".、") for row in filled]
    if len(values) < _LEAST_NUMBERED or values != [str(value) for value in range(1, len(values) + 1)]:
        return None
    width = min(len(row) for row in filled)
    tasks, _, column = max(
        (
            sum(1 for row in filled if asking().search(_at(row, at))),
            sum(len(_at(row, at)) for row in filled),
            at,
        )
        for at in range(width)
    )
    if not column or tasks < _MOST_ASKING * len(filled):
        return None
    kept = {role: at for role, at in header.columns.items() if role == "answer" and at != column}
    unmapped = [at for at in range(1, width) if at not in {column, *kept.values()}]
    names = header.names or [""] * width
    return Header(header.row, {"number": 0, "stem": column, **kept}, names=names, unmapped=unmapped)


_LETTER_CELL = re.compile(r"\s*[（(]?(?P<letter>[a-j])\s*[)）.．、]?\s*")


def find_lettered_header(rows: Sequence[Sequence[str]]) -> Header | None:
    """The columns of a table with rows a, b, c … below a name of questions, or None."""
    if len(rows) < len("ab") + 1 or len(rows[0]) < len(("letter", "stem")):
        return None
    header = _read_header(0, rows[0], None)
    letters = [match["letter"] if (match := _LETTER_CELL.fullmatch(row[0])) else "" for row in rows[1:]]
    is_run = letters == [*"abcdefghij"[: len(letters)]]
    if not is_run or header.columns.get("stem", 0) == 0 or header.options:
        return None
    return Header(0, {**header.columns, "number": 0}, names=header.names, unmapped=header.unmapped)


def _are_keys(rows: Sequence[Sequence[str]], header: Header) -> bool:
    """Whether the answer column holds letters or judgements, and nothing else."""
    column = header.columns.get("answer")
    if column is None:
        return False
    keys = [row[column] for row in rows[header.row + 1 :] if column < len(row) and row[column].strip()]
    return len(keys) >= 2 and all(KEY_CELL.match(key) for key in keys)
