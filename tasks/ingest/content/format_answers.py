"""Answers that stand out in print: coloured options, filled gaps, model answers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.content.choices import make_true_false
from tasks.ingest.content.drafts import FREE_TYPES, Draft
from tasks.ingest.content.named_pictures import SPEAKS_OF_FIGURE
from tasks.ingest.content.shown_keys import MIN_QUESTIONS, take_choices
from tasks.ingest.layout.options import option_text
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.emphasis import ITALIC, KINDS
from tasks.ingest.readers.extraction import PICTURE_MARK, Line
from tasks.ingest.words.answers import ANSWER_MARK
from tasks.ingest.words.signs import POINTS_BELOW
from tasks.questions import has_blank

# So much of an option stands out in one that does, and at most so much in one that does not.
STANDS_OUT, STANDS_BACK = 0.7, 0.1


def take_format_keys(drafts: Sequence[Draft], lines: Sequence[Line], starts: Sequence[int]) -> None:
    """Give choice questions without a key the options that stand out.

    That is done where the whole paper does so. One way of standing out counts where at least three questions, and seven
    in ten of those without a key, have some options in it entirely and the others not at all, where it agrees with the
    keys that are printed, and where it does not always fall on the same letter. The question gets the note
    `key_by_format`.
    """
    judged = [
        draft
        for draft in drafts
        if draft.question_type == "true_false" and draft.option_pieces and not draft.answer
    ]
    for draft in judged:  # `A. 对` in red: for a while the words to judge by are options again
        draft.options = [(label, option_text(pieces)) for label, pieces in draft.option_pieces]
    _take_standing_out(
        [
            draft
            for draft in drafts
            if draft.options and draft.option_pieces and draft.question_type in _OFFERING
        ],
        lines,
        starts,
    )
    for draft in judged:
        make_true_false(draft)


_OFFERING = ("multiple_choice", "true_false")


def _take_standing_out(asked: Sequence[Draft], lines: Sequence[Line], starts: Sequence[int]) -> None:
    if sum(1 for draft in asked if not draft.answer) < MIN_QUESTIONS:
        return  # too few questions lack a key
    spans: dict[str, list[tuple[int, int]]] = {}
    for line, start in zip(lines, starts, strict=True):
        for first, last, kind in line.emphasis:
            if kind in KINDS:
                spans.setdefault(kind, []).append((start + first, start + last))
    if not spans:
        return
    spans["any"] = [span for kind in spans for span in spans[kind]]
    letters = [
        [
            (label, [place for piece in pieces for place in _list_letters(piece)])
            for label, pieces in draft.option_pieces
        ]
        for draft in asked
    ]
    labels = _list_labels(asked, lines, starts)
    for places in (letters, labels):
        for kind in (*KINDS, "any"):
            if kind in spans and take_choices(asked, _read_choices(places, sorted(spans[kind]))):
                return


_BEFORE_OPTION = 6


def _list_labels(
    asked: Sequence[Draft], lines: Sequence[Line], starts: Sequence[int]
) -> list[list[tuple[str, list[int]]]]:
    """Where the letter before each option stands in the raw text: it may be underlined."""
    found: list[list[tuple[str, list[int]]]] = []
    for draft in asked:
        own: list[tuple[str, list[int]]] = []
        for label, pieces in draft.option_pieces:
            begin = next((place for piece in pieces for place in _list_letters(piece)), -1)
            at = bisect_right(starts, begin) - 1
            line = lines[at].text if at >= 0 else ""
            last = begin - starts[at] if at >= 0 else 0
            place = line.upper().rfind(label, max(last - _BEFORE_OPTION, 0), max(last, 0))
            own.append((label, [starts[at] + place] if place >= 0 else []))
        found.append(own)
    return found


def _read_choices(
    asked: Sequence[Sequence[tuple[str, Sequence[int]]]], spans: Sequence[tuple[int, int]]
) -> list[list[str] | None]:
    """The options of every question that stand out entirely; None where parts of some do."""
    firsts = [first for first, _ in spans]
    reach: list[int] = []
    for _, last in spans:
        reach.append(max(last, reach[-1]) if reach else last)

    def share_out(places: Sequence[int]) -> float:
        if not places or max(places) < firsts[0] or min(places) >= reach[-1]:
            return 0.0
        found = 0
        for place in places:
            at = bisect_right(firsts, place) - 1
            found += at >= 0 and place < reach[at]
        return found / len(places)

    choices: list[list[str] | None] = []
    for options in asked:
        shares = [(label, share_out(places)) for label, places in options]
        labels = [label for label, share in shares if share >= STANDS_OUT]
        is_clear = all(share >= STANDS_OUT or share <= STANDS_BACK for _, share in shares)
        choices.append(labels if is_clear else None)
    return choices


def _list_letters(piece: Piece) -> list[int]:
    """Where the letters and digits of a line stand in the raw text."""
    pairs = zip(piece.text, piece.sources, strict=False)
    return [source for character, source in pairs if character.isalnum()]


# In so many questions, and so much of those that lack an answer, one must stand out.
_LEAST_FILLED, _LEAST_WRITTEN, _MOST_WRITTEN = 2, 3, 0.7
_ARROW = re.compile(r"\s*(?:[→⇒➜➔▶>-]+\s*)?")
_LONGEST_FILLING = 0.6


# `写出画线词的拼音`: the words that stand out are asked about
_SPEAKS_OF_PRINT = re.compile(
    r"[画划]线|加点|下划线|加粗|\b(?:underlined|bold|italic(?:s|ised|ized)?|highlighted) (?:words?|letters?|parts?|phrases?|verbs?)\b|"
    r"\b(?:words?|letters?|parts?|phrases?|verbs?) in (?:bold|italics|capitals)\b",
    re.IGNORECASE,
)


def take_format_answers(drafts: Sequence[Draft], lines: Sequence[Line], starts: Sequence[int]) -> None:
    """Give free questions and gaps the lines and words that stand out, where most have them."""
    marked = [(start, line) for line, start in zip(lines, starts, strict=True) if line.emphasis]
    if not marked:
        return
    begins = [start for start, _ in marked]
    open_ones = [
        draft for draft in drafts if not draft.options and (not draft.answer or _GUESSED in draft.notes)
    ]
    asks_of_print = any(_SPEAKS_OF_PRINT.search(line.text) for line in lines)
    gaps = [
        one
        for one in drafts
        if not asks_of_print
        and one.question_type == "fill_in_the_blank"
        and (_GUESSED in one.notes or not (one.answer or one.options or has_blank(one.stem)))
    ]
    free = [one for one in open_ones if one.question_type in FREE_TYPES]
    for kind in (*KINDS, ITALIC):
        own = {
            id(draft): [
                (line, [(first, last) for first, last, one in line.emphasis if one == kind])
                for _, line in marked[bisect_right(begins, draft.start - 1) : bisect_right(begins, draft.end)]
            ]
            for draft in (*gaps, *free)
        }
        begun = {start for start, line in marked if _stands_out(line, kind)}  # with the number of a question
        filled = [
            (draft, found)
            for draft in gaps
            if kind in KINDS and (found := _list_fillings(draft, own[id(draft)]))
        ]
        written = [
            (draft, parts)
            for draft in free
            if kind in _LOUD
            and draft.start not in begun
            and (parts := _part_written(draft, own[id(draft)])) is not None
        ]
        if sum(1 for _, (_, answer) in written if _PART_LABEL.match(answer)) <= 0.5 * len(written):
            written = [one for one in written if not _is_shown(*one[1])]
        if len(filled) >= max(_LEAST_FILLED, _MOST_WRITTEN * len(gaps)):
            for draft, words in filled:
                _fill(draft, words)
        # two are enough where both stand below all that is asked
        is_below = len(written) == len(free) > 1 and all(
            draft.stem.startswith(stem) or draft.answer for draft, (stem, _) in written
        )
        is_told = _are_told([parts for _, parts in written])
        is_usual = is_below or (kind in KINDS and len(filled) + len(written) >= _LEAST_WRITTEN)
        if is_usual and is_told and len(written) >= _MOST_WRITTEN * len(free):
            for draft, (draft.stem, answer) in written:
                draft.answer = [answer]
                draft.notes = [note for note in draft.notes if note != _GUESSED] + ["key_by_format"]
                if 0 < len(_PART_LABEL.findall(answer)) < len(_PART_LABEL.findall(draft.stem)):
                    draft.notes.append("text_holds_answer")  # of a part none stands out: it may be in a cell


# `Hint: …`, `Quelle: …`; `CO1, L2`; the address of a page
_LEAD = re.compile(r"\s*([^\W\d_][^\n:：.。]{0,24})[:：]")
_COUNTED_CODE = re.compile(r"(?<=[A-Z])\d+")
_ADDRESS = re.compile(r"\s*(?:https?://|www\.)\S+\s*")


def _are_told(parts: Sequence[tuple[str, str]]) -> bool:
    """Whether what stands out below questions answers them: they and it differ.

    `END` and `Hint: …` below every question answer none, nor does the sentence below each `Correct the sentence.`
    """
    answers = [answer for _, answer in parts if _ADDRESS.fullmatch(answer) is None]
    leads = Counter(lead[1] for answer in answers if (lead := _LEAD.match(answer)) is not None)
    different = min(
        len({stem for stem, _ in parts}),
        len({_COUNTED_CODE.sub("0", answer) for answer in answers}),
        len(answers) - max((count for count in leads.values() if count > 1), default=0),
    )
    return different > 0.5 * len(parts)


# `Read the verse …` shows what stands out below it, and a remark in brackets tells how to answer
_READS = re.compile(r"\bread\b|阅读|朗读|读一?读", re.IGNORECASE)
_REMARK = re.compile(r"[（(\[].*[)）\]]", re.DOTALL)


def _is_shown(stem: str, text: str) -> bool:
    """Whether what stands out belongs to the question, and answers none of its parts."""
    return _PART_LABEL.match(text) is None and bool(
        POINTS_BELOW.search(stem) or _READS.search(stem) or _REMARK.fullmatch(text)
    )


_LOUD = ("colour", "highlight", ITALIC)


_GUESSED = "answer_without_mark"


def _list_fillings(
    draft: Draft, found: Sequence[tuple[Line, list[tuple[int, int]]]]
) -> list[tuple[str, int]]:
    """The words of a stem that stand out; [] where most of it does.

    Each with how often it stands before on its line.
    """
    words = [
        (word, line.text.count(word, 0, first))
        for line, spans in found
        for first, last in spans
        if (word := line.text[first:last].strip(" \u3000.。,，;；"))
    ]
    stem = _unfill(draft)
    is_part = sum(len(word) for word, _ in words) <= _LONGEST_FILLING * len(stem)
    return words if words and is_part and all(stem.count(word) > before for word, before in words) else []


def _unfill(draft: Draft) -> str:
    """A stem as it was before an answer was guessed in its brackets or spaces."""
    stem = draft.stem
    for word in draft.answer if _GUESSED in draft.notes else ():
        at, gap = min(
            ((at, gap) for gap in ("（）", "____") if (at := stem.find(gap)) >= 0), default=(-1, "")
        )
        if at < 0:
            break
        stem = f"{stem[:at]}{f'（{word}）' if gap == '（）' else word}{stem[at + len(gap) :]}"
    return stem


def _fill(draft: Draft, words: Sequence[tuple[str, int]]) -> None:
    answer = [word for word, _ in words]
    if answer != draft.answer:
        stem = _unfill(draft)
        for word, before in reversed(words):
            at = -1
            for _ in range(before + 1):
                at = stem.find(word, at + 1)
            lead, rest = stem[:at], stem[at + len(word) :]
            if _HAN.search(lead.rstrip()[-1:]):
                lead, rest = lead.rstrip(" "), rest.lstrip(" ")
            stem = f"{lead}____{rest}"
        draft.stem, draft.answer = stem, answer
    draft.notes = [note for note in draft.notes if note != _GUESSED] + ["key_by_format"]


_HAN = re.compile(r"[\u3400-\u9fff]")


def _stands_out(line: Line, kind: str) -> bool:
    size = sum(last - first for first, last, one in line.emphasis if one == kind)
    return size >= STANDS_OUT * len(line.text.strip())


def _part_written(
    draft: Draft, found: Sequence[tuple[Line, list[tuple[int, int]]]]
) -> tuple[str, str] | None:
    """A stem without its lines that stand out, and these; None where it begins with one.

    Where they stand below parts of the question, each begins with the label of its part.
    """
    whole = "\n".join((draft.stem, *draft.answer))
    kept, position = "", 0
    runs: list[tuple[str, str]] = []
    for line, spans in found:
        text = line.text.strip()
        if sum(last - first for first, last in spans) < STANDS_OUT * len(text):
            continue
        at = _find_line(whole, text, position)
        if at is None:
            continue
        between = _take_shown(runs, whole[position : at.start()])
        position = at.end()
        text = at[0]
        lead = _ARROW.match(text)
        text = text[lead.end() if lead is not None else 0 :]
        mark = ANSWER_MARK.match(text)
        text = text[mark.end() if mark is not None else 0 :].strip()
        if runs and not between.strip():
            runs[-1] = (runs[-1][0], f"{runs[-1][1]}{between and between[0]}{text}")
            continue
        kept += between
        labels = _PART_LABEL.findall(between)
        runs.append((labels[-1] if labels else "", text))
    if not runs or not kept.strip():
        return None
    kept += _take_shown(runs, whole[position:])
    is_parted = sum(1 for label, _ in runs if label) > 1
    answer = "\n".join(f"{label} {text}" if label and is_parted else text for label, text in runs)
    return _EMPTY_LINES.sub("\n", kept).strip(), answer


_SHOWN_BELOW = re.compile(rf"(?=\s*\n)(?:\s*{PICTURE_MARK.pattern})+[^\S\n]*(?=\n|$)")


def _take_shown(runs: list[tuple[str, str]], below: str) -> str:
    """What is left below a line that stands out when its answer has the pictures right below it.

    Pictures have no colour of their own. Above a line that speaks of a figure they are left where they are.
    """
    shown = _SHOWN_BELOW.match(below) if runs else None
    if shown is None or SPEAKS_OF_FIGURE.search(below[shown.end() :].lstrip().partition("\n")[0]):
        return below
    runs[-1] = runs[-1][0], f"{runs[-1][1]}\n{shown[0].strip()}"
    return below[shown.end() :]


_PART_LABEL = re.compile(r"(?:^|\n)\s*([（(](?:[a-z]|[ivx]{1,4}|\d{1,2})[)）])")


def _find_line(text: str, line: str, begin: int) -> re.Match[str] | None:
    """Where a line stands in a text whose spaces were settled and wrapped words joined."""
    words = r"\s*".join(map(re.escape, line.removesuffix("-").split()))
    return re.compile(rf"{words}(?:\s*-(?!\S))?" if line.endswith("-") else words).search(text, begin)


_EMPTY_LINES = re.compile(r"[^\S\n]*\n\s*")
