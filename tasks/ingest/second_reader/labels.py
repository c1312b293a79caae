"""Numbers before stems and answers, labels and boxes before options."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from schemas import patterns as re
from tasks.ingest.layout.pieces import Piece, say
from tasks.ingest.readers.extraction import PICTURE_MARK
from tasks.ingest.words.labels import read_number

# A number, and the letters and numbers of its parts: of `Q1`, `第1题` and `８` what counts is 1 and 8, of `1(a)` 1 and a
_NUMBER = r"(?:\d+|[一二三四五六七八九十百]+)"
_LETTER = r"(?:[IVXivx]{1,6}|[A-Za-z])(?![A-Za-z])"
_CORE = re.compile(
    rf"{_NUMBER}(?:[\s.\-–(]*(?:{_LETTER}|(?<=[.\-–(])\d+)\)?)*|(?<![A-Za-z]){_LETTER}",
)
_PART = re.compile(rf"{_NUMBER}|{_LETTER}")
_LONGEST = 60


@lru_cache(maxsize=1 << 12)
def read_core(number: str) -> tuple[str, ...]:
    """What of a printed number counts, by its parts; () for none."""
    return tuple(part.lstrip("0") or "0" for part in _PART.findall(_find_core(number)))


def list_names(number: str) -> list[str]:
    """How a number may be printed, the longest first: `Question 1(a)`, `1(a)`, `a`."""
    return [number, _find_core(number), *(part for part in read_core(number)[-1:] if part.isalpha())]


def _find_core(number: str) -> str:
    found = [match[0] for match in _CORE.finditer(unicodedata.normalize("NFKC", number[:_LONGEST]))]
    return found[-1] if found else ""


def read_value(number: str) -> int | None:
    """The value of a number that has no parts."""
    core = read_core(number)
    return read_number(core[0]) if len(core) == 1 else None


@lru_cache(maxsize=1 << 12)
def _print(number: str) -> str:
    """A pattern of a number as it is printed; above a letter of a part it may be missing."""
    *above, last = [rf"0*{re.escape(part)}" for part in read_core(number)] or ["(?!)"]
    lead = "".join(rf"{part}[\W_]{{0,3}}" for part in above)
    return rf"(?:{lead}){'?' if last[-1].isalpha() and last.isascii() else ''}{last}"


def find_behind(text: str, number: str) -> Iterator[int]:
    """The places right behind a number and what closes it: `3. B`, `3B`, `(3) B`."""
    pattern = rf"(?<![0-9A-Za-z–~-]){_print(number)}(?![0-9])\s*[^\w\s]{{0,3}}\s*"
    return (match.end() for match in re.finditer(pattern, text))


def holds_number(text: str, number: str) -> bool:
    """Whether a number stands in a text."""
    return re.search(rf"(?<!\w){_print(number)}(?!\w)", text) is not None


# a sign, a word or a tag in brackets, `n.`
_BEFORE = r"[\W_]*(?:第\s*|[^\W\d_]{1,12}[\s.\]】)）:：]{0,3}(?:n[.°]|no\.?|nr\.?|#)?\s*)?"


def opens_with(text: str, number: str) -> bool:
    """Whether a line begins with a number: `Zadanie 5. (0-1)`, `**5**`."""
    return re.match(rf"{_BEFORE}{_print(number)}(?!\w)", text) is not None


_CLOSE = r"(?P<close>\s*(?:题|小题)?[^\w\s(\[“\"'$]*\s*(?:[-–—]\s+)?)"


def cut_number(piece: Piece, number: str, *, is_answer: bool = False) -> Piece:
    """A line without its question's number: `3.`, `**Q3.**`, `第3题`, `[单选]3.`, `Problem n. 3`.

    Before an answer it stands alone and is closed by a sign: `3 m`, `In 3 days` and `3:5` are answers.
    """
    core, text = read_core(number), unicodedata.normalize("NFKC", piece.text)
    text = text if len(text) == len(piece.text) else piece.text
    match = re.match(rf"(?P<before>{_BEFORE}){_print(number)}{_CLOSE}(?=\S)", text)
    if match is None:
        return piece
    last, first = piece.text[match.end() - 1], piece.text[match.end()]
    has_word = any(map(str.isalpha, match["before"].replace("第", "")))
    if first.isdigit() and not last.isspace() and (is_answer or last in ".-0123456789"):
        return piece  # `5.5 m`
    begins = not first.isascii() or first.isupper() or not first.isalnum()
    if is_answer or match["close"].strip():
        is_told = bool(match["close"].strip()) and not (is_answer and has_word)
    elif has_word:  # `In 3 minutes`, but `Part VI Suppose that`
        is_told = begins and (core[-1].isdigit() or core[-1].isupper())
    else:  # `第一次世界大战`, `Hi i am`
        is_told = core[-1].isdigit() and (last.isspace() or not first.isascii() or not first.isalnum())
    return piece.cut(match.end()) if is_told else piece


def leave_out_bars(piece: Piece) -> Piece:
    """A row of a table as text: an answer has no cells."""
    return piece if piece.kind != "table" else say(piece, " ".join(piece.text.replace(" | ", " ").split()))


_BOX = re.compile(r"\s*(?:[-*•·+]\s+)?(?:[□☐☑☒○◯●◉✓✔✅❌✗✘]️?|\[[ xX√✓]?\]|\([ xX√✓]?\))*\s*")
_LABEL = re.compile(
    rf"(?:{PICTURE_MARK.pattern})?\s*[(（\[【<]?\s*(?P<label>\d{{1,2}}|[①-⑩]|[ivxIVX]{{1,4}}(?![A-Za-z])|[^\W\d_])"
    r"(?P<close>\s*[)）\]】>.．、:：\-–]*)[\s|]*(?=[^\s|①-⑩])"
)
# what stands before an option that is quoted without its label
LABEL_BEFORE = re.compile(r"(?:^|[\W_])(?:[A-Ja-j]|[①-⑩])\s*[)）.．、:：\]】]?\s*$")


def cut_labels(
    options: Sequence[tuple[str, list[Piece]]], cleared: Collection[str]
) -> list[tuple[str, list[Piece]]]:
    """Options without boxes, and without labels of one kind; some are `cleared` of theirs."""
    found: list[re.Match[str]] = []
    shown = {letter: [_cut_box(pieces[0]), *pieces[1:]] for letter, pieces in options if pieces}
    if not cleared and len(shown) == len(options):
        found = [match for pieces in shown.values() if (match := _LABEL.match(pieces[0].text)) is not None]
    is_labelled = found and len(found) == len(options) and _label_all(found)
    for place, (letter, pieces) in enumerate(shown.items()):
        if is_labelled:
            pieces[0] = pieces[0].cut(found[place].end())
        elif letter not in cleared and len(shown) == len(options):
            pieces[0] = _cut_letter(pieces[0], letter)
    return [(letter, shown.get(letter, [])) for letter, _ in options]


def _cut_box(piece: Piece) -> Piece:
    match = _BOX.match(piece.text)
    rest = piece if match is None else piece.cut(match.end())
    return rest if rest.text.strip() else piece


def _label_all(found: Sequence[re.Match[str]]) -> bool:
    """Whether what options begin with counts them: A B, 1 2, i ii, or letters that go up."""
    labels = [match["label"] for match in found]
    # `1.5 km` has no sign behind a label, and `1 km` is not told apart from one
    signs = [
        bool(match["close"].strip()) and not match.string[match.end("close")].isdigit() for match in found
    ]
    gaps = [match.end() > match.end("label") for match in found]
    is_wide = not any(match.string[match.end()].isascii() for match in found)
    is_apart = all(signs) or (not labels[0].isdecimal() and (is_wide or not labels[0].isascii() or all(gaps)))
    places = [ord(label.casefold()[0]) - ord("a") + 1 if len(label) == 1 else 0 for label in labels]
    if [*range(1, len(labels) + 1)] in (places, [*map(read_number, labels)]):
        return is_apart
    return (
        all(signs) and all(map(str.isalpha, labels)) and all(one < other for one, other in pairwise(places))
    )


def _cut_letter(piece: Piece, letter: str) -> Piece:
    """An option without its letter, where others were pointed at without theirs."""
    match = _LABEL.match(piece.text)
    if match is None or match["label"].upper() != letter:
        return piece
    is_told = match["close"].strip() or piece.text[match.end()] > "\u2e7f"
    return piece.cut(match.end()) if is_told else piece
