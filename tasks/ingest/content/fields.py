"""From the lines of one question to its fields: stem, options, answer, explanation, marks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.content.answer_lines import is_answered_beside, separate_answers
from tasks.ingest.content.choices import fill_choice, settle_choice
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.free_answers import settle_free
from tasks.ingest.content.printed_marks import take_margin_marks, take_marks, take_tags
from tasks.ingest.layout.options import OptionSplit, split_options
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.words.answers import CORRECT_MARK, METADATA, STUDENT_MARK, has_colon, read_key
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.lexicon import FineType

_AFTER_LETTER = re.compile(r"[\s.．、)）:：]")


def read_content(
    pieces: Sequence[Piece], fine: FineType | None, language: str | None, is_answered: bool
) -> Draft:
    """Read the lines of one question, its label already removed.

    `is_answered` says that this paper prints answers right behind its questions: then the unmarked
    paragraphs behind a free-response question are its answer.
    """
    draft = Draft(fine=fine)
    pieces = [piece for piece in pieces if piece.text.strip()]
    if not pieces:
        return draft
    pieces = take_tags(list(pieces), draft)
    body, answers, explanation = separate_answers(pieces)
    is_students = any("答案" in piece.text and STUDENT_MARK.search(piece.text) for piece in pieces)
    if is_students and not is_answered_beside(pieces):
        draft.notes.append("student")
    kind = draft.fine.question_type if draft.fine else None
    may_choose = draft.fine is not None and draft.fine.name in ("matching", "cloze")
    is_choice = kind == "multiple_choice" or may_choose
    split = (
        split_options(body, is_choice)
        if kind in (None, "multiple_choice", "true_false", "material_analysis") or may_choose
        else None
    )
    if split is None and kind in ("fill_in_the_blank", "short_answer", "term_explanation"):
        split = _strict_options(body)
        if split is not None and draft.fine is not None and draft.fine.name != "cloze":
            draft.notes.append("options_under_other_heading")
    if split is None and kind is None and _is_letter(answers.strip()):
        split = split_options(
            body, True
        )  # the answer is one letter: then `a)` `b)` at line starts are options
    if split is not None and kind != "multiple_choice" and _offers_nothing(split):
        split = None  # the rows `A | - | -` and `B | - | -` of a table
    raw_stem = ""
    if split is not None:
        fill_choice(draft, split, language)
        body = split.stem
        raw_stem = join_pieces(body)
    if answers:
        answers = _prefer_correct(answers, draft)
    answer_text = clean_text(answers, language) if answers else ""
    draft.explanation = clean_text(explanation, language) if explanation else None
    body = take_margin_marks(body, draft)
    draft.stem = clean_text(join_pieces(body), language)
    take_marks(draft)
    kind = draft.fine.question_type if draft.fine else None
    if draft.options:
        settle_choice(draft, answer_text, language, raw_stem)
    else:
        settle_free(draft, answer_text, body, kind, language, is_answered)
    return draft


def _offers_nothing(split: OptionSplit) -> bool:
    """Whether what reads as options holds signs alone, the same in several."""
    texts = ["".join(piece.text for piece in pieces).strip() for _, pieces in split.options]
    return len(set(texts)) < len(texts) and not any(map(str.isalnum, "".join(texts[:-1])))


def _is_letter(answer: str) -> bool:
    return (
        0 < len(answer) <= 60
        and "\n" not in answer
        and read_key(_AFTER_LETTER.split(answer, maxsplit=1)[0]) is not None
    )


def _strict_options(body: Sequence[Piece]) -> OptionSplit | None:
    """Options under a heading that announces none; None where they do not count.

    They count only when there are at least four and each is plainly marked.
    """
    split = split_options(body, is_choice=False)
    if split is None or len(split.options) < 4 or split.notes:
        return None
    return split


def _prefer_correct(text: str, draft: Draft) -> str:
    """Of `我的答案：A 正确答案：B` take B; drop remarks on difficulty and topic behind the answer."""
    is_marked = has_colon(text)
    marks = list(CORRECT_MARK.finditer(text)) if is_marked else []
    if marks:
        text = text[marks[-1].end() :]
    elif "student" in draft.notes:
        draft.notes.append("answer_is_a_students")
    if "student" in draft.notes:
        draft.notes.remove("student")
    return METADATA.sub("", text).strip() if is_marked else text.strip()
