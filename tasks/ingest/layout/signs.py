"""Signs in a paper that several steps of splitting look for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.layout.headings import INSTRUCTION
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.sequences import Candidate
from tasks.ingest.words.labels import Label

FORM = re.compile(
    r"(?:姓\s*名|学\s*号|班\s*[级别]|准考证号|座位号|考试时间|考试形式|考试方式|考试科目|任课教师|出卷|命题人|审核|得\s*分|评卷人|阅卷人|总\s*分|Name|Student\s*(?:ID|No)|Score)\s*[:：_]",
)


CASE = re.compile(
    r"^\s*【?(?:案例|材料|史料|资料|Case|CASE|Passage|PASSAGE|Text)\s*(?:[一二三四五六七八九]|\d|[IVX]+|[A-D])\s*】?\s*(?:[:：.、]|$)"
)


FIRST_OPTION = re.compile(r"\s*[（(]?[Aa]\s*[)）.．、]")


def has_options_ahead(pieces: Sequence[Piece]) -> bool:
    """Whether one of these lines begins with the first option."""
    return any(FIRST_OPTION.match(piece.text) for piece in pieces)


def is_instruction(piece: Piece) -> bool:
    """Whether a line only tells how to answer."""
    text = piece.text.strip()
    return len(text) < 120 and (
        INSTRUCTION.search(text) is not None
        or (len(text) < 30 and re.search(r"回答|作答|要求写出|(?i:answer|choose)", text) is not None)
    )


Mark = tuple[int, int, Candidate, Label]
