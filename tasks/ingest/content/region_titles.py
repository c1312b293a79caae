"""Titles of the parts that hold answers: `参考答案`, `MARKING SCHEME – HISTORY`."""

from __future__ import annotations

from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.extraction import Line
from tasks.ingest.words.grammar import key_title, number_word
from tasks.ingest.words.once import once_a_paper

_REGION = re.compile(
    r"^(?!\s*[一二三四五六七八九十]+[、.．][^答]{0,24}解答)\s*[#*【\[\-—=☆★]*\s*(?:[一二三四五六七八九十]+[、.．]\s*|附[:：]?\s*|第[一二三四五六七八九十\d]+[章部]分?\s*)?(?:.{0,24}?)(?:参考答案|标准答案|试题答案|答案与解析|答案及解析|答案解析|正确答案|答案及评分标准|评分标准|答案部分|试卷答案|习题答案|试题解析|試題解析|評分標準|(?:[试試]题|試題|[习習][题題]|[参參]考|教[师師]用?)解答|(?<![\u4e00-\u9fff])(?:部分|详细|全部|逐题)(?:试题|题目)?(?:解析|详解)|答案)"
    r"(?:及|与|與|和)?(?:评分标准|評分標準|评分细则|解析|详解|詳解|要点|要點|评分参考|提示|速查表?|一览表?|汇总)?\s*(?:[（(][^（()）]{0,12}[)）])?\s*[】\]\-—=:：☆★*#]*\s*$|"
    r"^\s*[#*\-—=【\[<＜〈]*\s*(?:(?:Part|Section)\s+\w+\s*[:.\-]?\s*|(?!\d|(?:question|problem|exercise|q)\b)[^.?!;:。？]{1,32}(?::|\s[-–—|])\s+(?=(?:Instructor|Teacher|Trainer|Tutor|Examiner|Marker)\b|Answers?\b|Solutions?\b))?(?:The\s+)?(?:(?:Reference|Suggested|Model|Correct|Sample|Official|Worked|(?:Instructor|Teacher|Trainer|Tutor|Examiner|Marker|Invigilator)(?:['’]?s['’]?)?)\s+)?(?:(?<=['’s] )notes|(?:Answer|Solution)\s*(?:Keys?|Sheet|Section)|(?:Answers?|Answer\s*Keys?|Keys?)(?:\s+(?:and|&|with)\s+(?:explanations?|solutions?|rationales?|comments?|hints?|notes?|marking scheme))?|Solutions?|Keys?|(?:Marking|Mark|Grading|Scoring) (?:schemes?|guides?|guidelines?|keys?)|"
    + key_title()
    + r")(?:\s+(?:to|к|zu|à|a|au)\s+.{0,40})?(?:\s*[-–—:]\s*(?:Modelo|Model|Form|Version|Variante?|Variant|Test|Quiz|Exam|Unit|Chapter|Module|Lesson|Week|Forma|Fila|Tipo|Set|Серия|Вариант)\s+\w{1,3})?"
    rf"(?:(?<=s|n|i|ы|e|a|o)\s+(?!{number_word()})[^\W\d_]{{3,20}}\s+\d{{1,2}})?(?:\s*[（(\[][^()（）\[\]]{{0,30}}[)）\]])?\s*[:：\-—=*#】\]>＞〉]*\s*$",
    re.IGNORECASE,
)
_NO_HEADING = re.compile(r"[，,。？?]|请|写在|填在|涂在|选择正确|备选")
_TITLE_LINES = 8


def find_region_headings(pieces: Sequence[Piece | Line]) -> list[int]:
    """Return the indices of the lines that say nothing but that answers follow."""
    titles = {piece.text.strip().casefold() for piece in pieces[:_TITLE_LINES]}
    return [
        index
        for index, piece in enumerate(pieces)
        if is_region_heading(piece.text)
        or (
            len(piece.text) <= _MAX_TITLE
            and _names_answers(piece.text)
            and (named := _NAMES_PAPER.fullmatch(piece.text)) is not None
            and (named["title"] or named["before"]).casefold() in titles
        )
    ]


# `KEY Progress Test 3`, `Grade 5 Mathematics Answer Key`, where the paper is called so
_ANSWERS = r"(?i:(?:answer\s+)?keys?|answers?|solutions?)"
_NAMES_PAPER = re.compile(
    rf"{_ANSWERS}\s*[:–—-]?\s*(?P<title>[^\s:–—-].{{3,60}}?)\s*|(?P<before>\S.{{3,60}}?)\s*[:–—-]?\s*\b{_ANSWERS}\s*"
)
MAX_HEADING = 48
_RULES = "=-—–─━_*#~·.…☆★▼▽▲△◆◇■●◎※❖➤▶► \t"


@once_a_paper
def is_region_heading(text: str) -> bool:
    """True for a line that says nothing but that answers follow."""
    folded = text.strip()
    if _DASHED.search(folded) is not None and len(folded) <= _MAX_TITLE:
        # `MARKING SCHEME – TEST II – HISTORY`, `Final, Version 2 — INSTRUCTOR KEY (do not post)`
        parts = [part for part in _DASHED.split(folded) if " " in part.strip()]
        if any(_says_answers(part.strip()) for part in parts):
            return True
    if len(folded) > MAX_HEADING and folded[0] not in _RULES:
        return False
    if (len(folded) > 8 or not folded[:1].isascii()) and folded[:1] in _RULES:
        inner = folded.strip(_RULES)  # a rule of any length on both sides
        if folded[-1] in _RULES and _FRAMED.match(inner) is not None:
            return True
        folded = inner or folded
    return _says_answers(folded)


# between rules: `答案在下面，做完再看`
_FRAMED = re.compile(r"(?:(?:参考|标准|正确)?答案|(?i:answers|key)\b)(?!.*(?:写|填|涂|[？?])).{0,24}$")
_DASHED = re.compile(r"\s[-–—|]\s")
_MAX_TITLE = 90
# `参考答案（自己做的，有错请指出）`, but no `答案（请填在下表中）`
_REMARKED = re.compile(
    r"(?P<title>\W*(?:参考|标准|试题|正确)?(?:答案|解答)(?:[与及和]?(?:解析|详解|评分标准))?)\s*[（(](?!.*[填写涂选]|.*作答)[^（()）]{1,30}[)）]\s*[:：]?\s*"
)


def _says_answers(text: str) -> bool:
    remarked = _REMARKED.fullmatch(text)
    text = remarked["title"] if remarked is not None else text
    return (
        len(text) <= MAX_HEADING
        and _names_answers(text)
        and bool(_REGION.match(text))
        and not _NO_HEADING.search(text)
    )


@once_a_paper
def _names_answers(text: str) -> bool:
    """Whether a line holds one of the words without which the pattern matches nothing."""
    if _HAN_NAMED.search(text) is not None:
        return True
    # answer, solution, key, marking: parts of them whose letters have no further forms in other case
    lowered = text.lower()
    return _NAMED.search(lowered) is not None


_HAN_NAMED = re.compile("答案|解答|解析|详解|[评評]分[标標]准|評分標準|[试試][题題]解析")
_NAMED = re.compile("wer|olu|ey|mar|er['’s]{1,2} not|" + key_title().lower())
