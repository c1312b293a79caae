"""The lines of one question divided into what is asked, its answer and its explanation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.content.programs import match_program
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.words.answers import (
    ANSWER_MARK,
    ANSWER_STARTS,
    CORRECT_MARK,
    EXPLANATION_MARK,
    IGNORED_MARK,
    INLINE_ANSWER,
    STUDENT_MARK,
    find_explanation,
    has_colon,
)

_OPTION_A = re.compile(r"^\s*[（(]?A\s*[)）.．、:：]")


_PART_STYLES = ("romanp", "romanl", "letterp", "letter", "nump", "paren", "cnp")


def separate_answers(pieces: list[Piece]) -> tuple[list[Piece], str, str]:
    """Return the lines of stem and options, the text of the answer and of the explanation.

    Answers after each part of a question (`(i) … Answer: … (ii) … Answer: …`) are taken out one by one.
    """
    body: list[Piece] = []
    answers: list[list[Piece]] = []
    explanations: list[Piece] = []
    mode = "body"
    part_style, last_part = "", 0
    runs_on = False
    for piece in pieces:
        text = piece.text
        if (
            "答案" in text
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
            if inline and inline.start() > 0:
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
            inner = EXPLANATION_MARK.search(text) if "【" in text else None
            if inner and inner.group(0).startswith("【"):
                body.append(piece.cut(0, inner.start()))
                explanations.append(piece.cut(inner.end()))
                mode = "explanation"
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
    """Whether a line gives the right answer, beside one that tells what somebody answered.

    The other line reads, for example, `我的答案：A`.
    """
    return any(
        ANSWER_MARK.match(piece.text) is not None and STUDENT_MARK.match(piece.text.lstrip()) is None
        for piece in pieces
        if has_colon(piece.text)
    )
