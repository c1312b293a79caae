"""From the lines of one question to its fields: stem, options, answer, explanation, marks."""

from __future__ import annotations

from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.content.choices import fill_choice, settle_choice
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.free_answers import match_program, settle_free
from tasks.ingest.content.printed_marks import take_margin_marks, take_marks, take_tags
from tasks.ingest.layout.matching import lists_items
from tasks.ingest.layout.options import OptionSplit, offers_letters, split_options
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.words.answers import (
    ANSWER_MARK,
    ANSWER_STARTS,
    CORRECT_MARK,
    EXPLANATION_MARK,
    IGNORED_MARK,
    INLINE_ANSWER,
    METADATA,
    STUDENT_MARK,
    find_explanation,
    has_colon,
    read_key,
)
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.grammar import begins_asking
from tasks.ingest.words.lexicon import FineType, find_type_by_pattern
from tasks.ingest.words.points import BRACKETED, BRACKETED_SUM, read_points

_AFTER_LETTER = re.compile(r"[\s.．、)）:：]")


def read_content(
    pieces: Sequence[Piece],
    fine: FineType | None,
    language: str | None,
    is_answered: bool,
    offers: bool = False,
    has_material: bool = False,
) -> Draft:
    """Read the lines of one question, its label already removed.

    `is_answered` says that this paper prints answers right behind its questions: then the unmarked
    paragraphs behind a free-response question are its answer. `offers`: the other questions of its section offer options.
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
    # `Tick one box to show …` asks for one of the capitals below, and of each of its parts
    ticks = (
        kind is None
        and find_type_by_pattern(pieces[0].text, ("multiple_choice",)) is not None
        and offers_letters(body)
    )
    is_choice = kind == "multiple_choice" or may_choose or offers or ticks
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
    if (
        split is not None
        and kind != "multiple_choice"
        and (_offers_nothing(split) or _are_matched(split, draft.fine) or _sets_tasks(split))
    ):
        # the rows `A | - | -` and `B | - | -` of a table, one of two lists to be joined, or tasks
        split = None
    raw_stem = ""
    if split is not None:
        _take_marks_below(split, draft)
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
        settle_free(draft, answer_text, body, kind, language, is_answered, has_material)
    return draft


_WORTH = re.compile(rf"\s*(?:{BRACKETED}|{BRACKETED_SUM})\s*")


def _take_marks_below(split: OptionSplit, draft: Draft) -> None:
    """Take `[1]` and `（3分）`, alone on the last line, from the last option."""
    last = split.options[-1][1]
    if len(last) > 1 and _WORTH.fullmatch(last[-1].text) is not None:
        draft.marks = draft.marks if draft.marks is not None else read_points(last[-1].text)
        del last[-1]


def _offers_nothing(split: OptionSplit) -> bool:
    """Whether what reads as options holds signs alone, the same in several."""
    texts = ["".join(piece.text for piece in pieces).strip() for _, pieces in split.options]
    return len(set(texts)) < len(texts) and not any(map(str.isalnum, "".join(texts[:-1])))


_MOST_TASKS = 0.5


def _sets_tasks(split: OptionSplit) -> bool:
    """Whether `Solve the following:` stands above letters most of which set a task."""
    stem = join_pieces(split.stem).strip()
    tasks = sum(begins_asking(pieces[0].text.lstrip()) for _, pieces in split.options if pieces)
    return stem.endswith((":", "：")) and begins_asking(stem) and tasks > _MOST_TASKS * len(split.options)


_ITEM = re.compile(r"[①-⑩]|(?<![\d.])[（(]?\d{1,2}[)）.．、]\s*(?=\S)")


def _are_matched(split: OptionSplit, fine: FineType | None) -> bool:
    """Whether letters stand below several things, each to be joined with one of them."""
    stem = [piece.text for piece in split.stem]
    if not lists_items(stem) and len(_ITEM.findall("\n".join(stem))) < 2:
        return False
    asked = fine if fine is not None else find_type_by_pattern(stem[0].strip())
    return asked is not None and asked.name == "matching"


def _is_letter(answer: str) -> bool:
    return (
        0 < len(answer) <= 60
        and "\n" not in answer
        and read_key(_AFTER_LETTER.split(answer, maxsplit=1)[0]) is not None
    )


def _strict_options(body: Sequence[Piece]) -> OptionSplit | None:
    """Four plainly marked options at least, under a heading that announces none; else None.

    `A: 101` is no option there: it says what A is.
    """
    if any(_NAMED_A.match(piece.text) for piece in body):
        return None
    split = split_options(body, is_choice=False)
    if split is None or len(split.options) < 4 or split.notes:
        return None
    return split


_NAMED_A = re.compile(r"\s*A\s*[:：]")


def _prefer_correct(text: str, draft: Draft) -> str:
    """Of `我的答案：A 正确答案：B` take B; drop remarks on difficulty and topic behind the answer."""
    is_marked = has_colon(text)
    marks = list(CORRECT_MARK.finditer(text)) if is_marked else []
    if marks:
        text = text[marks[-1].end() :]
    own = STUDENT_MARK.search(text) if is_marked else None
    if own is not None and text[: own.start()].strip():
        text = text[: own.start()]  # `正确答案：错误  考生答案：正确`
    elif marks:
        pass
    elif "student" in draft.notes:
        draft.notes.append("answer_is_a_students")
    if "student" in draft.notes:
        draft.notes.remove("student")
    return METADATA.sub("", text).strip() if is_marked else text.strip()


_OPTION_A = re.compile(r"^\s*[（(]?A\s*[)）.．、:：]")
_OPTION = re.compile(r"\s*[（(]?[A-Ja-j]\s*[)）.．、:：]")
_PART_STYLES = ("romanp", "romanl", "letterp", "letter", "nump", "paren", "cnp")


def separate_answers(pieces: list[Piece]) -> tuple[list[Piece], str, str]:
    """The lines of stem and options, the text of the answer and of the explanation."""
    body: list[Piece] = []
    answers: list[list[Piece]] = []
    explanations: list[Piece] = []
    mode = "body"
    part_style, last_part = "", 0
    runs_on = False
    for piece in pieces:
        text = piece.text
        if (
            ("答案" in text or "回答" in text)
            and STUDENT_MARK.match(text.lstrip())
            and CORRECT_MARK.search(text) is None
            and is_answered_beside(pieces)
        ):
            mode = "student"  # what somebody answered, beside the right answer
            continue
        # without a colon or a thick bracket only ANSWER_MARK matches anything
        is_marked = has_colon(text) or "【" in text or "】" in text
        if is_marked and IGNORED_MARK.match(text) and (mode != "body" or body):
            continue
        # a line that only continues the sentence before it opens nothing
        answer_mark = None
        if text.lstrip()[:1] in ANSWER_STARTS:
            answer_mark = ANSWER_MARK.fullmatch(text) if runs_on else ANSWER_MARK.match(text)
        if answer_mark is None and is_marked and not runs_on:
            answer_mark = match_program(piece, pieces, body)
        explanation_mark = EXPLANATION_MARK.match(text.lstrip()) if is_marked and not runs_on else None
        runs_on = piece.wraps
        if answer_mark and (body or mode == "body"):
            mode = "answer"
            answers.append([])
            rest = piece.cut(answer_mark.end())
            inner = find_explanation(rest.text)
            if inner:
                answers[-1].append(rest.cut(0, inner.start()))
                mode = "explanation"
                explanations.append(rest.cut(inner.end()))
            elif rest.text.strip():
                answers[-1].append(rest)
            continue
        if explanation_mark and (body or answers):
            mode = "explanation"
            lead = len(text) - len(text.lstrip())
            explanations.append(piece.cut(lead + explanation_mark.end()))
            continue
        label = piece.label
        if mode == "student":
            continue
        if mode != "body" and label is not None and label.style == part_style and label.value > last_part:
            mode = "body"
        if (
            mode != "body"
            and "A" in text
            and _OPTION_A.match(text)
            and not any(_OPTION_A.match(other.text) for other in body)
        ):
            mode = "body"  # the key stood on the stem's line, the options follow
        if mode == "body":
            if label is not None and label.style in _PART_STYLES:
                if not part_style and label.value == 1:
                    part_style = label.style
                last_part = label.value if label.style == part_style else last_part
            inline = INLINE_ANSWER.search(text) if "答案" in text or "Ans" in text else None
            if inline and inline.start() > 0 and not (inline.end() == len(text) and _OPTION.match(text)):
                head = piece.cut(0, inline.start())
                if head.text.strip():
                    body.append(head)
                rest = piece.cut(inline.end())
                inner = find_explanation(rest.text)
                answers.append([rest.cut(0, inner.start()) if inner else rest])
                mode = "answer"
                if inner:
                    mode = "explanation"
                    explanations.append(rest.cut(inner.end()))
                continue
            body.append(piece)
        elif mode == "answer":
            answers[-1].append(piece)
        else:
            explanations.append(piece)
    texts = [join_pieces([piece for piece in answer if piece.text.strip()]) for answer in answers]
    answer_text = "\n".join(text for text in texts if text.strip())
    if not body and answers:
        return pieces, "", ""
    return body, answer_text.strip(), join_pieces(explanations).strip()


def is_answered_beside(pieces: Sequence[Piece]) -> bool:
    """Whether a line gives the right answer beside one such as `我的答案：A`."""
    return any(
        ANSWER_MARK.match(piece.text) is not None and STUDENT_MARK.match(piece.text.lstrip()) is None
        for piece in pieces
        if has_colon(piece.text)
    )
