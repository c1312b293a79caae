"""The marks of answers, written in the usual forms.

They are `Ans- B`, `答案→B`, `Answer Key` below every question, and in words that nobody listed what repeats once a question
and takes values of the option labels: `Richtig ist B.`, `Answer to Question 4` above `(B) is correct.`, `……故选B。`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from schemas import patterns as re
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite, run_on
from tasks.ingest.words.grammar import (
    answer_mark,
    answer_name,
    asking,
    begins_asking,
    blank_place,
    may_open_answer,
    may_open_blank,
    truth_word,
)
from tasks.ingest.words.labels import counts_questions, is_sure
from tasks.ingest.words.signs import closes_asking
from tasks.questions import has_blank

_MIN_TIMES = 3
_MIN_SHARE = 0.5  # of the option lists that have no key yet
# begin with the letter and look back from it: a search skips to letters
_FIRST, _SECOND = (
    re.compile(rf"[{ab}](?:(?<!\S.)|(?<=\s[（(\[].)|(?<=^[（(\[].))\s*[)）.．、:：\]]\s*\S")
    for ab in ("Aa", "Bb")
)
_LETTERS = r"(?:[A-J](?:\s*(?:[,，、&]|and)?\s*[A-J]){0,5}|(?<=[（(\[])[a-j](?=[)）\]]))"
# a key that stands alone, within the first words of a line
_OPENING = re.compile(
    rf"([^\n]{{0,40}}?)[（(\[]?(?<![A-Za-z0-9])({_LETTERS}|(?<=[:：]\s)[a-j](?=\s*[.。]?\s*$))(?![A-Za-z0-9'’])[)）\]]?\s*[.．。:：,，;；]?"
)
# `【解答】解：……故选：C．` is read with its letter at its end
_KNOWN = re.compile(r"\s*(?:答案：|Answer:|【解答】)")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[A-Za-z]{2}|[^\W\d_A-Za-z]")


@dataclass(frozen=True)
class _Key:
    """A line that may give a key: its place, its letters, and where the text after them begins."""

    piece: int
    letters: str
    end: int


_LEAST_PLACES = 2
_ASKS_NEXT = ("num", "word", "wordp", "bracket", "cn", "part")


def write_filled_places(lines: IndexedLines) -> IndexedLines:
    """Write what stands at the places of blanks as answers, `第1空` above `salt`.

    Empty places are left out.
    """
    pieces = lines.pieces
    found = {
        place: match
        for place in lines.open_where(may_open_blank)
        if (match := blank_place().fullmatch(pieces[place].text)) is not None
    }
    if len(found) < _LEAST_PLACES:
        return lines
    kept: list[Piece] = []
    is_answered = False
    for place, piece in enumerate(pieces):
        match = found.get(place)
        if match is None:
            is_answered = is_answered and not is_sure(lines.labels[place], _ASKS_NEXT)
            kept.append(piece)
            continue
        below = place + 1
        is_filled = match["said"] or (
            below < len(pieces) and below not in found and not is_sure(lines.labels[below], _ASKS_NEXT)
        )
        if not is_filled:
            continue
        end = match.start("said") if match["said"] else len(piece.text)
        if match["said"] or not is_answered:
            kept.append(rewrite(piece, end, "" if is_answered else "答案："))
        is_answered = True
    return IndexedLines(kept)


# `Ответ: ________ .`, `Answer: ____`: a place to write on; one with a unit, `____ kg`, is part of what is asked
_NO_WORDS = re.compile(r"[\W_]*")
# `A __ B __`
_PLACES = re.compile(r"(?:(?:[^\W_]{1,2}+[.)]?+)?+\s*+_{2,}+\s*+[,;.。]?+\s*+)++")
_UNIT_PLACE = re.compile(r"\s*_{3,}\s?[^\W\d_][^\s_]{0,7}\s*")
_LEAST_ASKED, _MOST_ASKED = 5, 0.8
_COUNTS_ELSE = ("num", "nump", "word", "bracket")


def write_answer_places(lines: IndexedLines) -> IndexedLines:
    """Leave out `Ответ: ____`, which answers nothing.

    Where nothing else counts, bare numbers that run from 1 with such a place below nearly each, `7 Какой заряд…`, are written
    as `7. …`.
    """
    pieces = lines.pieces
    marked = lines.find(answer_mark(), may_open_answer, tables=False)
    empty = {place for place, mark in marked.items() if not pieces[place].text[mark.end() :].strip()}
    ruled = {place for place, mark in marked.items() if _is_place(pieces[place].text[mark.end() :])}
    with_units = {
        place: rewrite(pieces[place], mark.end(), "")
        for place, mark in marked.items()
        if _UNIT_PLACE.fullmatch(pieces[place].text, mark.end())
    }
    rules = {place for place in empty if _has_rule(pieces, place + 1)}
    if not (ruled or rules or with_units or any(place + 1 in marked for place in empty)):
        return lines
    # one that ends a question is its gap
    ends = {place for place in (ruled | empty) - {0} if _breaks_off(lines, place)}
    gaps = {
        place - 1: run_on(pieces[place - 1], rewrite(pieces[place], marked[place].end(), " "))
        for place in ends & ruled
    }
    numbers = _find_asked(lines, ruled | empty, max(ruled | rules, default=0))
    counted = {
        place: rewrite(pieces[place], label.end, f"{label.value}. ")
        for place in numbers
        if (label := lines.labels[place]) is not None
    }
    for place in empty:
        below = place + 1
        while _has_rule(pieces, below):
            below += 1
        is_next = below in numbers or below in marked or below == len(pieces)
        if is_next or (place in rules and counts_questions(lines.labels[below])):
            ruled.add(place)
    return lines.replace({**with_units, **counted, **gaps}, ruled)


def _breaks_off(lines: IndexedLines, place: int) -> bool:
    """Whether a place to write on ends the question above it: `The capital of France is`."""
    # numbers right below each other offer
    is_asked = place - 1 in lines.numbered and place - 2 not in lines.numbered
    text = lines.pieces[place - 1].text.rstrip() if is_asked else ""
    return (
        bool(text)
        and asking().search(text) is None
        and not text.endswith(_ENDS)
        and not any(map(str.isalpha, lines.pieces[place].text.partition("_")[2]))
    )


_ENDS = (".", "。", "!", "！", ":", "：")


def _has_rule(pieces: Sequence[Piece], place: int) -> bool:
    return place < len(pieces) and _is_place(pieces[place].text)


def _is_place(text: str) -> bool:
    return "__" in text and (_NO_WORDS.fullmatch(text) or _PLACES.fullmatch(text)) is not None


def _find_asked(lines: IndexedLines, places: Collection[int], last: int) -> list[int]:
    """Where bare numbers run from 1 with a place below nearly each; [] where others count."""
    numbers: list[int] = []
    for place, label in enumerate(lines.labels):
        if label is None or lines.pieces[place].kind == "table":
            continue
        if is_sure(label, _COUNTS_ELSE) and place < last:
            return []
        if label.style == "bare" and label.value == 1 and len(numbers) < 2:
            numbers = [place]
        elif label.style == "bare" and numbers and label.value == len(numbers) + 1:
            numbers.append(place)
    asked = {bisect_right(numbers, place) for place in places} - {0}
    return numbers if len(numbers) >= _LEAST_ASKED and len(asked) >= _MOST_ASKED * len(numbers) else []


def _choose_mark(text: str) -> str:
    """The usual mark of an answer, in the script of a line."""
    return "答案：" if _HAN.search(text) is not None else "Answer: "


def write_repeated_keys(lines: IndexedLines) -> IndexedLines:
    """Write the keys that a paper prints once a question, in words of its own, as answers."""
    pieces = lines.pieces
    firsts = [place for place, piece in enumerate(pieces) if _FIRST.search(piece.text) is not None]
    known = sum(1 for piece in pieces if _KNOWN.match(piece.text) is not None)
    if len(firsts) < _MIN_TIMES or known > _MIN_SHARE * len(firsts):
        return lines
    seconds = [place for place, piece in enumerate(pieces) if _SECOND.search(piece.text) is not None]
    found = max(_find_forms(pieces).values(), key=len, default=[])
    return _write(lines, found) if _is_one_each(found, firsts, seconds, len(firsts) - known) else lines


# `A: …`, `A1: …`, `回答：…`: what may open the answer to every question
# without a colon no `Answer to two decimal places.`, `Answer ...... kg`, `Answer (2 marks)`
_TELLS_HOW = (
    r"\s*(?:[._…（(]|保留|精确|写|填|用|请|(?i:in|to|all|any|each|both|either|this|these|with|without|using|by|on|as|only|"
    r"briefly|one (?:of|part|question)|(?:the (?:following )?)?questions?)\b)"
)
_LED = re.compile(
    r"\s*(?P<lead>Answer|A|R|Re|Response|Reply|回答|参考|参考要点|要点|答案如下|答案|答)(?:\s?\d{1,3})?"
    rf"(?:\s*[:：]|(?<=答)\s|(?:(?<=答案)|(?<=Answer))\s(?!{_TELLS_HOW}))\s*(?=\S)"
    r"|\s*(?P<sign>→|⇒|➡|➔|➜|☞|↳|=>|->)\s*(?=[^\s_])"
)
# `A3. …` below question 3
_LED_AGAIN = re.compile(r"\s*(?P<lead>A|R|Ans|Answer)\s?(?P<number>\d{1,3})\s?[.．)）]\s*(?=\S)")
_LED_STARTS = ("A", "R", "回", "参", "要", "答", *"→⇒➡➔➜☞↳=-")
_NEXT_LETTER = re.compile(r"\s*B\s?\d{0,3}\s*[:：.)）]")
_NEXT_INLINE = re.compile(r"\sB\s?[:：.)）]\s*\S")
# `参考：课本第35页`: where to look
_PLACE = re.compile(
    r"[^。]{0,8}(?:课本|教材|讲义|第\s*\d+\s*[页章节])|[Pp]\.?\s*\d|(?i:lecture|chapter|unit|section|page)s?\s\d"
)
_OTHER_LEAD = re.compile(r"\s*[A-Z]\w{0,2}\s*[:：]")
_MOST_LED = 0.8
_LEAST_TOLD = 0.5


def write_led(lines: IndexedLines) -> IndexedLines:
    """Write `A: …` as `Answer: …` where it stands once below nearly every question."""
    pieces = lines.pieces
    numbers = [*lines.numbered]
    if len(numbers) < _MIN_TIMES:
        return lines
    found: dict[str, dict[int, tuple[int, re.Match[str]]]] = {}
    for place in lines.open_with(_LED_STARTS):
        owner = bisect_right(numbers, place) - 1
        match = _LED.match(pieces[place].text) or _LED_AGAIN.match(pieces[place].text)
        if match is not None and match.re is _LED_AGAIN:
            told = lines.numbered[numbers[owner]].value if owner >= 0 else None
            match = match if int(match["number"]) == told else None
        if match is not None and owner >= 0 and numbers[owner] < place:
            own = found.setdefault(match["lead"] or match[0].strip(), {})
            if owner in own:
                return lines
            own[owner] = (place, match)
    led = max(found.values(), key=len, default={})
    # signs may answer the questions of one section
    is_signed = any(match["lead"] is None for _, match in led.values())
    asked = max(led) - min(led) + 1 if is_signed else len(numbers)
    if len(led) < max(_MIN_TIMES, _MOST_LED * asked) or any(
        _NEXT_LETTER.match(pieces[place].text) for place in lines.open_with(("B",))
    ):
        return lines
    said = [(place, pieces[place].text[match.end() :].rstrip()) for place, match in led.values()]
    left = [
        _leaves_open(lines, place, text) or (is_signed and _begins_only(pieces[place - 1].text, text))
        for place, text in said
    ]
    if sum(left) > _LEAST_TOLD * len(said):
        return lines
    if is_signed and not _tell(lines, said):
        return lines
    return lines.replace(
        {
            place: rewrite(pieces[place], match.end(), _choose_mark(pieces[place].text))
            for place, match in led.values()
        }
    )


_STOPS = tuple(".。．!！;；」”")
_WIDE, _NO_LETTERS = re.compile(r"[ \u3000]{3}|\u3000{2}|\.\.|…"), re.compile(r"[\W\d_]+")


def _tell(lines: IndexedLines, said: Sequence[tuple[int, str]]) -> bool:
    """Whether what signs lead answers: nearly all lines say what is asked, or have a stop.

    A line may as well begin a sentence to be written, `→ You don't`, name the marks or the page, `→ see page 3`, or say what to do.
    """
    folded = {_NO_LETTERS.sub(" ", text.casefold()).strip() or text for _, text in said}
    if len(folded) < _MOST_LED * len(said) or any(begins_asking(text) for _, text in said):
        return False
    closed = [
        place
        for place, text in said
        if _WIDE.search(text) is None
        and (
            text.endswith(_STOPS)
            or not any(map(str.isalpha, text))
            or closes_asking(lines.pieces[place - 1].text)
        )
    ]
    return len(closed) >= _MOST_LED * len(said)


def _begins_only(above: str, text: str) -> bool:
    """Whether a line has no stop as the statement above it has: `→ I haven't` begins one."""
    return above.rstrip().endswith(_FULL_STOPS) and asking().search(above) is None and text[-1:].isalpha()


_FULL_STOPS = (".", "。")


def _leaves_open(lines: IndexedLines, place: int, text: str) -> bool:
    """Whether a line asks, offers `B: …`, names a place in a book, or is replied to in a gap."""
    below = lines.pieces[place + 1].text if place + 1 < len(lines.pieces) else ""
    is_next = place + 1 < len(lines.pieces) and lines.labels[place + 1] is not None
    if (
        text.endswith(("?", "？", "…", "..."))
        or has_blank(text)
        or not text.strip("_ .…")
        or _NEXT_INLINE.search(text) is not None
    ):
        return True
    return _PLACE.match(text) is not None or (
        not is_next and (has_blank(below) or _OTHER_LEAD.match(below) is not None)
    )


def _find_forms(pieces: Sequence[Piece]) -> dict[str, list[_Key]]:
    """The lines that begin with a key, by what stands before it."""
    found: dict[str, list[_Key]] = {}
    for place, piece in enumerate(pieces):
        text = piece.text
        match = _OPENING.match(text) if piece.kind != "table" else None
        if match is not None:
            before = _DIGITS.sub("#", match.group(1).casefold()).strip()
            if not _WORD.search(before) and place and _continues(pieces[place - 1].text, match.group(2)):
                continue  # `D. None of these` below option C
            if not _WORD.search(before):
                # nothing but signs before it: two words after it must repeat
                after = text[match.end() :].casefold().split()[:2]
                before = f"{before}… {' '.join(after)}" if len(after) == 2 else ""
            if before:
                found.setdefault(before, []).append(_Key(place, match.group(2), match.end()))
    return found


_OPTION = re.compile(r"\s*[（(\[]?([A-Ja-j])\s*[)）.．、:：\]]")


def _continues(above: str, letters: str) -> bool:
    """Whether a letter is the next one after that of the option above."""
    option = _OPTION.match(above)
    return option is not None and len(letters) == 1 and ord(letters) == ord(option.group(1)) + 1


def _is_one_each(found: Sequence[_Key], firsts: Sequence[int], seconds: Sequence[int], count: int) -> bool:
    """Whether the keys stand after most lists of options, one each, and are not always the same."""
    if len(found) < max(_MIN_TIMES, _MIN_SHARE * count) or len({key.letters for key in found}) < 2:
        return False
    # What options follow at once is a question with its key in brackets, however alike the questions are.
    lists = set(firsts)
    if sum(1 for key in found if key.piece + 1 in lists) > _MIN_SHARE * len(found):
        return False
    owners = [bisect_left(firsts, key.piece) for key in found]
    offered = sum(
        1
        for key, owner in zip(found, owners, strict=True)
        if owner and bisect_left(seconds, key.piece) > bisect_left(seconds, firsts[owner - 1])
    )
    return len(set(owners)) >= 0.9 * len(found) and offered >= 0.9 * len(found)


def _write(lines: IndexedLines, found: Sequence[_Key]) -> IndexedLines:
    pieces = lines.pieces
    above = [_DIGITS.sub("#", pieces[key.piece - 1].text.casefold()).strip() for key in found]
    usual = max(set(above), key=above.count)
    # `Answer to Question 3`, on a line of its own above each of them
    has_heading = above.count(usual) >= 0.7 * len(found) and _WORD.search(usual) is not None
    changed: dict[int, Piece] = {}
    for key in found:
        piece = pieces[key.piece]
        letters = re.sub(
            r"[^A-J]|(?i:and)", "", key.letters.upper() if len(key.letters) == 1 else key.letters
        )
        gap = " " if piece.text[key.end :].strip() else ""
        changed[key.piece] = rewrite(piece, key.end, f"{_choose_mark(piece.text)}{letters}{gap}")
    headings = {key.piece - 1 for key, said in zip(found, above, strict=True) if said == usual}
    return lines.replace(changed, headings if has_heading else ())


# above `答案 A B C`: the numbers of a key table
_ROW_OF_NUMBERS = re.compile(r"\D{0,8}(?:\d{1,3}[\s|]+)+\d{1,3}[\s|]*")
_ANSWER_HEADING = re.compile(
    r"\s*+(?:[【\[（(]\s*+)?(?:(?:Model|Sample|Suggested|Reference|Show|View|See|Reveal|Hide|Click\s+(?:here\s+)?(?:to\s+(?:show|see|view)|for))\s+(?:the\s+)?)?(?:查看|显示|点击查看)?(?:Answers?(?:\s*Keys?)?|Solutions?|参考答案|答案|解答|Key)\s*[】\])）]?\s*[:：]?\s*",
    re.IGNORECASE,
)
# in either case, with the two other letters that a pattern takes for k and s
_ANSWER_HEADING_STARTS = frozenset("【[（(MmSsRrVvHhCcAaKk\u212aſ查显点参答解")


def write_repeated_headings(lines: IndexedLines) -> IndexedLines:
    """Write `Answer Key`, alone below nearly every question, as the mark of an answer."""
    pieces = lines.pieces
    found = lines.find(_ANSWER_HEADING, _ANSWER_HEADING_STARTS)
    places = [place for place, match in found.items() if match.end() == len(pieces[place].text)]
    if len(places) < 3:
        return lines
    numbers = [*lines.numbered]
    following = [bisect_right(numbers, left) for left in places]
    between = sum(
        1
        for first, right in zip(following, places[1:], strict=False)
        if first < len(numbers) and numbers[first] < right
    )
    if between < 0.7 * (len(places) - 1):
        return lines
    texts = {place: pieces[place].text for place in places}
    return lines.replace(
        {
            place: rewrite(pieces[place], len(text), _choose_mark(text).strip())
            for place, text in texts.items()
        }
    )


_KEY_LIKE = re.compile(
    rf"\s*[（(]?(?:[A-Ja-j](?:[\s,，、;；/&]*(?:and\s*)?[A-Ja-j]){{0,9}}|{truth_word()}|T|F)[)）]?\s*[.。]?\s*(?:$|[,，;；(（\n]|\s{{2,}})",
    re.IGNORECASE,
)
_COPULA = re.compile(r"(?i)\b(?:is|are)\b|[为是选]")


def write_answers(lines: IndexedLines) -> IndexedLines:
    """Write what opens an answer in the usual way, but not below a row of numbers."""
    pieces = lines.pieces
    marked = lines.find(answer_mark(), may_open_answer, tables=False)
    usual = _find_usual_leads(marked.values())
    return lines.replace(
        {
            place: _write_answer(pieces[place], match, usual)
            for place, match in marked.items()
            if place == 0 or not _ROW_OF_NUMBERS.fullmatch(pieces[place - 1].text)
        }
    )


def _find_usual_leads(marks: Iterable[re.Match[str]]) -> set[str]:
    """The words that open three keys of a paper at least: they open its other answers."""
    leads: Counter[str] = Counter()
    for match in marks:
        if _names_answer(match.group(0)) and _KEY_LIKE.match(match.string[match.end() :]):
            leads[match.group(0).strip()] += 1
    return {lead for lead, count in leads.items() if count >= 3}


def _write_answer(piece: Piece, match: re.Match[str], usual: Collection[str]) -> Piece:
    """Write `Ans- B`, `the correct answer is: X`, `答案→B`, `答案 B` as `Answer: B` or `答案：B`."""
    text = piece.text
    rest = text[match.end() :]
    separator = match.group(1).strip()
    lead = match.group(0)
    word = _choose_mark(lead)
    if not rest.strip():
        is_mark = (
            _is_separator(separator)
            and _names_answer(lead)
            and re.search(r"(?i)\b(?:is|are)\b|[为是=]", lead)
        )
        return rewrite(piece, len(text), word.strip()) if is_mark else piece
    if rest[:1] in "：:" or (separator == "=" and lead.strip()[:1].islower() and lead.strip() not in usual):
        return piece  # `key = a[i];` is code
    is_key = _KEY_LIKE.match(rest) is not None
    has_copula = _COPULA.search(lead) is not None
    if (
        not is_key
        and lead.strip() not in usual
        and not ((has_copula or _is_separator(separator)) and _names_answer(lead))
    ):
        return piece
    if lead.strip() in ("答案：", "Answer:", "答："):
        return piece
    return rewrite(piece, match.end(), word)


def _is_separator(text: str) -> bool:
    return bool(text) and any(sign in text for sign in ":：-–—→=>】]")


def _names_answer(lead: str) -> bool:
    """`答：` and `解：` open a worked answer whose own words follow: they are read as they stand."""
    return answer_name().search(lead) is not None
