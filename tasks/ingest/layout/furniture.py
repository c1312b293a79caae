"""What of a paper is no question, and marks put where other papers print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from schemas import patterns as re
from tasks.ingest.layout.headings import FORM, has_options_ahead, read_heading
from tasks.ingest.layout.key_lines import OPTION, read_key_line
from tasks.ingest.layout.pieces import BESIDE, PASSAGE, IndexedLines, Piece, rewrite, say
from tasks.ingest.layout.sections import OPTION_A
from tasks.ingest.words.answers import has_colon, match_answer
from tasks.ingest.words.grammar import (
    answer_name,
    is_script_title,
    may_open_answer,
    numbered_answer,
    truth_word,
    truth_words,
)
from tasks.ingest.words.labels import counts_questions, parse_label
from tasks.ingest.words.lexicon import match_exactly
from tasks.ingest.words.points import POINT, SUM

_NOTICE = re.compile(
    r"^\s*(?:注意事项|考生须知|考生注意|答题须知|注意|说明|Instructions?|Notes?|Notice|Directions?|INSTRUCTIONS?)\s*[:：]?\s*$",
    re.IGNORECASE,
)
# something stands after the number of a question: `(B) 13.` offers
_LEADING_BRACKET = re.compile(
    rf"^\s*([（(\[]\s*(?:|[A-J]{{1,6}}|[TF]|{truth_word()})\s*[)）\]])\s*(?=[（(]?\d{{1,3}}\s*[.．、)）](?!\d)\s*\S)"
)
_JUDGED = re.compile(rf"\s*[（(\[]\s*(?:[TF]|{truth_word()})\s*[)）\]]\s*")
# an empty bracket, or a judgement, before a statement that begins with a number: `（ ）3．1949年`, `（√）5.3.14 is`
_LEADING_JUDGEMENT = re.compile(
    r"^\s*([（(]\s*[√×✓✗]?\s*[)）])\s*(?=\d{1,3}\s*(?:[．、)）]|\.(?=\d{3,}\D|\d+\.\d)))"
)
_RULE = re.compile(r"[-—–=*_·.…~\s]{3,}")
_PAPER_END = re.compile(
    r"[-—–=*▒▓\s]*(?:以下(?:为)?(?:试题|答题)区域?.{0,60}|[【（(\[]?(?:[试試][题題卷]|全卷|本卷)(?:至此|到此)?(?:完|[结結]束|[为為]止)(?:\s*[,，、。;；!！]\s*[^。？?\d]{2,16})?[】）)\]]?|(?:试卷|试题|全卷)?(?:完|结束|END|The end)|"
    r"(?:this is )?(?:the )?end\s*of\s*(?:the )?(?:question )?(?:paper|exam|examination|test|quiz|questions|section \w+|part \w+)|"
    r"good luck|(?-i:(?!total\s*=))[(\[（【]?(?:sub)?total(?: "
    + POINT
    + r")?\s*[:：=]?\s*[(\[]?"
    + SUM
    + r"[)\]]?|"
    r"[\[(]?(?:please )?turn (?:the )?(?:page|over)(?: the page)?[\])]?|p\.?\s?t\.?\s?o\.?|you are on page \d+\s*of\s*\d+|"
    r"(?:see|go to|continued? on) (?:the )?(?:next )?page(?: \d+)?|(?:this )?page (?:is )?(?:intentionally )?(?:left )?blank|blank page|leerseite|空白[页頁]|"
    r"page\s*\d{1,3}(?:\s*(?:of|/)\s*\d{1,3})?|第\s*\d{1,3}\s*页\s*[,，]?\s*(?:共\s*\d{1,3}\s*页)?)[。.!！\s▒▓\-—–=*]*",
    re.IGNORECASE,
)
_END_STARTS = "-—–=*▒▓【（以试試本全完结第空[(TtEeGgSsſPpYyCcBbLl"
_SCORE_TABLE = re.compile(
    r"^[\s|]*(?:题\s*号|得\s*分|评卷人|总\s*分|阅卷人|分\s*数|签\s*名|Question|Score|Marks)[\s|]"
)
# `第 2 页 共 4 页`, alone or behind the paper's short title
# `科目名称：分析化学（A）     第 2 页 共 2 页`: with the number of pages told, whatever stands before
_PAGE_OF = re.compile(
    r"[^。？?；;_]{0,40}第\s*\d{1,3}\s*页\s*[,，/、]?\s*[（(]?\s*共\s*\d{1,3}\s*页\s*[)）]?\s*"
)
_LONGEST_PAGE_NUMBER = 80
_PAGE_NUMBER = re.compile(
    r"[^。？?；;：:（(]{0,40}?(?:第\s*[\d一二三四五六七八九十_]{1,3}\s*页\s*[,，/、]?\s*[（(]?\s*(?:共\s*[\d一二三四五六七八九十_]{1,3}\s*页)?|"
    r"共\s*[\d一二三四五六七八九十_]{1,3}\s*页\s*[,，/、]?\s*第\s*[\d一二三四五六七八九十_]{1,3}\s*页)\s*[)）]?[\s|\-—–·]*|"
    r"[\-—–·~]\s*\d{1,3}\s*[\-—–·~]|[Pp]age\s*\d{1,3}(?:\s*(?:of|/)\s*\d{1,3})?"
)
# the marker's boxes above a section: `得分 | 评卷人`
_MARKER_BOX = re.compile(
    r"(?:(?:本题)?得\s*分|评\s*[卷阅]\s*(?:人|教师)|阅\s*卷\s*(?:人|教师)|题\s*分|复\s*[核查]\s*人|评\s*分(?:人)?|核\s*分\s*人|统\s*分\s*人|签\s*[名字]|[\s|:：_/（）()])+"
)
_MARKER = re.compile(r"[分人名师]")
# `家长签字：____  订正：____`
_SIGNED = re.compile(
    r"(?=.*签)(?:(?:家长|教师|老师|学生)?(?:签\s*[字名]|评[价语]|意见|订\s*正|日期)\s*[:：]\s*_*\s*)+"
)
# the sealing line: `…密…封…线…`, `装订线内请勿答题`
_SEAL = re.compile(
    r"[密封线装订内外请勿不要准得答题卷上写字号姓名班级学院专业考生：:….·•\-—─━_=○〇◎\s|（）()※]+"
)


# Rules stand on a cover, and so many lines at most are theirs.
_LONGEST_COVER, _MOST_RULES = 0.3, 25


def drop_notices(lines: IndexedLines) -> IndexedLines:
    """Leave out the rules below `注意事项` on a cover, and the imprint that closes a paper.

    The rules are numbered and end at the first section.
    """
    pieces = lines.pieces
    left_out: set[int] = set()
    for index in lines.find(_NOTICE, "注考答说NnIiDdİı"):
        near = range(index + 1, min(index + _MOST_RULES, len(pieces)))
        ends = (at for at in near if _opens_section(pieces[at]) or has_options_ahead(pieces[at : at + 2]))
        end = next(ends, None)
        if end is not None and _opens_section(pieces[end]) and index < _LONGEST_COVER * len(pieces) + 3:
            left_out.update(range(index, end))
    last = max(len(pieces) - _LONGEST_IMPRINT, len(pieces) // 2)
    begin = next((at for at in range(last, len(pieces)) if _IMPRINT.match(pieces[at].text)), len(pieces))
    if not any(map(_may_be_read, pieces[begin:])):
        left_out.update(range(begin, len(pieces)))
    return lines.replace({}, left_out)


# what closes a paper by whom it belongs to, and on how many lines; a question may speak of it, too
_IMPRINT, _LONGEST_IMPRINT = (
    re.compile(
        r"(?i)\W*(?:permission\b.{0,80}\bcopyright\b|(?:©|copyright\b).{0,80}\b(?:permission|reserved|acknowledg)|all rights reserved\b|版权所有)"
    ),
    12,
)


def _may_be_read(piece: Piece) -> bool:
    """Whether a line is numbered, an option, an answer or a heading: no imprint is or has any."""
    text = piece.text
    return (
        piece.label is not None
        or OPTION.match(text) is not None
        or match_answer(text) is not None
        or bool(read_key_line(text))
        or read_heading(text) is not None
    )


def _opens_section(piece: Piece) -> bool:
    return piece.kind == "questions" or read_heading(piece.text) is not None


_LONGEST_MARK = 3
_SCRIPT_STARTS = frozenset("听聽录錄SsTtAaLl【[（(一二三四五六七八九十附")


def write_scripts(lines: IndexedLines) -> IndexedLines:
    """Say of what is read aloud that it is the text of the questions below it.

    Below all questions it is left out: it ends above the answers.
    """
    pieces = lines.pieces
    left_out: set[int] = set()
    changed: dict[int, Piece] = {}
    seen = highest = 0  # the highest number of the lines seen
    offers = False
    for place in lines.open_with(_SCRIPT_STARTS):
        if place in left_out or not is_script_title(pieces[place].text):
            continue
        if place - 1 in lines.numbered or (place and len(pieces[place - 1].text.strip()) <= _LONGEST_MARK):
            continue  # what a question is about, or the option below its letter
        end = place + 1
        while end < len(pieces) and not (
            is_script_title(pieces[end].text)
            or match_answer(pieces[end].text)
            or answer_name().match(pieces[end].text.strip())
            or read_heading(pieces[end].text) is not None
            or (lines.labels[end] is not None and has_options_ahead(pieces[end + 1 : end + 3]))
        ):
            end += 1
        asks = end < len(pieces) and lines.labels[end] is not None and read_heading(pieces[end].text) is None
        if asks:
            changed[place] = rewrite(pieces[place], len(pieces[place].text), PASSAGE)
            continue
        highest = max(highest, _last_number(lines, seen, place))
        offers = offers or any(OPTION_A.search(piece.text) for piece in pieces[seen:place])
        seen = place
        if offers and highest >= _last_number(lines, place, end):
            left_out.update(range(place, end))
    return lines.replace(changed, left_out)


def _last_number(lines: IndexedLines, first: int, last: int) -> int:
    """The highest of the numbers there, 0 where there is none."""
    found = (_COUNTED.match(piece.text) for piece in lines.pieces[first:last])
    return max((int(match[1]) for match in found if match is not None), default=0)


# with the place for a key before it: `（ ）3.`
_COUNTED = re.compile(r"[^\w]{0,12}(\d{1,3})\s?[.．、:：)）\]】]")


def move_brackets(lines: IndexedLines) -> IndexedLines:
    """Put answer brackets before the number, `（√）1. …`, after the last line of the stem."""
    found = {index: _cut_bracket(lines.pieces[index]) for index in lines.open_with("（([")}
    bare = lines.replace({index: rest for index, (rest, _) in found.items()})
    moved: dict[int, Piece] = {}
    for index, (_, bracket) in found.items():
        if bracket is not None:
            last = _find_stem_end(bare.pieces, index)
            moved[last] = _append(moved.get(last, bare.pieces[last]), bracket)
    return bare.replace(moved)


_KEY_BEFORE = re.compile(
    rf"\s*(?:[（(\[]\s*(?P<held>[A-J]{{1,6}}|[a-j]|[TFYNV]|{truth_word()})\s*[)）\]]\s*|(?:_+\s*)?(?P<bare>[A-J]{{1,6}}|[a-j]|[TFYNV]|[①-⑩]{{1,5}}|{truth_word()})(?:_+\s*|\s+_*\s*))(?=\S)"
)
_NEXT_OPTION = re.compile(r"\d\s+[（(]?[Bb][\s.．、)）]\s*\S")
_EMPTY_PLACE = re.compile(r"[（(]\s*[)）]")
_OTHER_NUMBER = re.compile(r"#?(\d{1,3})(?:\s*[:：]\s*\S|\s+(?=[^\W\d_a-z]))")
_MAY_OPEN_KEY = frozenset("（([_ABCDEFGHIJTFYNVabcdefghij①②③④⑤") | frozenset(
    word[0] for words in truth_words() for word in words if not word[0].isascii()
)
_LEAST_KEYS, _LEAST_RISING = 3, 0.7


def write_leading_keys(lines: IndexedLines) -> IndexedLines:
    """Write `B 1. …` and `(AC) Question 2: …` as `1. … (B)`, where the numbers run on."""
    lines = _bracket_filled(_join_keys_above(lines))
    found: list[tuple[int, re.Match[str], int]] = []
    for place in lines.open_with(_MAY_OPEN_KEY):
        piece = lines.pieces[place]
        match = _KEY_BEFORE.match(piece.text) if piece.kind != "table" else None
        if match is None or _NEXT_OPTION.search(piece.text, match.end()) is not None:
            continue  # `A 12  B 36` offers
        label = parse_label(piece.text[match.end() :])
        if counts_questions(label):
            found.append((place, match, label.value))
        elif (other := _OTHER_NUMBER.match(piece.text, match.end())) is not None:
            found.append((place, match, int(other[1])))
    rising = sum(1 for one, other in pairwise(found) if other[2] == one[2] + 1)
    keys = {match["held"] or match["bare"] for _, match, _ in found}
    if len(found) < _LEAST_KEYS or rising < _LEAST_RISING * (len(found) - 1) or len(keys) < 2:
        return lines
    bare = lines.replace({place: lines.pieces[place].cut(match.end()) for place, match, _ in found})
    written: dict[int, Piece] = {}
    for place, match, _ in found:
        if match["held"]:
            bracket = lines.pieces[place].cut(
                match.start() + len(match[0]) - len(match[0].lstrip()), match.end()
            )
        else:
            key = lines.pieces[place].cut(match.start("bare"), match.end("bare"))
            bracket = say(key, f" ({key.text.upper() if len(key.text) == 1 else key.text})")
        beside = BESIDE.search(bare.pieces[place].text)
        if beside is not None and not bracket.text.startswith("("):
            # the key of `demand      A. a situation …` belongs to what is to be matched
            row = bare.pieces[place]
            left = _append(row.cut(0, beside.start()), bracket)
            written[place] = replace(
                row,
                text=f"{left.text}{row.text[beside.start() :]}",
                sources=(*left.sources, *row.sources[beside.start() :]),
            )
            continue
        last = _find_stem_end(bare.pieces, place)
        line = written.get(last, bare.pieces[last])
        empty = _EMPTY_PLACE.search(line.text)
        written[last] = (
            rewrite(line, empty.end(), bracket.text.strip(), empty.start())
            if empty is not None
            else _append(line, bracket)
        )
    return bare.replace(written)


# `11. __T__ A cartel …`: a judgement typed into its place
_FILLED = re.compile(rf"\s*_+\s*(?P<held>[TF]|{truth_word()})\s*_+\s+(?=[^\W_])")


def _bracket_filled(lines: IndexedLines) -> IndexedLines:
    """Write judgements typed between underscores after numbers in brackets: `11. (T) A cartel`."""
    if "_" not in lines.text:
        return lines
    found = {
        place: (label.end, match)
        for place, label in lines.numbered.items()
        if (match := _FILLED.match(lines.pieces[place].text, label.end)) is not None
    }
    if len(found) < _LEAST_KEYS:
        return lines
    return lines.replace(
        {
            place: rewrite(lines.pieces[place], match.end(), f" ({match['held']}) ", begin)
            for place, (begin, match) in found.items()
        }
    )


_KEY_ALONE = re.compile(r"\s*[（(\[]?\s*([A-H]{1,4})\s*[)）\]]?\s*")


def _join_keys_above(lines: IndexedLines) -> IndexedLines:
    """Put keys alone on a line before the numbers below them.

    The first question has one above it, the last none below: they close no question.
    """
    pieces = lines.pieces
    alone = [place for place in lines.short if _KEY_ALONE.fullmatch(pieces[place].text)]
    if len(alone) < _LEAST_KEYS or alone[-1] + 1 == len(pieces):
        return lines
    asked = [place for place in lines.numbered if place < alone[-1] + 2]
    if [place + 1 for place in alone] != asked:
        return lines
    joined = {
        place: replace(
            rewrite(pieces[place], 0, f"（{pieces[place - 1].text.strip(' （()）[]')}）"),
            start=pieces[place - 1].start,
        )
        for place in asked
    }
    return lines.replace(joined, {place - 1 for place in joined})


_NUMBERED_ANSWER = re.compile(
    r"\s*(?:(?:参考|正确|标准)?答案|(?i:answers?|solutions?)\b)\s*(?:为|是|is)?\s*[:：]?\s*"
)


def write_numbered_answers(lines: IndexedLines) -> list[Piece]:
    """Write `第3题参考答案B` below question 3 as `答案：B`, and after all questions as `3. B`.

    Where it stands below a later question, as in the log of a chat, it goes below its own.
    """
    pieces = lines.pieces
    found = _count_answers(lines)
    begins: dict[int, int] = {}
    late: dict[int, list[Piece]] = {}
    last: int | None = None
    for place, piece in enumerate(pieces):
        label = piece.label
        if not counts_questions(label):
            continue
        mark = _NUMBERED_ANSWER.match(piece.text, label.end) if label.style == "word" else None
        if mark is None:
            last = label.value
            begins[last] = place
        elif label.value == last:
            found[place] = rewrite(piece, mark.end(), "答案：")
        elif label.value in begins and label.value + 1 in begins and _is_closed(mark):
            late.setdefault(begins[label.value + 1], []).append(rewrite(piece, mark.end(), "答案："))
            late.setdefault(-1, []).append(piece)
    if not late:
        return found
    gone = {id(piece) for piece in late[-1]}
    written: list[Piece] = []
    for piece, own in zip(found, (late.get(place, []) for place in range(len(pieces))), strict=True):
        # the place of a question in the text ends with its own last line
        written += [replace(one, start=written[-1].end, end=written[-1].end) for one in own]
        written += [] if id(piece) in gone else [piece]
    return written


def _is_closed(mark: re.Match[str]) -> bool:
    """Whether a sign or a key parts an answer from what names it, as in no sentence about it."""
    return mark[0].rstrip().endswith((":", "：")) or mark.end() + _LONGEST_KEY >= len(mark.string)


_LONGEST_KEY = 8
_LEAST_COUNTED = 2


def _count_answers(lines: IndexedLines) -> list[Piece]:
    """Number answers that name their questions, where no question stands between them."""
    pieces = list(lines.pieces)
    named = lines.find(numbered_answer(), may_open_answer)
    runs: list[list[int]] = []
    last: int | None = None
    for place, label in enumerate(lines.labels):
        if place in named:
            value = int(named[place][1])
            if last is not None and value == last + 1:
                runs[-1].append(place)
            else:
                runs.append([place])
            last = value
        elif counts_questions(label) and label.value == (last or 0) + 1:
            last = None  # the next question
    for place in (place for run in runs if len(run) >= _LEAST_COUNTED for place in run):
        pieces[place] = rewrite(pieces[place], named[place].end(), f"{int(named[place][1])}. ")
    return pieces


def _find_stem_end(pieces: Sequence[Piece], index: int) -> int:
    """The line on which the sentence that begins here ends, before the options."""
    last = index
    while pieces[last].wraps and last + 1 < len(pieces):
        last += 1
    for place in range(last + 1, min(last + 4, len(pieces))):
        if OPTION_A.match(pieces[place].text):
            return place - 1
        if pieces[place].label is not None or pieces[place].kind != "body":
            break
    return last


# `… ？ (A)鯊魚 (B)鯨魚`, `… A. shark  B. whale`
_OFFERED = re.compile(
    r"\s*(?:[（(]\s*A\s*[)）](?=\s*\S[^\n]{0,300}?[（(]\s*B\s*[)）])|(?<=\s)A\s*[.．、:：)）](?=\s*\S[^\n]{0,300}?\sB\s*[.．、:：)）]))"
)


_TAIL_TAG = re.compile(r"\s*[（(\[【]([^（()）\[\]【】\d]{2,24})[)）\]】]\s*$")


def _append(piece: Piece, bracket: Piece) -> Piece:
    """A line with a bracket at its end, or before the options or the type that close it."""
    offered = _OFFERED.search(piece.text)
    if _JUDGED.fullmatch(bracket.text):
        offered = None
    tag = _TAIL_TAG.search(piece.text) if offered is None else None
    offered = tag if tag is not None and match_exactly(tag[1]) is not None else offered
    body = piece.text[: offered.start() if offered is not None else None].rstrip()
    rest = len(body) if offered is not None else len(piece.text)
    return replace(
        piece,
        text=f"{body}{bracket.text}{piece.text[rest:]}",
        sources=(*piece.sources[: len(body)], *bracket.sources, *piece.sources[rest:]),
        label_length=0 if bracket.text.startswith(" ") else piece.label_length,
    )


def _cut_bracket(piece: Piece) -> tuple[Piece, Piece | None]:
    """A line without the bracket printed before its number, and that bracket."""
    match = _LEADING_BRACKET.match(piece.text) or _LEADING_JUDGEMENT.match(piece.text)
    if not match:
        return piece, None
    # `(A) 1. (B) 2. (C)`: keys, while options begin with their first
    is_offered = not _JUDGED.fullmatch(match[1]) and _OFFERED.search(piece.text, match.end())
    if re.search(r"[（(]\s*[B-D]\s*[)）]", piece.text[match.end() :]) and not is_offered:
        return piece, None
    rest = piece.cut(match.end())
    return replace(rest, start=piece.start), piece.cut(match.start(1), match.end(1))


# what a line of noise holds that most lines do not: marks of a form, of a page, of a marker's box, of a sealing line
_NOISY = re.compile(r"[:：_页线分人名师]|age")
_RULE_STARTS = "-—–=*_·.…~"
_MAY_OPEN_NOISE = frozenset(_RULE_STARTS) | frozenset(_END_STARTS)
# fingers, hearts and faces of a post; what ticks or crosses is none
_EMOJI = re.compile(
    r"(?:[\U0001f300-\U0001faff\u2600-\u2604\u2607-\u260f\u2615-\u26ff\u2b05-\u2b07]\ufe0f?\s*)+"
)


def drop_page_numbers(pieces: Sequence[Piece]) -> list[Piece]:
    """The lines without those that number pages, before anything counts lines.

    They are worded alike, and each stands where a page ended: within a question as well as between two.
    """
    return [piece for piece in pieces if not _is_page_number(piece)]


_MAY_OPEN_PAGE = "-—–·~"


def _is_page_number(piece: Piece) -> bool:
    text = piece.text.strip()
    if not text or len(text) >= _LONGEST_PAGE_NUMBER:
        return False
    if "页" not in text and "age" not in text and text[0] not in _MAY_OPEN_PAGE:
        return False
    if _PAGE_OF.fullmatch(text) is not None:
        return True
    return _PAGE_NUMBER.fullmatch(text) is not None and (
        piece.label is None or text[0] in f"{_MAY_OPEN_PAGE}第共" or ("第" in text and "共" in text)
    )


def is_noise(piece: Piece) -> bool:
    """Whether a line is a score table, a form, a rule or the paper's end."""
    text = piece.text.strip()
    if text[:1] >= "\u2600" and _EMOJI.fullmatch(text) is not None:
        return True
    if text[:1] not in _MAY_OPEN_NOISE and piece.kind != "table" and _NOISY.search(text) is None:
        return False
    if piece.kind == "table" and _SCORE_TABLE.match(text) and not re.search(r"[\u4e00-\u9fff]{12,}", text):
        # an answer table (题号 | 1 | 2) is read elsewhere; a score table has Chinese or no numbers
        return not re.search(r"(?m)^(?>.*?\b1\b).*\b2\b", text)
    if len(text) < 120 and (has_colon(text) or "_" in text) and len(FORM.findall(text)) >= 2:
        return True
    if len(text) < 40 and not text.isascii() and _MARKER.search(text) and _MARKER_BOX.fullmatch(text):
        return True
    if "签" in text and len(text) < 120 and _SIGNED.fullmatch(text) is not None:
        return True
    if "线" in text and len(text) < 200 and _SEAL.fullmatch(text) and re.search(r"密|封|装|订", text):
        return True
    if text[0] in _RULE_STARTS and _RULE.fullmatch(text):
        return True
    return text[0] in _END_STARTS and _PAPER_END.fullmatch(text) is not None
