"""The marks of options by their repetition: letters, numbers, bullets, `T、` and `F、`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.pieces import IndexedLines, Piece, is_sign, rewrite
from tasks.ingest.words.answers import read_truth
from tasks.ingest.words.grammar import answer_mark, number_word, option_alphabets, task, truth_word
from tasks.ingest.words.labels import counts_questions
from tasks.ingest.words.points import BRACKETED
from tasks.ingest.words.signs import asks_by_sign, ends_asking

OPENS_MARK = r"[^\w\s√×（()）“”‘’\"'$\\+\-–—]"
_CLOSE = r"[^\w\s“‘\"'$\\+√×(（\[【《「]"
# Of `A．[2, 3]`, `A．《诗经》` and `A．∠1` the second sign is the option's: `A.)`, `A->`.
_CLOSES = rf"{_CLOSE}(?:[)）\]】.．。、:：>])?"
WIDTHS = str.maketrans("．，：；）（】【！", ".,:;)(][!")
_LETTER_SHAPE = re.compile(
    rf"(?P<before>^|\s)(?P<open>(?:{OPENS_MARK}|[（(])?)(?P<letter>[A-Ja-j])(?P<close>\s*{_CLOSES}|(?=[\u4e00-\u9fff“《])|(?=\d)|\s+)(?=\s*\S)"
)
# The same, beginning with the letter and looking back from it: a search skips to letters.
_BEFORE = rf"(?:{OPENS_MARK}|[（(])"
_SHAPED_LETTER = re.compile(
    rf"(?P<letter>[A-Ja-j])(?:(?<!\S[A-Ja-j])|(?<=\s{_BEFORE}[A-Ja-j])|(?<=^{_BEFORE}[A-Ja-j]))(?P<close>\s*{_CLOSES}|(?=[\u4e00-\u9fff“《])|(?=\d)|\s+)(?=\s*\S)"
)


class Lettered(NamedTuple):
    """A letter with what opens and closes it: where mark and text begin, and its shape."""

    begin: int
    end: int
    shape: str
    letter: str


def _find_lettered(text: str) -> list[Lettered]:
    """The letters of a line that stand at its start or after white space."""
    found: list[Lettered] = []
    last = 0
    for match in _SHAPED_LETTER.finditer(text):
        place = match.start()
        begin = place if place == 0 or text[place - 1].isspace() else place - 1
        if begin and begin - 1 < last:
            continue
        opening, letter = text[begin:place], match["letter"]
        if opening in tuple("（(") and match["close"].strip() not in tuple("）)"):
            continue  # `(a cell`
        found.append(Lettered(begin, match.end(), _name_shape(opening, letter, match["close"]), letter))
        last = match.end()
    return found


# what layout/options.py reads everywhere without help
_PLAIN = re.compile(r"[Aa][.、:)]\Z|[（(\[【][Aa][)\]】]\Z")


_MOST_SILENT = 0.6


def write_letters(lines: IndexedLines) -> IndexedLines:
    """Write letters of a shape (`a>`, `A-`, `A。`) that runs A B C in several questions."""
    if not _opens_unusual(lines):
        return lines
    pieces = lines.pieces
    shapes: dict[str, list[tuple[int, Lettered]]] = {}
    for index, piece in enumerate(pieces):
        for mark in _find_lettered(piece.text):
            shapes.setdefault(mark.shape, []).append((index, mark))
    plain = 0
    wanted: list[tuple[int, Lettered]] = []
    for shape, sets in _find_all_sets(shapes, pieces).items():
        if "a" in shape:
            # among lists of answers, one that asks numbers the parts of its question
            silent = [group for group in sets if 2 * _count_asking([group], pieces) < len(group)]
            sets = silent if len(silent) >= _MOST_SILENT * len(sets) else sets
        is_plain = _PLAIN.match(shape) is not None and "A" in shape
        if is_plain:
            plain = max(plain, len(sets))
        elif (
            "a" in shape
            and _PLAIN.match(shape)
            and (not _offers_answers(sets, pieces) or _ask_for_tasks(sets, pieces))
        ):
            continue  # parts of questions
        elif len(sets) >= (2 if "A" in shape else 3):
            wanted += chain.from_iterable(sets)
    return lines.replace(_write_lettered(pieces, wanted)) if plain <= len(wanted) else lines


def _write_lettered(pieces: Sequence[Piece], marks: Sequence[tuple[int, Lettered]]) -> dict[int, Piece]:
    """The lines with `A. ` for each mark, wide enough to part options on one line."""
    changed: dict[int, Piece] = {}
    for index, one in sorted(marks, key=lambda pair: -pair[1].begin):
        piece = changed.get(index, pieces[index])
        lead = "  " if piece.text[: one.begin].strip() else ""
        changed[index] = rewrite(piece, one.end, f"{lead}{one.letter.upper()}. ", one.begin)
    return changed


def _ask_for_tasks(sets: Sequence[Sequence[tuple[int, Lettered]]], pieces: Sequence[Piece]) -> bool:
    """Whether lists stand below lines that set a task, whose parts they number."""
    above = [pieces[group[0][0] - 1] for group in sets]
    stems = [piece.text[piece.label.end :] if piece.label else piece.text for piece in above]
    tasks = sum(1 for stem in stems if task().match(stem) is not None and not _INQUIRES.match(stem))
    return tasks > _MOST_TASKS * len(sets)


# `What does NEC explain`, whatever closes it, is asked of what stands below; `What do these stand for:` of each
_MOST_TASKS, _INQUIRES = 0.1, re.compile(r".*[?？]\s*$|\s*(?i:what|why|how)\b.*[^\s:：]\s*$", re.DOTALL)


def write_alphabets(lines: IndexedLines) -> IndexedLines:
    """Write `ア イ ウ エ` and `а) б) в) г)` below several questions as `A. `."""
    for alphabet in option_alphabets():
        pieces = lines.pieces
        sets = _find_alphabet_sets(lines, alphabet)
        if not sets:
            continue
        entry = _make_entry(alphabet)
        held = {index for group in sets for index, _ in group}
        led = re.compile(rf"\s*(?P<lead>[^\W\d_][^:：\d]{{1,15}}[:：])\s*(?P<keys>[{alphabet}])\s*[.。]?\s*")
        said = {
            index: match
            for index, piece in enumerate(pieces)
            if index not in held and (match := led.fullmatch(piece.text)) is not None
        }
        leads = Counter(match["lead"] for match in said.values())
        keys = {
            index: []
            if index in held
            else [said[index].span("keys")]
            if index in said and leads[said[index]["lead"]] >= max(_LEAST_KEYS, _MOST_LED * len(sets))
            else _find_keys(piece.text, entry)
            for index, piece in enumerate(pieces)
        }
        if len(sets) < _LEAST_OF_ALPHABET and sum(map(len, keys.values())) < _LEAST_KEYS:
            continue  # a box of words above several questions stands once
        changed = _write_lettered(pieces, [*chain.from_iterable(sets)])
        for index, piece in enumerate(pieces):
            for begin, end in reversed(keys[index]):
                written = _translate(piece.text[begin:end], alphabet)
                piece = changed[index] = rewrite(piece, end, written, begin)
        lines = lines.replace(changed)
    return lines


def find_alphabet(lines: IndexedLines) -> str | None:
    """The letters of another script that label options of several questions, or None."""
    found = ((len(_find_alphabet_sets(lines, alphabet)), alphabet) for alphabet in option_alphabets())
    count, alphabet = max(found)
    return alphabet if count >= _LEAST_OF_ALPHABET else None


def translate_keys(text: str, alphabet: str) -> str:
    """A line of keys with `A`, `B` for letters of an alphabet; any other as it is."""
    for begin, end in reversed(_find_keys(text, _make_entry(alphabet))):
        text = text[:begin] + _translate(text[begin:end], alphabet) + text[end:]
    return text


def _translate(keys: str, alphabet: str) -> str:
    return keys.translate(str.maketrans(alphabet, _LETTERS[: len(alphabet)]))


@lru_cache(maxsize=16)
def _make_entry(alphabet: str) -> re.Pattern[str]:
    return re.compile(_KEY_ENTRY.replace("@", alphabet))


def _find_alphabet_sets(lines: IndexedLines, alphabet: str) -> list[list[tuple[int, Lettered]]]:
    """The sets of options that letters of an alphabet label."""
    pieces = lines.pieces
    sets: list[list[tuple[int, Lettered]]] = []
    if alphabet[0] not in lines.text:
        return sets
    # letters alone count where none has a stop: `ア`, while `в` is a word of what `а)` offers
    for stop in (r"\s*[)）\]．.、:：]", r"(?=\s)"):
        mark = re.compile(rf"(?:^\s*[-–—•*+]\s+|^|(?<=\s))[（(\[]?(?P<letter>[{alphabet}]){stop}\s*(?=\S)")
        found = [
            (
                index,
                Lettered(one.start(), one.end(), alphabet[0], _LETTERS[alphabet.index(one["letter"])]),
            )
            for index, piece in enumerate(pieces)
            if piece.kind != "table"
            for one in mark.finditer(piece.text)
        ]
        sets = max(sets, _find_sets(found, pieces), key=len) if len(sets) < _LEAST_OF_ALPHABET else sets
    return sets


_LEAST_OF_ALPHABET, _LEAST_KEYS = 2, 3
# a word before a letter, `תשובה: ב`, opens answers where it stands below so many lists
_MOST_LED = 0.7
# `Вариант 1:`, `第1問`, `一、`: what keys may stand behind; a key behind its number, or alone, or several with commas;
# what may explain the last one
_KEY_LEAD = re.compile(r"(?:[^:：\d]{0,16}\d?\s*[:：]|第\s*\d\s*\w\s|[一二三四五六七八九十]{1,2}、)\s*")
_KEY_ENTRY = (
    rf"\s*[（(\[]?(?:{number_word()}\s*)?(?P<number>\d{{1,3}}(?![\d])\s*[.．、:：)）\]\-–—=|]{{0,2}}\s*)?"
    r"[（(\[]?(?P<keys>[@]{1,8}(?:,\s?[@])*)(?!\w)[)）\]]?(?P<stop>[.．:：])?[\s,，、;；。|]*"
)
_KEY_COMMA = re.compile(r",\s?")
_KEY_REASON = re.compile(r"[（(]|[-–—]\s")


def _find_keys(text: str, entry: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where the keys of a line of keys stand; [] in others, where `в` and `а` are words."""
    opened = answer_mark().match(text)
    if (
        opened is not None
        and text[opened.end() : opened.end() + 1].isalpha()
        and text[opened.end() - 1].isalpha()
    ):
        opened = None  # `Ответы:` is no `Ответ`
    lead = opened or _KEY_LEAD.match(text)
    found: list[re.Match[str]] = []
    place = lead.end() if lead is not None else 0
    while (match := entry.match(text, place)) is not None:
        letters = _KEY_COMMA.sub("", match["keys"])
        if sorted({*letters}) != [*letters]:
            break  # `газ` is a word, `абв` are three keys
        found.append(match)
        place = match.end()
    is_whole = place == len(text) or _KEY_REASON.match(text, place) is not None
    if not is_whole and found and text[found[0].end("keys") :][:1] in tuple(")）.．:：" if opened else ")）"):
        # `Ответ: б) the option's text`, `1. б) the option's text`
        return [found[0].span("keys")] if opened is not None or found[0]["number"] else []
    if not is_whole or (opened is None and not any(match["number"] for match in found)):
        return []
    return [match.span("keys") for match in found]


def _name_shape(opening: str, letter: str, close: str) -> str:
    return f"{opening}{'a' if letter.islower() else 'A'}{close.strip().translate(WIDTHS)}"


def _may_open_first(first: str) -> bool:
    return first in "Aa" or is_sign(first)


def _opens_unusual(lines: IndexedLines) -> bool:
    """Whether two lines begin with an A in one shape that is read nowhere else."""
    counts: Counter[str] = Counter()
    for index in lines.open_where(_may_open_first):
        text = lines.pieces[index].text
        lead = len(text) - len(text.lstrip())
        if "A" not in text[lead : lead + 3] and "a" not in text[lead : lead + 3]:
            continue
        match = _LETTER_SHAPE.search(text, max(lead - 1, 0), lead + 12)
        if match is not None and match.group("letter") in "Aa" and not text[: match.end("before")].strip():
            counts[_name_shape(match["open"], match["letter"], match["close"])] += 1
    return any(count > 1 and not ("A" in shape and _PLAIN.match(shape)) for shape, count in counts.items())


def _find_sets(
    found: Sequence[tuple[int, Lettered]], pieces: Sequence[Piece]
) -> list[list[tuple[int, Lettered]]]:
    """The sets A B C (D …) of one shape that stand together below a line."""
    sets: list[list[tuple[int, Lettered]]] = []
    current: list[tuple[int, Lettered]] = []
    for index, mark in found:
        letter = mark.letter.upper()
        at_start = not pieces[index].text[: mark.begin].strip()
        if letter == "A" and at_start:
            if len(current) >= _LEAST_SET:
                sets.append(current)
            current = [(index, mark)]
        elif (
            current
            and ord(letter) == ord(current[-1][1].letter.upper()) + 1
            and index - current[-1][0] <= _NEAR
        ):
            current.append((index, mark))
    if len(current) >= _LEAST_SET:
        sets.append(current)
    return [group for group in sets if group[0][0] > 0]


def _find_all_sets(
    shapes: Mapping[str, Sequence[tuple[int, Lettered]]], pieces: Sequence[Piece]
) -> dict[str, list[list[tuple[int, Lettered]]]]:
    """The sets of each shape; shapes of one set are one, the one that has most of them.

    `a. …` above `b> …` and `c> …`: a program numbered the first, a person typed the others. Of all letters that one sign opens
    each is the next of the one before it: none of another list stands among them.
    """
    sets = {shape: _find_sets(found, pieces) for shape, found in shapes.items()}
    families: dict[str, list[tuple[int, Lettered]]] = {}
    for shape, found in shapes.items():
        opening, _, close = shape.replace("A", "a").partition("a")
        if close:
            families.setdefault(shape[: len(opening) + 1], []).extend(found)
    for found in families.values():
        runs = _find_runs(sorted(found, key=lambda pair: (pair[0], pair[1].begin)), pieces)
        mixed = [run for run in runs if len({mark.shape for _, mark in run}) > 1]
        if len(mixed) < _LEAST_MIXED:
            continue
        within = {*chain.from_iterable(mixed)}
        joined = {mark.shape for _, mark in within}
        kept = {shape: [one for one in sets.pop(shape) if within.isdisjoint(one)] for shape in joined}
        usual = max(kept, key=lambda shape: (len(kept[shape]), shape))
        sets[usual] = sorted([*chain.from_iterable(kept.values()), *mixed])
    return sets


def _find_runs(
    found: Sequence[tuple[int, Lettered]], pieces: Sequence[Piece]
) -> list[list[tuple[int, Lettered]]]:
    """The sets among letters of all shapes, none of which stands there twice."""
    runs: list[list[tuple[int, Lettered]]] = []
    for index, mark in found:
        step = ord(mark.letter.upper()) - ord("A")
        run = runs[-1] if runs and index - runs[-1][-1][0] <= _NEAR else []
        if run and any(counts_questions(piece.label) for piece in pieces[run[-1][0] + 1 : index]):
            run = []  # of another question
        opens = not pieces[index].text[: mark.begin].strip()
        if opens and not step:
            runs.append([(index, mark)])
        elif run and step < len(run):
            runs.pop()
        elif run and step == len(run) and (opens or index == run[-1][0]):
            run.append((index, mark))
    return [run for run in runs if len(run) >= _LEAST_SET and run[0][0] > 0]


# one set of several shapes is an accident
_NEAR, _LEAST_SET, _LEAST_MIXED = 3, 3, 2


def _offers_answers(sets: Sequence[Sequence[tuple[int, Lettered]]], pieces: Sequence[Piece]) -> bool:
    """Whether lists of small letters ask nothing, are short, and mostly of one length."""
    texts = [pieces[index].text[mark.end :] for group in sets for index, mark in group]
    lengths = [len(group) for group in sets]
    usual = max(set(lengths), key=lengths.count) if lengths else 0
    return (
        len(sets) >= 3
        and usual >= 4
        and lengths.count(usual) >= 0.6 * len(sets)
        and _count_asking(sets, pieces) <= 0.1 * len(texts)
        and sum(map(len, texts)) <= 90 * len(texts)
    )


def _count_asking(sets: Sequence[Sequence[tuple[int, Lettered]]], pieces: Sequence[Piece]) -> int:
    """How many of the lettered texts ask, or bring marks."""
    texts = (pieces[index].text[mark.end :] for group in sets for index, mark in group)
    return sum(map(asks_something, texts))


def asks_something(text: str) -> bool:
    """Whether a text asks, brings marks or demands something: no option does."""
    return ends_asking(text) or _WORTH.search(text) is not None or DEMANDS.match(text) is not None


_WORTH = re.compile(BRACKETED)
DEMANDS = re.compile(
    r"(?i)\s*(?:find|prove|show|explain|define|describe|calculate|compute|draw|write|state|list|give|discuss|determine|what|why|how|derive)\b|求|证明|试|说明|简述|解释|计算|写出|画出|分析|论述|请"
)
HAS_LETTERS = re.compile(r"[（(\[]?[A-Da-d]\s*[.．、:：)）\]>]")


_BULLET = re.compile(r"\s*(?P<sign>[•·●▪■◆◇➢❖○◦\uf000-\uf0ff*+\-–])(?:\s+)(?=\S)")
_LETTERS = "ABCDEFGHIJ"
_MIN_GROUPS = 3
_TRUTH = re.compile(
    rf"(?P<lead>^|\s)(?P<label>[TFYN]|{truth_word()})\s*[.、．)）:：]\s*(?P<word>{truth_word()}|是|否)(?=\s|$)"
)
# without one of these the pattern above, which begins anywhere, matches nothing
_TRUTH_WORD = re.compile(rf"[.、．)）:：]\s*(?:{truth_word()}|是|否)(?=\s|$)")
_OPTION = re.compile(r"\s*[（(\[]?(?P<letter>[A-J])\s*[)）\].．、:：]\s*")


def write_unlettered(lines: IndexedLines) -> IndexedLines:
    """Write options after bullets, or after T and F, with letters."""
    return _write_bullets(_write_truths(lines))


_BOTH = ("true", "false")


def _write_truths(lines: IndexedLines) -> IndexedLines:
    """Write `T、对` and `F、错`, `true. 正确` and `false. 错误` as the options A and B."""
    if _TRUTH_WORD.search(lines.text) is None:
        return lines
    # `Correct: False` alone is an answer: of options the other one stands beside it
    said = {
        index: {read_truth(match["label"]) for match in _TRUTH.finditer(piece.text)}
        for index, piece in enumerate(lines.pieces)
        if _TRUTH_WORD.search(piece.text)
    }
    changed: dict[int, Piece] = {}
    for index in said:
        if len(set().union(*(said.get(index + step, set()) for step in (-1, 0, 1)))) < len(_BOTH):
            continue
        piece = lines.pieces[index]
        match = _TRUTH.search(piece.text)
        while match is not None:
            letter = "A" if read_truth(match.group("label")) == "true" else "B"
            mark = f"{'  ' if match.start('label') else ''}{letter}. "
            piece = rewrite(piece, match.start("word"), mark, match.start("label"))
            match = _TRUTH.search(piece.text, match.start("label") + len(mark))
            changed[index] = piece
    return lines.replace(changed)


def _write_bullets(lines: IndexedLines) -> IndexedLines:
    pieces = lines.pieces
    marks = {index: _BULLET.match(pieces[index].text) for index in lines.open_with_sign()}
    signs = {index: match.group("sign") for index, match in marks.items() if match is not None}
    usual = Counter(signs.values()).most_common(1)
    if not usual or usual[0][1] < 2 * _MIN_GROUPS:
        return lines
    sign = usual[0][0]
    groups: list[list[int]] = []
    for index, own in signs.items():
        if own != sign:
            continue
        if (groups and groups[-1][-1] == index - 1) or (
            groups and index - groups[-1][-1] == 2 and pieces[index - 1].wraps
        ):
            groups[-1].append(index)
        else:
            groups.append([index])
    offered = [
        group
        for group in groups
        if 2 <= len(group) <= 8 and group[0] > 0 and not _TOLD_IN_PART.match(pieces[group[0] - 1].text)
    ]
    if len(offered) < max(_MIN_GROUPS, 0.7 * len(groups)) or not _ask(offered, pieces):
        return lines
    return lines.replace(
        {
            index: rewrite(pieces[index], match.end(), f"{_LETTERS[place]}. ")
            for group in offered
            for place, index in enumerate(group)
            if (match := marks[index]) is not None
        }
    )


# `(b) The table has the types:` above a list of what a part of a question is about
_TOLD_IN_PART = re.compile(
    r"\s*[（(](?:[a-h]|[ivx]{1,4})[)）](?!.*(?:[？?]|(?i:choose|select|which|what)|选|哪))"
)
_QUESTION = re.compile(r"[:：]\s*$|(?i:choose|select|which|what)|选择|下列|哪|的是|\.\.\.\s*$")


def _ask(groups: Sequence[Sequence[int]], pieces: Sequence[Piece]) -> bool:
    """Whether most lists stand below a line that asks, and no letters stand in the paper.

    What stands above several lists names what they are: `Marking Rubric:`.
    """
    above = Counter(pieces[group[0] - 1].text.strip() for group in groups)
    asking = sum(
        1
        for group in groups
        if any(
            asks_by_sign(piece.text) or _QUESTION.search(piece.text)
            for piece in pieces[max(0, group[0] - 3) : group[0]]
            if above[piece.text.strip()] < _SEVERAL
        )
    )
    lettered = sum(1 for piece in pieces if _OPTION.match(piece.text))
    return lettered < len(groups) and (asking >= 0.6 * len(groups) or are_answered(groups, pieces))


_MOST_ANSWERED, _SEVERAL = 0.7, 3
_LETTER = re.compile(r"[A-Ja-j]")


def are_answered(groups: Sequence[Sequence[int]], pieces: Sequence[Piece]) -> bool:
    """Whether most lists are answered below by a letter or a line of theirs, or all by a key."""
    below = 0
    for group in groups:
        after = pieces[group[-1] + 1].text if group[-1] + 1 < len(pieces) else ""
        mark = answer_mark().match(after)
        said = after[mark.end() :].strip().rstrip(".。").casefold() if mark is not None else ""
        shown = {_BULLET.sub("", pieces[place].text).strip().rstrip(".。").casefold() for place in group}
        below += said in shown or said in set("abcdefghij"[: len(group)])
    keys: set[int] = set()
    for piece in pieces[groups[-1][-1] + 1 :]:
        mark = answer_mark().match(piece.text)
        entries = read_key_line(piece.text[mark.end() :] if mark is not None else piece.text)
        keys.update(entry.number for entry in entries if _LETTER.fullmatch(entry.text))
    return max(below, len(keys)) >= _MOST_ANSWERED * len(groups)
