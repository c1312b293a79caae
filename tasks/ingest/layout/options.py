"""The offered options of a question: inline, stacked, in columns, after tabs or numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schemas import patterns as re
from tasks.ingest.layout.option_chains import (
    BULLETS,
    LETTERS,
    MAX_OPTIONS,
    STYLES,
    TICKS,
    WEAK,
    Marker,
    ends_wide,
    find_chain,
    scan_circled,
    scan_line,
)
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.words.grammar import task
from tasks.ingest.words.kinds import are_truth_options
from tasks.ingest.words.once import once_a_paper
from tasks.ingest.words.points import BRACKETED, BRACKETED_SUM
from tasks.ingest.words.signs import closes_asking

_STAR = re.compile(r"\s*(?:\*+|[✓✔√★☑→]|=>|->|>>)\s*$")
_BREAK = re.compile(r"\s*\n\s*")
_BARS = re.compile(r"^\|\s+|\s+\|$")
_WHICH = re.compile(r"(?i)(?:which|what)\s+(?:of\s+the\s+following|one)\b")
# What closes a part that brings marks: `[7M]`, `(6 marks)`, `6分`, and in the margin a bare number.
_WORTH = re.compile(rf"(?:\s*{BRACKETED_SUM}|\s{{3,}}\d{{1,2}})\s*(?:[(（]?(?i:or)[)）]?)?\s*$")


@dataclass
class OptionSplit:
    """The pieces of a stem, its options in order, notes, and the labels marked as correct."""

    stem: list[Piece]
    options: list[tuple[str, list[Piece]]]
    notes: list[str]
    starred: list[str] = field(default_factory=list)


def split_options(pieces: Sequence[Piece], is_choice: bool) -> OptionSplit | None:
    """Separate the options from the stem, or None; a choice has weaker marks, too."""
    chain = _find_best_in(tuple([piece.text for piece in pieces]), is_choice)
    if chain is None:
        return _split_boxes(pieces)
    notes: list[str] = []
    labels = [mark.label for mark in chain]
    expected = list(LETTERS[: len(chain)])
    if labels != expected:
        if sorted(labels) == expected:
            notes.append("options_out_of_order")
        elif len(set(labels)) < len(labels):
            notes.append("option_labels_repaired")
        else:
            notes.append("option_missing")
    contents = [
        _slice(pieces, mark, following) for mark, following in zip(chain, (*chain[1:], None), strict=True)
    ]
    if "option_labels_repaired" in notes:
        labels = expected
    options = list(zip(labels, contents, strict=True))
    if labels != expected:
        options.sort(key=lambda pair: pair[0])
    starred = _take_stars(chain, options, pieces) or _take_boxes(options)
    first = chain[0]
    stem = list(pieces[: first.piece])
    if pieces[first.piece].text[: first.begin].strip(BULLETS):
        stem.append(pieces[first.piece].cut(0, first.begin))
    return OptionSplit(stem, options, notes, starred)


def offers_options(pieces: Sequence[Piece], is_choice: bool) -> bool:
    """Whether `split_options` would find options; it costs half as much."""
    return offers_options_in([piece.text for piece in pieces], is_choice)


def offers_letters(pieces: Sequence[Piece], any_case: bool = False) -> bool:
    """Whether capital letters run on below a stem, whatever closes them, and set no tasks."""
    texts = tuple([piece.text for piece in pieces])
    chain = _find_best_in(texts, True) or ()
    return (
        len(chain) > 2
        and (
            any_case
            or all(texts[mark.piece][mark.begin : mark.begin + 1].strip("(（[").isupper() for mark in chain)
        )
        and not _are_tasks(chain, texts)
    )


_TWO = 2


def count_listed(pieces: Sequence[Piece]) -> tuple[int, bool]:
    """How many short lettered lines stand below a stem that sets no task, and whether it asks.

    `Solve:` above `a) x + 1 = 2` sets one, `What do these stand for?` asks for each of them.
    """
    texts = tuple([piece.text for piece in pieces])
    chain = _find_best_in(texts, True) or ()
    if len(chain) <= _TWO or not chain[0].piece or not all(mark.at_start for mark in chain):
        return 0, False
    stem = "\n".join(texts[: chain[0].piece])
    asks = closes_asking(stem)
    is_task = (not asks and task().match(stem[_last_sentence(stem) :])) or _SEVERAL.search(stem)
    if is_task or not _are_short(_list_texts(chain, texts)) or _are_tasks(chain, texts):
        return 0, False
    return len(chain), asks


_SEVERAL = re.compile(
    r"(?i)(?<!of )(?<!which )\b(?:the following|these|each)\b|(?<!de los )(?<!de las )\bsiguientes\b|\bfolgenden?\b|(?<!des )\bsuivant"
)


def offers_tasks(pieces: Sequence[Piece]) -> bool:
    """Whether what is lettered below a stem are parts that set tasks."""
    texts = tuple([piece.text for piece in pieces])
    chain = _find_best_in(texts, True)
    return chain is not None and _are_tasks(chain, texts)


def offers_options_in(texts: Sequence[str], is_choice: bool) -> bool:
    """Whether `split_options` would find options in pieces with these texts."""
    if _find_best_in(tuple(texts), is_choice) is not None:
        return True
    boxes = [index for index, text in enumerate(texts) if not text[:1].isalnum() and _BOX.match(text)]
    return 2 <= len(boxes) <= MAX_OPTIONS and boxes[0] > 0


@once_a_paper
def _find_best_in(texts: tuple[str, ...], is_choice: bool) -> tuple[Marker, ...] | None:
    """Return the markers of the style that reads best as options in lines with these texts."""
    best: tuple[float, str, list[Marker]] | None = None
    found: dict[str, list[Marker]] = {}
    for index, text in enumerate(texts):
        for style, marks in scan_line(text, is_choice).items():
            found.setdefault(style, []).extend([Marker(index, *mark) for mark in marks])
    for style in STYLES if found else ():
        count = len(found.get(style, ()))
        if count < 2:
            continue  # two options at least
        handicap = 0.9 if style in WEAK else 0
        if best is not None and count * 1.3 - handicap <= best[0]:
            continue  # even all of them together read no better
        chain = find_chain(found[style], texts)
        if not is_choice and len(chain) > 1 and _are_tasks(chain, texts):
            continue
        if style == "small_stopped" and not is_choice and not _are_plain_options(chain, texts):
            continue
        if len(chain) < (2 if is_choice else 3) and not (
            len(chain) == 2 and all(mark.at_start for mark in chain)
        ):
            continue
        score = len(chain) + sum([0.3 for mark in chain if mark.at_start]) - handicap
        if best is None or score > best[0]:
            best = (score, style, chain)
    run = tuple(best[2]) if best is not None else ()
    run = _join_styles(found, texts, run) or run
    if run:
        return run
    if is_choice:
        return tuple(_find_circled(texts) or ()) or None
    return None


_CAPITALS = ("bracketed", "stopped", "closed", "comma", "spaced")


def _join_styles(
    found: Mapping[str, Sequence[Marker]], texts: Sequence[str], best: Sequence[Marker]
) -> tuple[Marker, ...]:
    """The capitals of several styles where they run on, `A. 甲`, `B 乙`; else none.

    They must be more than `best` has of one, and nothing may contradict them: whatever closes them, no letter stands there twice or out of its place.
    """
    if sum(1 for style in _CAPITALS if style in found) < _TWO:
        return ()
    marks: dict[tuple[int, int], Marker] = {}
    for style in _CAPITALS:
        for mark in found.get(style, ()):
            letter = texts[mark.piece].find(mark.label, mark.begin)
            if mark.at_start or mark.has_gap:
                marks.setdefault((mark.piece, letter), mark)
    run = tuple(marks[place] for place in sorted(marks))
    is_run = "".join(mark.label for mark in run) == LETTERS[: len(run)] and len(run) > max(len(best), _TWO)
    return run if is_run and run[0].at_start and find_chain(run, texts) == [*run] else ()


_BOX = re.compile(r"\s*(?P<box>[○◯□☐▢☑☒])\s*(?=\S)")
_TICKED = "☑☒"


def _split_boxes(pieces: Sequence[Piece]) -> OptionSplit | None:
    """Separate options without labels after boxes to be ticked: A, B, C … in order."""
    found = [
        (index, match)
        for index, piece in enumerate(pieces)
        if not piece.text[:1].isalnum() and (match := _BOX.match(piece.text))
    ]
    marks = [(index, match.end()) for index, match in found]
    if not 2 <= len(marks) <= MAX_OPTIONS or not marks[0][0]:
        return None
    options: list[tuple[str, list[Piece]]] = []
    for place, (index, end) in enumerate(marks):
        last = marks[place + 1][0] if place + 1 < len(marks) else len(pieces)
        options.append((LETTERS[place], [pieces[index].cut(end), *pieces[index + 1 : last]]))
    chosen = [LETTERS[place] for place, (_, match) in enumerate(found) if match["box"] in _TICKED]
    chosen = chosen or _take_ticks_behind(options)
    return OptionSplit(list(pieces[: marks[0][0]]), options, [], chosen if len(chosen) < len(marks) else [])


def _take_ticks_behind(options: list[tuple[str, list[Piece]]]) -> list[str]:
    """Take out the ticks behind some options, `○ True ✓`; their labels."""
    ticked = {label: match for label, own in options if (match := _TICK_BEHIND.search(own[-1].text))}
    if len(ticked) < len(options):
        for place, (label, own) in enumerate(options):
            if label in ticked:
                options[place] = (label, [*own[:-1], own[-1].cut(0, ticked[label].start())])
    return list(ticked) if len(ticked) < len(options) else []


_TICK_BEHIND = re.compile(r"\s[✓✔√★]\s*$")


def _find_circled(texts: Sequence[str]) -> list[Marker] | None:
    """Return the circled numbers that offer answers where no letters do."""
    markers = [Marker(index, *mark) for index, text in enumerate(texts) for mark in scan_circled(text)]
    chain = find_chain(markers, texts) if len(markers) > 1 else []
    return chain if len(chain) > 1 else None


def _take_stars(
    chain: Sequence[Marker], options: list[tuple[str, list[Piece]]], pieces: Sequence[Piece]
) -> list[str]:
    """Take out the stars that stand before some options; their labels."""
    starred = [
        mark.label for mark in chain if mark.begin and _is_starred(pieces[mark.piece].text[: mark.begin])
    ]
    if not 0 < len(starred) < len(chain):
        return []
    for place, (label, content) in enumerate(options):
        if content and (star := _STAR.search(content[-1].text)):
            options[place] = (label, [*content[:-1], content[-1].cut(0, star.start())])
    return starred


def _is_starred(before: str) -> bool:
    """Whether a star before a mark stands alone or touches it: `A. wind   √B. water`."""
    touches = before[-1:] in TICKS and before[-2:-1].isspace()
    return touches or _STAR.fullmatch(before) is not None


def _take_boxes(options: list[tuple[str, list[Piece]]]) -> list[str]:
    """Take out the boxes behind letters, `A. □ north`; the labels of those ticked."""
    found = [_BOX.match(content[0].text) if content else None for _, content in options]
    if not all(found):
        return []
    ticked: list[str] = []
    for place, ((label, content), match) in enumerate(zip(options, found, strict=True)):
        assert match is not None
        options[place] = (label, [content[0].cut(match.end()), *content[1:]])
        if match["box"] in _TICKED:
            ticked.append(label)
    return ticked if len(ticked) < len(options) else []


def _are_plain_options(chain: Sequence[Marker], lines: Sequence[str]) -> bool:
    """Whether `a.` `b.` `c.` `d.` at line starts offer answers rather than count parts."""
    if len(chain) < 2 or not all(
        mark.at_start or (len(chain) > 3 and ends_wide(lines[mark.piece], mark.begin)) for mark in chain
    ):
        return False
    texts = _list_texts(chain, lines)
    return _are_short(texts) if len(chain) > 3 else are_truth_options(texts)


def _are_short(texts: Sequence[str]) -> bool:
    return all(
        len(text) <= 60 and not re.search(rf"[？?:：]|{BRACKETED}", text) for text in texts
    ) and not any(map(task().match, texts))


def _are_tasks(chain: Sequence[Marker], lines: Sequence[str]) -> bool:
    """Whether what is lettered are parts of a question that leaves nothing to be chosen."""
    first = chain[0]
    stem = "\n".join([*lines[: first.piece], lines[first.piece][: first.begin]]).strip()
    if closes_asking(stem) or _WHICH.search(stem):
        return False
    return _SETS_WRITING.match(stem[_last_sentence(stem) :]) is not None or are_tasks(
        _list_texts(chain, lines)
    )


# What is to be written down is not chosen: `Write a program that meets the following requirements:`
_SETS_WRITING = re.compile(
    r"\W*(?:\(?\w\)\s*)?(?:(?:please\s+)?(?:write|explain|discuss|describe|draw|sketch|implement|prove|derive|outline)\b|请?(?:写出|编写|简述|试述|论述|证明|画出))",
    re.IGNORECASE,
)


def _last_sentence(text: str) -> int:
    """Where the last sentence of a text begins: on a line of its own, or after a stop."""
    return max(text.rfind("\n", 0, -1) + 1, text.rfind("。", 0, -1) + 1, text.rfind(". ", 0, -1) + 1)


def are_tasks(texts: Sequence[str]) -> bool:
    """Whether most of what is lettered sets tasks, or brings marks of its own."""
    worth = sum(1 for text in texts if _WORTH.search(text))
    tasks = sum(1 for text in texts if task().match(_WORTH.sub("", text)))
    return 3 * tasks >= 2 * len(texts) or (3 * worth >= 2 * len(texts) and tasks > 0)


def _list_texts(chain: Sequence[Marker], lines: Sequence[str]) -> list[str]:
    pieces = [Piece(line, 0, len(line), ()) for line in lines]
    return [
        option_text(_slice(pieces, mark, following))
        for mark, following in zip(chain, [*chain[1:], None], strict=True)
    ]


def _slice(pieces: Sequence[Piece], mark: Marker, following: Marker | None) -> list[Piece]:
    if following is not None and following.piece == mark.piece:
        return [pieces[mark.piece].cut(mark.end, following.begin)]
    found = [pieces[mark.piece].cut(mark.end)]
    last = following.piece if following is not None else len(pieces)
    found.extend(pieces[mark.piece + 1 : last])
    if following is not None and pieces[last].text[: following.begin].strip(BULLETS):
        found.append(pieces[last].cut(0, following.begin))
    return found


def option_text(pieces: Sequence[Piece]) -> str:
    """Return the text of one option on one line; the bar of a table cell is dropped."""
    if len(pieces) == 1:
        text = pieces[0].text
    else:
        text = join_pieces([piece for piece in pieces if piece.text.strip()])
    text = (_BREAK.sub(" ", text) if "\n" in text else text).strip().rstrip("○◯□☐▢ \t")
    if "|" not in text:
        return text.strip()
    if text.count("|") == 1:
        # `| err.txt` outside a table is what is offered
        is_own = pieces[0].kind != "table" and text.startswith("| ")
        return text if is_own else text.strip("|").strip()
    # bars inside a formula (`|A|≠0`) stand without spaces
    return _BARS.sub("", text).strip()


def strip_separators(texts: Sequence[str]) -> list[str]:
    """Drop the semicolons that separate options (`3；` `6；` `9`), where most of them have one."""
    marked = sum(1 for text in texts if text.endswith(("；", ";")))
    if marked >= max(1, len(texts) - 1):
        return [text.rstrip("；; ") for text in texts]
    return list(texts)
