"""Answers without a mark of their own, below their questions.

It is found where the question ends and the answer begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.printed_marks import take_marks
from tasks.ingest.content.programs import CODE, WRITES_CODE
from tasks.ingest.layout.headings import MARKS_GROUP
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.words.cleaning import clean_text

_LIST_STEM = re.compile(r"(?i)following|below|[:：]\s*$|如下|下列|以下|下面|下表|下图")


_ASKING = re.compile(r"\s*(?:Questions?|Required|Requirements?|Tasks?|问题?|要求)\s*[:：]")


_SUBPART = re.compile(
    r"^\s*(?:[（(]\s*(?:[0-9]{1,2}|[ivx]{1,4}|[a-h]|[一二三四五六七八九十])\s*[)）]|\d{1,2}\s*[.、．)）]|[①-⑩]|[a-h]\s*[)）.])"
)


# a part that asks, `(2) Draw the graph`, `（1）求……`; answers in parts seldom begin with a demand
_ASKED_PART = re.compile(
    r"^\s*(?:[（(]\s*(?:\d{1,2}|[ivx]{1,4}|[a-h])\s*[)）]|[a-h]\s*[).])\s*(?:(?i:(?:construct|convert|compute|calculate|find|give|draw|write|prove|eliminate|"
    r"minimi[sz]e|explain|describe|design|determine|derive|discuss|estimate|evaluate|translate|sketch|solve|what|why|how|which|is|are|does)\b)|"
    r"求|画出|写出|计算|证明|试|请|结合|运用|说明|简述|论述|谈谈|归纳|概括|给出|指出|列出|[^（()）]*[？?]\s*(?:[（(][^（()）]{1,12}[)）])?\s*$)"
)


def take_unmarked(draft: Draft, body: list[Piece], language: str | None) -> None:
    """Cut the stem where the unmarked answer begins.

    It begins after the first sentence of the stem and any further question.
    """
    paragraphs = _paragraphs(body)
    if len(paragraphs) < 2:
        return
    cut = 1
    if _LIST_STEM.search(join_pieces(paragraphs[0])) and not re.search(
        r"[？?]\s*$", join_pieces(paragraphs[0])
    ):
        cut = 2
    asked = [place for place, paragraph in enumerate(paragraphs) if _ASKING.match(paragraph[0].text)]
    cut = max(cut, asked[0] + 1 if asked else 0)
    if not WRITES_CODE.search(join_pieces(paragraphs[0])):
        # a program below the question is part of it
        while cut < len(paragraphs) and CODE.search(join_pieces(paragraphs[cut])):
            cut += 1
        if CODE.search(join_pieces(paragraphs[0])):
            cut = max(
                (place + 1 for place, lines in enumerate(paragraphs) if CODE.search(join_pieces(lines))),
                default=cut,
            )
    while cut < len(paragraphs) and paragraphs[cut][0].kind == "table":
        cut += 1  # the data of the question, and what is asked of them
        if cut < len(paragraphs) and re.search(r"求|计算|试|请|要求", join_pieces(paragraphs[cut])):
            cut += 1
    cut = _skip_shown(paragraphs, _skip_parts(paragraphs, cut))
    while cut < len(paragraphs):
        text = join_pieces(paragraphs[cut]).strip()
        before = join_pieces(paragraphs[cut - 1]).strip()
        if len(before) > 40 and re.search(r"[\w,，、\-]$", before) and re.match(r"[a-z]", text):
            cut += 1  # a sentence that a converter broke
            continue
        is_part = _SUBPART.match(text) and re.search(r"[？?]\s*(?:[（(].{0,8}[)）])?$", text)
        if (
            re.search(r"[？?]\s*(?:[（(]\s*\d+\s*(?:分|points?|pts?|marks?)\s*[)）])?$", text)
            or is_part
            or MARKS_GROUP.fullmatch(text)
        ):
            cut += 1
        else:
            break
    if cut >= len(paragraphs):
        return
    stem = [piece for paragraph in paragraphs[:cut] for piece in paragraph]
    rest = [piece for paragraph in paragraphs[cut:] for piece in paragraph]
    draft.stem = clean_text(join_pieces(stem), language)
    take_marks(draft)
    answer = clean_text(join_pieces(rest), language)
    if answer:
        draft.answer = [answer]
        draft.notes.append("answer_without_mark")


_LEADS_PARTS = re.compile(
    r"(?:(?:完成|回答|解决|求解|实现|计算)(?:下列|以下|下面|如下).{0,12}|^\s*(?:试|请|要求|求).{0,40})[：:]$"
)


def _skip_parts(paragraphs: Sequence[list[Piece]], cut: int) -> int:
    """Return the place after the numbered parts that a line asks for, else `cut`.

    Such a line is `试用 SQL 完成下列查询：`. Where numbers run on from 1 after it, everything up to the last of them is the
    question.
    """
    texts = [join_pieces(paragraph).strip() for paragraph in paragraphs]
    for place, text in enumerate(texts[:-1]):
        if not _LEADS_PARTS.search(text):
            continue
        last = place + 1
        while last < len(texts) and (number := _PART_NUMBER.match(texts[last])) is not None:
            if int(number.group(1)) != last - place:
                break
            last += 1
        if last > place + 2:
            return max(cut, last)
    return cut


_PART_NUMBER = re.compile(r"[（(]?\s*(\d{1,2})\s*(?:[)）]|[.．、](?!\d))")


def _skip_shown(paragraphs: Sequence[list[Piece]], cut: int) -> int:
    """Return where an unmarked answer may begin.

    That is after the code or grammar that a stem shows, and after the parts it asks.
    """
    texts = [join_pieces(paragraph).strip() for paragraph in paragraphs]
    place = cut
    if any(text.endswith((":", "：", "{")) for text in texts[:cut]):
        while place < len(texts) and _is_shown(texts[place], paragraphs[place]):
            place += 1
    parts = place
    while parts < len(texts) and (
        _ASKED_PART.match(texts[parts]) or _is_shown(texts[parts], paragraphs[parts])
    ):
        parts += 1
    has_parts = any(_ASKED_PART.match(text) for text in texts[place:parts])
    return parts if has_parts else place


def _is_shown(text: str, pieces: Sequence[Piece]) -> bool:
    """A line of code, grammar, formulas or a table rather than of prose."""
    if pieces[0].kind == "table" or text in ("{", "}"):
        return True
    return not re.search(r"[\u4e00-\u9fff]", text) and re.search(r"[={}→|;]|->", text) is not None


def _paragraphs(body: Sequence[Piece]) -> list[list[Piece]]:
    found: list[list[Piece]] = []
    runs_on = False
    for piece in body:
        if runs_on and found:
            found[-1].append(piece)
        else:
            found.append([piece])
        runs_on = piece.wraps
    return found
