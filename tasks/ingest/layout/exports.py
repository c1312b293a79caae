"""Fields as question banks and learning platforms print them, written as in a paper.

The forms are `【题干】…` and `Question: …` below a numbered title, `第1题 单选题 (2分)` above the stem, and `A` on a line
above its option.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise

from schemas import patterns as re
from tasks.ingest.layout.headings import FIRST_OPTION
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite, run_on
from tasks.ingest.words.answers import CORRECT_MARK, METADATA, STUDENT_MARK, match_answer
from tasks.ingest.words.grammar import number_word
from tasks.ingest.words.labels import is_sure
from tasks.ingest.words.lexicon import match_exactly, match_type_name
from tasks.ingest.words.points import BRACKETED_SUM
from tasks.ingest.words.signs import asks_by_sign

_LETTERS = "ABCDEFGHIJ"
_STEM = re.compile(
    r"\s*(?P<open>[【\[])?\s*(?:题\s*干|题目内容|题目|试题|问题|(?i:questions?(?: text)?|stem|prompt))\s*(?(open)[】\]]\s*[:：]?|[:：])\s*"
)
# in either case, with the other letter that a pattern takes for s
_STEM_STARTS = frozenset("【[题试问QqSsſPp")


def write_exports(lines: IndexedLines) -> IndexedLines:
    """Return the lines with such fields in usual forms."""
    found = _write_shares(_write_field_lines(_settle_replies(_drop_given(_cut_verdicts(lines)))))
    found = _drop_titles(_drop_bubbles(_drop_tags(_drop_names(found))))
    return _join_letters(_write_tail_answers(_write_types_before(_write_type_lines(found))))


# `正确答案：B你选对了`: what a platform tells somebody behind the key
_TOLD_BEHIND = re.compile(
    r"(?<=[A-J√×对错确误])\s*你(?:选对了|答对了|选错了|答错了|错选为[A-J√×、,，]*|没选择任何选项|没有(?:选择|作答)[^\s]{0,6})\s*$"
)


def _cut_verdicts(lines: IndexedLines) -> IndexedLines:
    """Leave out what a platform tells somebody right behind the key of a line."""
    found = {
        place: match
        for place, piece in enumerate(lines.pieces)
        if "你" in piece.text
        and match_answer(piece.text) is not None
        and (match := _TOLD_BEHIND.search(piece.text)) is not None
    }
    return lines.replace({place: lines.pieces[place].cut(0, match.start()) for place, match in found.items()})


# What somebody filled into several blanks is so many lines, with the points for it.
_MOST_GIVEN = 8


def _drop_given(lines: IndexedLines) -> IndexedLines:
    """Drop `我的答案：` with what somebody answered below it, as far as the right answer."""
    found: set[int] = set()
    pieces = lines.pieces
    for place, piece in enumerate(pieces):
        if "答" not in piece.text or STUDENT_MARK.fullmatch(piece.text.strip()) is None:
            continue
        for end in range(place + 1, min(place + 2 + _MOST_GIVEN, len(pieces))):
            label = lines.labels[end]
            if CORRECT_MARK.match(pieces[end].text.lstrip()):
                found.update(range(place, end))
            elif label is None or label.style == "nump":
                continue
            break
    return lines.replace({}, found) if found else lines


# `题号：3  题型：单选题  难度：易`: the fields of a question on one line, its number first
_FIELD_LINE = re.compile(
    r"\s*(?:题号|试题编号)\s*[:：]\s*(?P<number>\d{1,4})(?:\s+题型\s*[:：]\s*(?P<type>[^\s:：]{2,8}))?(?:\s+[^\s:：]{2,6}\s*[:：]\s*[^\s:：]{1,12})*\s*"
)


def _write_field_lines(lines: IndexedLines) -> IndexedLines:
    """Write `题号：3 题型：单选题 …` above every question as `第3题 单选题`."""
    found = {
        place: match
        for place in lines.open_with("题试")
        if (match := _FIELD_LINE.fullmatch(lines.pieces[place].text)) is not None
    }
    numbers = [int(match["number"]) for match in found.values()]
    if len(found) < _MIN_TITLED or numbers != [*range(numbers[0], numbers[0] + len(numbers))]:
        return lines
    return lines.write(found, lambda match: f"第{match['number']}题 {match['type'] or ''}".rstrip())


_REPLY = re.compile(r"(?:我的|你的|您的|学生|考生)回答\s*[:：]")
# `您的回答：A.海 √ 回答正确 +5分`: what somebody answered, and the verdict on it
_VERDICT = re.compile(
    r"\s*(?:(?P<right>[√✓✔]\s*(?:回答正确)?|回答正确)|[×✗✘]\s*(?:回答错误)?|回答错误)(?:\s*[+＋]?\d+\s*分)?\s*$"
)
_REPLY_LINES = 2


def _settle_replies(lines: IndexedLines) -> IndexedLines:
    """Take a reply judged right for the answer, where none is printed; drop all others."""
    pieces = lines.pieces
    settled: dict[int, list[Piece]] = {}
    for place, piece in enumerate(pieces):
        reply = _REPLY.match(piece.text.lstrip()) if piece.kind != "table" else None
        begin = len(piece.text) - len(piece.text.lstrip()) + reply.end() if reply is not None else 0
        verdict = _VERDICT.search(piece.text, begin) if reply is not None else None
        if verdict is None or not piece.text[begin : verdict.start()].strip() or "答案" in piece.text:
            continue  # `您的回答：√` is the reply itself
        beside = (
            *pieces[max(place - _REPLY_LINES, 0) : place],
            *pieces[place + 1 : place + 1 + _REPLY_LINES],
        )
        is_key = verdict["right"] and not any(match_answer(one.text) for one in beside)
        settled[place] = [rewrite(piece.cut(0, verdict.start()), begin, "答案：")] if is_key else []
    return lines.part(settled)


_SHARE = re.compile(
    rf"(?P<lead>[^\d\n]{{0,24}}?)(?:{number_word()}\s*)?(?<!\d)(?P<number>\d{{1,3}})\s*(?:[/／]|\b(?:of|von|de|di|sur|из)\b|\s共)\s*(?P<all>\d{{1,3}})(?!\d)"
    r"\s*题?\s*[)）\]】]?\s*[.．、:：]?\s*(?:[【\[（(]?\s*(?P<name>[^\W\d_]{2,8}题|[A-Z][A-Za-z/ -]{3,24}?)\s*[】\])）]?\s*$)?"
)
_SHARED = re.compile(r"\d\s*(?:[/／]|of|von|de|di|sur|из|共)\s*\d")
_LONGEST_LEAD = 48
_LEAST_SHARES, _MOST_SHARES = 3, 0.7


def _write_shares(lines: IndexedLines) -> IndexedLines:
    """Write `单选题 3/12 …` as `3. [单选题] …`, where nearly all of the 12 are there."""
    found: dict[str, dict[int, tuple[int, re.Match[str], str]]] = {}
    if len(_SHARED.findall(lines.text)) < _LEAST_SHARES:
        return lines
    for place, piece in enumerate(lines.pieces):
        may_match = piece.kind != "table" and _SHARED.search(piece.text[:_LONGEST_LEAD]) is not None
        match = _SHARE.match(piece.text) if may_match else None
        if match is None:
            continue
        lead = match["lead"].strip(" \t【[（(·•-—|:：】])）")
        name = match["name"] or lead
        if (lead and match_type_name(lead) is None) or (name and match_type_name(name) is None):
            continue
        found.setdefault(match["all"], {}).setdefault(int(match["number"]), (place, match, name))
    for count, own in found.items():
        texts = {lines.pieces[place].text[match.end() :] for place, match, _ in own.values()}
        # a question above the first of them would be lost
        is_run = [*own] == sorted(own) and min(own) == 1 and max(own) <= int(count)
        is_named = any(name for *_, name in own.values())
        is_page = len(texts) < len(own) and not is_named
        # `1/4 + 1/2` below a question
        is_within = not is_named and any(
            label and not label.is_weak for label in lines.labels[: own[min(own)][0]]
        )
        if (
            is_run
            and not (is_page or is_within)
            and len(own) >= max(_LEAST_SHARES, _MOST_SHARES * int(count))
        ):
            return lines.replace(
                {
                    place: rewrite(
                        lines.pieces[place], match.end(), f"{number}. [{name}] " if name else f"{number}. "
                    )
                    for number, (place, match, name) in own.items()
                }
            )
    return lines


# `1、【题干】…`, and `【选项】` over the options
_STEM_NAME = re.compile(r"\s*[【\[]\s*(?:题\s*干|题目|(?i:question|stem))\s*[】\]]\s*[:：]?\s*(?=\S)")
_OPTIONS_NAME = re.compile(
    r"\s*(?:[【\[]\s*(?:选\s*项|(?i:options?|choices))\s*[】\]]\s*[:：]?|选\s*项\s*[:：])\s*"
)
_LEAST_NAMED = 2


def _drop_names(lines: IndexedLines) -> IndexedLines:
    """Drop the names of stem and options where a bank prints them with most questions."""
    pieces = lines.pieces
    numbered = [place for place, label in enumerate(lines.labels) if label is not None and not label.is_weak]
    stems = {
        place: match.end()
        for place in numbered
        if (label := lines.labels[place]) is not None
        and (match := _STEM_NAME.match(pieces[place].text, label.end)) is not None
    }
    options = [
        place
        for place in lines.open_with(("【", "[", "选"))
        if _OPTIONS_NAME.fullmatch(pieces[place].text) is not None
        and place + 1 < len(pieces)
        and _OPTION_FIRST.match(pieces[place + 1].text) is not None
    ]
    if len(stems) < max(_LEAST_NAMED, _MOST_TITLED * len(numbered)):
        stems = {}
    inline = {
        place: match.end()
        for place in lines.open_with(("【", "[", "选"))
        if (match := _OPTIONS_NAME.match(pieces[place].text)) is not None
        and _INLINE_OPTIONS.match(pieces[place].text, match.end()) is not None
    }
    left_out = set(options if len(options) >= _LEAST_NAMED else ())
    changed = {
        place: rewrite(pieces[place], end, "", label.end)
        for place, end in stems.items()
        if (label := lines.labels[place]) is not None
    }
    changed |= {
        place: rewrite(pieces[place], end, "")
        for place, end in (inline if len(inline) >= _LEAST_NAMED else {}).items()
    }
    return lines.replace(changed, left_out)


# `- (Topic: Storage)` right below the number of a question
_TAG = re.compile(r"\s*(?:[-–—•*]\s*)?(?P<said>[（(\[【][^()（）\[\]【】?？]{4,80}[)）\]】])\s*")


def _drop_tags(lines: IndexedLines) -> IndexedLines:
    """Drop the topic that a bank names in brackets below nearly every number alone on a line."""
    found: list[int] = []
    alone = 0
    for place, label in lines.numbered.items():
        if lines.pieces[place].text[label.end :].strip() or place + 2 >= len(lines.pieces):
            continue
        alone += 1
        match = _TAG.fullmatch(lines.pieces[place + 1].text)
        below = lines.pieces[place + 2]
        is_followed = lines.labels[place + 2] is None and not FIRST_OPTION.match(below.text)
        if match is not None and is_followed and METADATA.fullmatch(match["said"]):
            found.append(place + 1)
    return lines.replace({}, set(found)) if len(found) >= max(_MIN_TITLED, _MOST_TITLED * alone) else lines


_INLINE_OPTIONS = re.compile(r"(?!.*[?？])[（(\[]?A\s*[)）\].．、:：]?\s*\S.*\sB\s*[)）\].．、:：]?\s*\S")
_OPTION_FIRST = re.compile(r"\s*[（(\[]?[Aa]\s*[)）\].．、:：]?\s*\S")
_BUBBLE = re.compile(r"\s*[Oo]\s+(?=[A-J]\s*[.．:：)）]\s*\S)")


def _drop_bubbles(lines: IndexedLines) -> IndexedLines:
    """Drop the bubble to fill in before an option, `O A: the learning rate`."""
    found = lines.find(_BUBBLE, "Oo")
    return lines.write(found, lambda _: "") if len(found) >= 4 else lines


# So many stems must stand below a number and a title, and so large a share of all.
_MIN_TITLED, _MOST_TITLED = 3, 0.8


def _drop_titles(lines: IndexedLines) -> IndexedLines:
    """Put the number before the stem where `3. 运算符` stands above `题目：…`."""
    pieces = lines.pieces
    stems = lines.find(_STEM, _STEM_STARTS, tables=False)
    # a line without a number may be the answer of the question before
    ends = {index: match.end() for index, match in stems.items() if _is_numbered(pieces, index)}
    if len(ends) < max(_MIN_TITLED, _MOST_TITLED * len(stems)):
        return lines
    written: list[Piece] = []
    for index, piece in enumerate(pieces):
        if index not in ends:
            written.append(piece)
            continue
        above = written.pop()
        end = above.label.end if above.label is not None else 0
        head = rewrite(above, len(above.text), " ", len(above.text[:end].rstrip()))
        written.append(run_on(head, piece.cut(ends[index])))
    return IndexedLines(written)


def _is_numbered(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a number of its own stands right above a stem's label."""
    return index > 0 and is_sure(pieces[index - 1].label, ("num", "word", "paren"))


_TYPE_LINE = re.compile(
    r"\s*[【\[（(]?\s*(?P<name>[^\s（(\[【】\])）\d]{2,8})\s*[】\])）]?\s*(?:" + BRACKETED_SUM + r")?\s*"
)


def _write_type_lines(lines: IndexedLines) -> IndexedLines:
    """Join `第1题 单选题 (2分)` with the stem on the line below it, its type as a tag."""
    joined: dict[int, list[Piece]] = {}
    numbers: list[int] = []
    pieces = lines.pieces
    for index, label in enumerate(lines.labels[:-1]):
        if not is_sure(label, ("word",)) or not re.search(r"\d", label.text):
            continue
        match = _TYPE_LINE.fullmatch(pieces[index].text, label.end)
        if (
            match is not None
            and match_type_name(match.group("name")) is not None
            and pieces[index + 1].label is None
        ):
            head = rewrite(pieces[index], len(pieces[index].text), f" [{match['name']}]", label.end)
            joined |= {index: [], index + 1: [run_on(head, pieces[index + 1])]}
            numbers.append(label.value)
    if len(numbers) < 2 or any(right <= left for left, right in pairwise(numbers)):
        return lines
    return lines.part(joined)


_TYPE_BEFORE = re.compile(
    r"\s*[【\[（(]?\s*(?P<name>[^\W\d_]{2,8})\s*[】\])）]?\s{1,6}(?P<number>\d{1,3})\s*[.．、](?!\d)\s*(?=\S)"
)


def _write_types_before(lines: IndexedLines) -> IndexedLines:
    """Write `判断  2. …` as `2. [判断] …` where the numbers behind names of types run on."""
    found: dict[int, re.Match[str]] = {}
    numbers: list[int] = []
    for place, piece in enumerate(lines.pieces):
        if piece.kind == "table" or lines.labels[place] is not None:
            continue
        match = _TYPE_BEFORE.match(piece.text)
        if match is not None and match_exactly(match["name"]) is not None:
            found[place] = match
            numbers.append(int(match["number"]))
    if len(found) < _MIN_TITLED or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return lines
    return lines.write(found, lambda match: f"{match['number']}. [{match['name']}] ")


_TAIL_ANSWER = re.compile(r"(?<=[\s._?？。])(?P<sign>#{1,2}|=>|>>|\|\|)\s*(?P<answer>[^\s#=>|][^#|]*)$")
_LEAST_TAILS, _MOST_ASKING = 4, 0.7


def _write_tail_answers(lines: IndexedLines) -> IndexedLines:
    """Write `# kerf` behind most numbered lines, after one sign, as an answer."""
    found: dict[int, re.Match[str]] = {}
    for index, label in enumerate(lines.labels):
        if label is None or label.style not in ("num", "word", "paren"):
            continue
        match = _TAIL_ANSWER.search(lines.pieces[index].text, label.end)
        if match is not None:
            found[index] = match
    usual = Counter(match["sign"] for match in found.values()).most_common(1)
    if not usual or usual[0][1] < _LEAST_TAILS:
        return lines
    own = {index: match for index, match in found.items() if match["sign"] == usual[0][0]}
    asking = sum(1 for match in own.values() if asks_by_sign(match.string[: match.start()]))
    if asking < _MOST_ASKING * len(own):
        return lines
    parts: dict[int, list[Piece]] = {}
    for index, match in own.items():
        piece, begin = lines.pieces[index], match.start("sign")
        answer = rewrite(piece.cut(begin), match.start("answer") - begin, "Answer: ")
        parts[index] = [piece.cut(0, begin), answer]
    return lines.part(parts)


_LONE_LETTER = re.compile(r"\s*([A-J])\s*[.．、:：)）]?\s*")


def _read_lone(piece: Piece) -> str:
    """The letter that is all a line holds, with a stop or none; '' for others."""
    match = _LONE_LETTER.fullmatch(piece.text) if len(piece.text) < _LONGEST_LONE else None
    return match[1] if match is not None else ""


_LONGEST_LONE = 6


def _join_letters(lines: IndexedLines) -> IndexedLines:
    """Join `A` or `A.` on a line of its own with the option below it."""
    pieces = lines.pieces
    if sum(1 for index in lines.short if _read_lone(pieces[index]) == "A") < 2:
        return lines
    sets: list[list[int]] = []
    index = 0
    while index < len(pieces):
        if _read_lone(pieces[index]) != "A":
            index += 1
            continue
        places = [index]
        while len(places) < len(_LETTERS):
            letter = _LETTERS[len(places)]
            window = range(places[-1] + 2, min(places[-1] + 5, len(pieces)))
            following = next((place for place in window if _read_lone(pieces[place]) == letter), None)
            if following is None or any(
                piece.label is not None for piece in pieces[places[-1] + 1 : following]
            ):
                break  # a number between them: they are keys of different questions
            places.append(following)
        if len(places) > 1 and places[-1] + 1 < len(pieces):
            sets.append(places)
        index = places[-1] + 1
    if sum(1 for group in sets if len(group) > 2) < 2:
        return lines
    joined: dict[int, list[Piece]] = {}
    for place in chain.from_iterable(sets):
        option = rewrite(pieces[place + 1], 0, f"{_read_lone(pieces[place])}. ")
        joined |= {place: [], place + 1: [option.begin_at(pieces[place].start)]}
    return lines.part(joined)
