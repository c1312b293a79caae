"""Answer files: the file beside a paper that holds its answers, and what is taken from it.

A name only proposes the file. Its answers are taken where they fit: where most of them have a question, and the questions
offer what they say.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.key_answers import apply_key, cut_echo
from tasks.ingest.content.keys import Matched, match_keys, read_keys
from tasks.ingest.contracts import Breach
from tasks.ingest.intake import read_own_file, show_name
from tasks.ingest.layout.key_lines import KeyEntry
from tasks.ingest.layout.option_marks import find_alphabet, translate_keys
from tasks.ingest.layout.pieces import IndexedLines, make_pieces
from tasks.ingest.readers.extraction import Extraction, Line, join_lines
from tasks.ingest.readers.formats import extract, find_reader
from tasks.ingest.readers.sniffing import sniff
from tasks.ingest.splitting import Split, split_lines
from tasks.ingest.tables.sheets import split_sheets
from tasks.ingest.words.answers import ANSWER_MARK
from tasks.ingest.words.grammar import task
from tasks.ingest.words.signs import asks_by_sign

# A file of which fewer answers find a question is the key of another paper.
_LEAST_MATCHED = 0.5


def apply_companion(
    split: Split, options: Mapping[str, Any], paper: Extraction, answers: Callable[[], Extraction | None]
) -> None:
    """Give the answers of a separate file to the questions without any."""
    doubtful = options.get("companion_doubt") or ()
    if doubtful and not all(draft.answer for draft in split.drafts):
        names = ", ".join(show_name(Path(name)) for name in doubtful)
        split.warnings.append(
            f"{len(doubtful)} files beside this paper may hold its answers ({names}); none was taken. Leave the right one there."
        )
    companion = options.get("companion")
    if not companion or all(draft.answer for draft in split.drafts):
        return
    name = show_name(Path(Path(str(companion)).name))
    extraction = answers()
    if extraction is None:
        split.warnings.append(f"The answer file {name} beside this paper could not be read.")
        return
    before = sum(1 for draft in split.drafts if draft.answer)
    drafts, taken = _choose(split, extraction, paper)
    gained = sum(1 for draft in drafts if draft.answer) - before
    count, unmatched = taken.count + len(taken.left), len(taken.left)
    if (
        not taken.is_other
        and unmatched > (1 - _LEAST_MATCHED) * count
        and gained < _LEAST_MATCHED * (len(drafts) - before)
    ):
        _doubt(
            split,
            count,
            f"{unmatched} of the {count} answers of {name} match no question: it seems to be the key of another paper, and none was taken.",
        )
        return
    split.drafts[:] = drafts
    split.warnings.append(f"{gained} answers were taken from {name}.")
    if taken.is_other:
        _doubt(
            split,
            unmatched,
            f"{name} prints questions of this paper again that have other numbers here: it seems to be the key of another version, and only these were answered from it.",
        )
    elif unmatched:
        _doubt(split, unmatched, f"{unmatched} answers of {name} match no question.")
    elif not gained:
        _doubt(
            split, len(drafts) - before, f"{name} seems to hold the answers of this paper, but none was read."
        )


def _doubt(split: Split, size: int, words: str) -> None:
    """Say what became of a key that was not taken; it counts against the reading."""
    split.warnings.append(words)
    breach = Breach("key_length", 0, size, words)
    split.checked = replace(split.checked, breaches=(*split.checked.breaches, breach))


# So many answers are a key; questions are known in their paper by so many characters at their beginning.
_LEAST_KEYS, _LEAST_ASKED, _MOST_ASKED = 5, 4, 16


def is_key_alone(split: Split, options: Mapping[str, Any], name: str) -> bool:
    """Whether a document that is called a key asks nothing; `name` is that of its file.

    What it seems to ask are its answers: they begin as answers do, neither ask nor are answered, or the paper beside it does not ask them. A key prints some
    questions again above their answers; they are the other paper's.
    """
    drafts = split.drafts
    if len(split.keys) >= max(_LEAST_KEYS, len(drafts)) and not any(one.options for one in drafts):
        return True
    if _WITH_ANSWERS.search(name):
        return False  # it is called a paper, too
    silent = sum(map(_tells, drafts))
    asked = [one for one in drafts if not _tells(replace(one, answer=[]))]
    # a mark scheme answers what it does not print: nothing in it asks, but a few questions that it prints again
    if not asked or (
        silent > _LEAST_MATCHED * len(drafts) and sum(bool(one.answer) for one in asked) < _LEAST_KEYS
    ):
        return True
    answered = options.get("answered")
    complete = sum(1 for one in drafts if one.options and one.answer)
    if not answered or complete > _LEAST_MATCHED * len(drafts):
        return False
    try:
        paper = read_companion(Path(str(answered)), options)
    except (DocumentError, OSError):
        return False
    printed = _fold(join_lines(paper.lines)[0])
    starts = [_fold(one.stem)[:_MOST_ASKED] for one in drafts]
    met = sum(1 for start in starts if len(start) >= _LEAST_ASKED and start in printed)
    # a scan may have no text but that of its cover
    is_read = len(printed) >= sum(map(len, starts))
    return is_read and bool(printed) and met <= _LEAST_MATCHED * len(drafts)


def _tells(draft: Draft) -> bool:
    """Whether a question begins as an answer, or neither asks nor offers nor is answered."""
    if ANSWER_MARK.match(draft.stem) or not draft.stem.strip():
        return True
    is_term = draft.question_type == "term_explanation" and len(draft.stem) <= _MOST_OF_TERM
    is_shown = draft.options or draft.answer or draft.question_type in ("true_false", "fill_in_the_blank")
    return not (
        is_shown
        or is_term
        or asks_by_sign(draft.stem)
        or any(map(task().match, _SENTENCE_END.split(draft.stem)))
    )


_WITH_ANSWERS = re.compile(
    r"[附含带有及与和、](?:参考|标准)?答案|(?:答案|解答|解説|正解)[付附つ]|(?i:(?:with|and)[\W_]+(?:answers?|solutions?|key)(?![a-z]))"
)
_MOST_OF_TERM = 20
_SENTENCE_END = re.compile(r"[。.;；!！\n]\s*")


_TITLE_LINES = 3
_TITLE = re.compile(
    # What tells how to answer is no title.
    r"(?!.*(?:请|写(?!作)|填[在入写]|选出|选取|选择(?!题)|只有|[一1]个|作答|答题[卡纸]))(?!(?i:.*\b(?:must|should|shall|will|may|can|be|is|are)\b))(?:"
    r"(?!.*[及与和附含带、](?:参考|标准)?答案).*答案(?:[及与和](?:评分标准|评分细则|解析|评分参考))?\s*(?:[（(].{0,12}[)）])?|"
    r"(?i:(?:sample |model |suggested )?(?:solutions?|answers?)(?: key)? (?:to|for|of)\b.*|.*\b(?:answer (?:key|guide)|answers only|mark(?:ing)? scheme)))"
)
# what a running head says among other things: `Chemistry 0620 Answers`
_HEAD_PART = re.compile(r"\s{2,}|\s[-–—|]\s")
_ENDS_HEAD = re.compile(
    r"(?i)(?!.*(?:\b(?:and|with|for|your|all|no|und|mit|et|avec|y|con)\b|[&+/]))"
    # `Harbour Learning Solutions` is a company
    r"(?:(?:.*\W)?(?:answers|L[öo]sungen|corrigés|respuestas)|(?:.*\d\s*)?solutions)"
)


def is_titled_key(lines: Sequence[Line]) -> bool:
    """Whether the title of a document, or its running head, names answers and nothing besides."""
    heads = [
        line.text.strip(" （()）【】") for line in lines if line.text.strip() and line.kind != "furniture"
    ]
    running = (_HEAD_PART.split(line.text.strip()) for line in lines if line.kind == "furniture")
    parts = [part for part, count in Counter(chain.from_iterable(running)).items() if count > 1]
    return any(_TITLE.fullmatch(head) is not None for head in (*heads[:_TITLE_LINES], *parts)) or any(
        _ENDS_HEAD.fullmatch(part) is not None for part in parts
    )


def read_answers(paper: Extraction, options: Mapping[str, Any]) -> Extraction | None:
    """What the answer file of a paper holds, if it can be read; the paper has its pictures, too."""
    with contextlib.suppress(DocumentError, OSError):
        if options.get("companion"):
            found = read_companion(Path(str(options["companion"])), options)
            paper.take_over(found)
            return found
    return None


def read_companion(path: Path, options: Mapping[str, Any]) -> Extraction:
    """Return what an answer file holds.

    Raises:
        DocumentError: when it cannot be read.
        OSError: when it is not there, or is a link.
    """
    data = read_own_file(path)
    return extract(data, find_reader(sniff(data, path.name), path.name), options)


def _choose(split: Split, extraction: Extraction, paper: Extraction) -> tuple[list[Draft], Matched]:
    """The questions with the answers of the file, as a key or as the paper printed again."""
    alphabet = find_alphabet(IndexedLines(make_pieces(paper.lines, join_lines(paper.lines)[1])))
    if extraction.sheets:
        repeated = split_sheets(extraction.sheets).drafts
        lines = [
            Line(" | ".join(cell.strip() for cell in row if cell.strip()))
            for sheet in extraction.sheets
            for row in sheet.rows
        ]
    else:
        lines = extraction.lines
        _, starts, _ = join_lines(lines)
        repeated = split_lines(lines, starts).drafts
    if alphabet is not None:
        lines = [_write_keys(line, alphabet) for line in lines]
    again = [draft.copy() for draft in split.drafts]
    met = _match_repeated(again, repeated, split.language)
    by_number = [draft.copy() for draft in split.drafts]
    matched = match_keys(by_number, read_keys(lines), split.language)
    is_repeated = met > _LEAST_MATCHED * len(repeated) and met > 1
    if is_repeated and _count_sound(again) >= _count_sound(by_number):
        left = [KeyEntry(other.value or 0, "") for other in repeated[met:]]
        return again, Matched(met, matched.left if matched.is_other else left, matched.is_other)
    return by_number, matched


def _write_keys(line: Line, alphabet: str) -> Line:
    """A line of a key whose paper labels its options in another alphabet: `1. б` as `1. B`."""
    text = translate_keys(line.text, alphabet)
    cells = tuple([cell.strip() for cell in text.split("|")])
    return replace(line, text=text, cells=cells if len(cells) == len(line.cells) else line.cells)


def _count_sound(drafts: Sequence[Draft]) -> int:
    return sum(1 for draft in drafts if draft.answer and "key_not_among_options" not in draft.notes)


def _match_repeated(drafts: Sequence[Draft], repeated: Sequence[Draft], language: str | None) -> int:
    """Give questions the answers of a paper that prints them again; how many it shares."""
    by_stem = {_fold(draft.stem): draft for draft in drafts}
    by_number: dict[int | None, list[Draft]] = {}
    for draft in drafts:
        by_number.setdefault(draft.value, []).append(draft)
    met = 0
    for other in repeated:
        own = by_stem.get(_fold(other.stem))
        answer = "\n".join(other.answer)
        if own is None:
            found = [(one, cut_echo(other.stem, one.stem)) for one in by_number.get(other.value, ())]
            own, rest = next(((one, rest) for one, rest in found if rest is not None), (None, None))
            answer = answer or rest or ""
        if own is None:
            continue
        met += 1
        if own.answer or not answer:
            continue
        if other.answer and (not own.options or own.options == other.options):
            own.answer, own.explanation = list(other.answer), own.explanation or other.explanation
            own.question_type = other.question_type if not own.options else own.question_type
        else:
            apply_key(own, KeyEntry(other.value or 0, answer, other.explanation), language)
    return met


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
