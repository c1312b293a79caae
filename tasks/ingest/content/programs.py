"""Questions that ask for a program, and the programs printed as their answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.answers import PROGRAM_ANSWER

WRITES_CODE = re.compile(r"编写|编程|编制|写(?:出|一个)?.{0,12}(?:程序|函数|语句|代码|算法|过程)|实现|设计")


CODE = re.compile(
    r"[;{}]\s*$|^\s*[{}#]|^\s*(?:#\s*include|using\b|import\b|from\s+\w+\s+import|public\b|private\b|class\b|def\b|void\b|int\b|char\b|float\b|double\b|main\s*\(|for\s*\(|while\s*\(|if\s*\(|else\b|return\b|print\w*\s*\(|cout\b|cin\b|(?i:select|insert|update|create)\s+\w)|^\s*//|/\*.*\*/"
)


_PROOF = re.compile(r"\s*证明?\s*[:：]\s*")


def match_program(piece: Piece, pieces: Sequence[Piece], body: Sequence[Piece]) -> re.Match[str] | None:
    """Match `运行结果：24` or `参考程序：` where the answer follows it and a question precedes it."""
    if body and _PROOF.match(piece.text) and any("证" in line.text for line in body):
        return _PROOF.match(piece.text)
    match = PROGRAM_ANSWER.match(piece.text)
    if match is None or not body:
        return None
    rest = piece.text[match.end() :].strip(" _")
    if rest:
        return match
    is_last = pieces[-1] is piece
    asks_to_write = WRITES_CODE.search(body[0].text) is not None
    return match if not is_last and (asks_to_write or "参考" in match.group(0)) else None


def is_written_code(body: Sequence[Piece]) -> bool:
    """Whether the program that the question asks for stands below it.

    It does where nothing but code follows and the question is complete.
    """
    first = body[0].text.strip() if body else ""
    code = [piece.text for piece in body[1:]]
    return (
        len(code) >= 3
        and first.endswith(("。", "."))
        and WRITES_CODE.search(first) is not None
        and re.search(r"[如以]下|下列|下面|补充|完成|填|改", first) is None
        and all(CODE.search(line) or len(line.strip()) < 60 for line in code)
        and sum(1 for line in code if CODE.search(line)) >= 0.6 * len(code)
    )
