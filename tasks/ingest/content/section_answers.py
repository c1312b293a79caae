"""Answers that no single question shows, but most questions of a section or paper do alike.

They stand in blanks and brackets, after stems, below questions, or are a mark at one of the options: a sign, bold print, colour.
What marks some and not all, once in most questions, is the key, whatever it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import islice, pairwise

from schemas import patterns as re
from tasks.ingest.content.choices import find_lettered
from tasks.ingest.content.drafts import Draft, by_section
from tasks.ingest.content.free_answers import BLANK_NUMBER, CODE, FILLED_BRACKET, take_below
from tasks.ingest.content.judged_statements import CLOSES_EMPTY
from tasks.ingest.content.printed_marks import take_marks
from tasks.ingest.layout.options import (
    count_listed,
    offers_letters,
    offers_options,
    offers_tasks,
)
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.layout.sections import Section
from tasks.ingest.readers.extraction import is_picture
from tasks.ingest.words.answers import cut_key_lead, match_answer, split_fillings
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.grammar import asking, begins_asking, task, truth_word
from tasks.ingest.words.labels import Label, counts_questions, read_number
from tasks.ingest.words.points import BRACKETED
from tasks.ingest.words.signs import POINTS_BELOW, SHOWS_BELOW
from tasks.questions import count_blanks, has_blank

_FILLED = re.compile(r"_+([^_\n]{1,40})_+")
# `driven ____ by ____`, `由____组成，用____转动`: of most that is written on lines one sees that it touches them
_STANDS_BETWEEN = re.compile(r"^\s|\s$|[\u3040-\u30ff\u3400-\u9fff]")
_BETWEEN_BLANKS = re.compile(
    r"\s*(?:[和与及或、，,;；：:的是在为]|and\b|or\b|to\b|of\b|the\b|is\b|[.。])|.*[，。；,;]\s*$|\s*$"
)


def read_filled(drafts: Sequence[Draft], language: str | None) -> None:
    """Read `a stream of ____tokens____`, where a whole section does so."""
    for group in by_section(drafts, lambda draft: draft.question_type == "fill_in_the_blank"):
        if any(draft.answer for draft in group):
            _take_listed(group)
        open_ones = [draft for draft in group if not draft.answer and "__" in draft.stem]
        if not open_ones or (len(open_ones) < 2 and not any(draft.answer for draft in group)):
            continue
        texts = [text for draft in open_ones for text in _FILLED.findall(draft.stem)]
        if sum(1 for text in texts if _STANDS_BETWEEN.search(text)) > _MOST_BETWEEN * len(texts):
            continue
        found = {id(draft): _find_fillings(draft.stem) for draft in open_ones}
        filled = [draft for draft in open_ones if found[id(draft)]]
        if len(filled) < max(1, _LEAST_FILLED * len(open_ones)):
            continue
        for draft in filled:
            draft.answer = [text.strip() for text in found[id(draft)]]
            draft.stem = clean_text(_FILLED.sub("____", draft.stem), language)
            draft.notes.append("answer_without_mark")


_LISTED = re.compile(r"(?<=[_.。）)])[.。]?\s*((?:[^\s_、;；]{1,24}[、;；]\s*)+[^\s_、;；]{1,24})\s*$")


def _take_listed(drafts: Sequence[Draft]) -> None:
    """Read answers listed after the last of several blanks: `… ____ and ____. salt、grain`."""
    for draft in drafts:
        listed = _LISTED.search(draft.stem) if not draft.answer else None
        items = re.split(r"[、;；]\s*", listed.group(1)) if listed is not None else []
        if listed is not None and len(items) == count_blanks(draft.stem[: listed.start()]) > 1:
            draft.answer, draft.stem = items, draft.stem[: listed.start()].rstrip()
            draft.notes.append("answer_without_mark")


_MOST_BETWEEN = 0.5
_LEAST_FILLED = 0.75  # some may be left unanswered


def _find_fillings(stem: str) -> list[str]:
    """What stands on the lines of a stem; [] where a line is empty or texts only join lines."""
    texts = _FILLED.findall(stem)
    is_filled = len(re.findall(r"_+", stem)) == 2 * len(texts)
    joins = any(_BETWEEN_BLANKS.match(text) or BLANK_NUMBER.fullmatch(text) for text in texts)
    return texts if is_filled and not joins else []


# `略`, `见教材第三章`, `Answers will vary.`: the paper prints no answer
_OMITTED = re.compile(
    r"[（(]?\s*(?:(?:参考)?(?:答案|解答)\s*)?(?:从?略|(?:请?参(?:见|看|阅|考)|请?见|请看)(?:教材|课本|书|讲义|课件|笔记)[^。；;，,]{0,16}|不唯一)\s*[)）]?[。.]?|"
    r"[（(]?(?i:(?:answers?|solutions?)\s*(?:(?:is|are) )?(?:omitted|not provided|not given)|(?:refer to|see) (?:the |your )?(?:text\s?book|text|book|lectures?|(?:lecture|class|course) notes|notes|slides)\b[^.;,\n]{0,24}|(?:student )?(?:answers?|responses?) (?:will |may )?vary|answers? varies|student['’]?s['’]? own answers?|open(?:-ended)? answers?|see (?:the )?marking (?:notes|scheme|guide))[)]?\s*\.?"
)


_FREE = ("short_answer", "essay", "calculation", "term_explanation")
_GRADES = re.compile(
    r"得分|给分|评分|酌情|考查|考点|\d\s*分(?![)）钟之])|(?i:\b(?:\d+|one|two|three)\s*(?:points?|marks?|pts?)\b|\bawards?\b|\bcredit\b)"
)


_SAYS = re.compile(r"[^\W_]")


def take_explanations(drafts: Sequence[Draft]) -> None:
    """Let `解析：…` answer the free questions of a section that has no other answer."""
    for group in by_section(drafts, lambda draft: draft.question_type in _FREE and not draft.options):
        if len(group) > 1 and all(
            one.explanation
            and _SAYS.search(one.explanation)
            and not one.answer
            and _GRADES.search(one.explanation) is None
            for one in group
        ):
            for one in group:
                one.answer, one.explanation = [one.explanation or ""], None


def drop_omitted(drafts: Sequence[Draft]) -> None:
    """Take what only says that no answer is printed, or where it stands, from free questions."""
    for draft in drafts:
        if not draft.options and len(draft.answer) == 1 and _OMITTED.fullmatch(draft.answer[0].strip()):
            draft.answer = []


_LEAST_REPEATED = 5


def drop_form_lines(drafts: Sequence[Draft]) -> None:
    """Drop the lines of a form around stems: `Text:` above, `Options:` below, again and again."""
    stems = [draft.stem.split("\n") for draft in drafts]
    for place in (0, -1):
        counts = Counter(lines[place].strip() for lines in stems if len(lines) > 1)
        for line, count in counts.most_common(2):
            is_name = 0 < len(line) <= 24 and line[-1] in ":：" and not has_blank(line)
            if not is_name or count < max(_LEAST_REPEATED, 0.3 * len(drafts)):
                continue
            for draft, lines in zip(drafts, stems, strict=True):
                if len(lines) > 1 and lines[place].strip() == line:
                    del lines[place]
                    draft.stem = "\n".join(lines).strip()
    _drop_fields(drafts)


# `- Type: single`, `难度：易`: what a bank keeps of each question, one of few values
_FIELD = re.compile(r"\s*[-*•+]?\s*(?P<name>[^\W\d_][^\W_]{0,11})\s*[:：]\s*(?P<value>\w[\w ]{0,15})\s*")
_MOST_VALUES, _LEAST_FIELDS = 4, 0.7


def _drop_fields(drafts: Sequence[Draft]) -> None:
    """Drop lines that name one thing of nearly every question, with few values of it."""
    values: dict[str, Counter[str]] = {}
    for draft in drafts:
        for match in filter(None, map(_FIELD.fullmatch, draft.stem.split("\n")[1:])):
            if begins_asking(match["name"]):
                continue  # `Find: the area`
            values.setdefault(match["name"], Counter())[match["value"].strip()] += 1
    names = {
        name
        for name, own in values.items()
        if own.total() >= max(_LEAST_REPEATED, _LEAST_FIELDS * len(drafts)) and 1 < len(own) <= _MOST_VALUES
    }
    for draft in drafts if names else ():
        first, *lines = draft.stem.split("\n")
        kept = [line for line in lines if (one := _FIELD.fullmatch(line)) is None or one["name"] not in names]
        draft.stem = "\n".join([first, *kept]).strip()


_BRACKETED = re.compile(
    r"(?<=[？?。.!！:：…])\s*(?P<tail>[（(](?P<said>[^（()）\n]{1,60})[)）])\s*[。.]?\s*$"
)
_LEAST_BRACKETED = 0.8


# `……？（答：潮汐。）`
_SAID_IN_BRACKET = re.compile(
    r"[（(【\[]\s*(?:(?:参考|正确)?答案?|(?i:answers?|ans)|[Оо]твет)\s*[:：]\s*(?P<said>[^（()）\n]{1,200})[)）】\]]\s*[。.]?\s*$"
)
_LEAST_SAID = 2


def read_bracketed_ends(drafts: Sequence[Draft]) -> None:
    """Read answers in brackets behind nearly all free questions, or with the mark of one."""
    marked = [
        (draft, bracket)
        for draft in drafts
        if not (draft.options or draft.answer)
        and (bracket := _SAID_IN_BRACKET.search(draft.stem)) is not None
        and bracket.start()
        and any(map(str.isalnum, bracket["said"]))
    ]
    for draft, bracket in marked if len(marked) >= _LEAST_SAID else ():
        draft.answer = [bracket["said"].strip()]
        draft.stem = draft.stem[: bracket.start()].rstrip()
    group = [draft for draft in drafts if not draft.options and not draft.answer]
    found = [(draft, tail) for draft in group if (tail := _BRACKETED.search(draft.stem[-70:])) is not None]
    said = {tail["said"].strip() for _, tail in found if not any(map(str.isdigit, tail["said"]))}
    asked = sum(1 for draft, tail in found if draft.stem[: -len(tail[0])].rstrip()[-1:] in "？?")
    if len(said) < max(_LEAST_BELOW, _LEAST_BRACKETED * len(group)) or asked < 0.5 * len(found):
        return
    for draft, tail in found:
        draft.answer = [tail["said"].strip()]
        draft.stem = draft.stem[: -len(tail[0])].rstrip()
        draft.notes.append("answer_without_mark")


# `… is usually (c)`, `…？（b）.`; of `f(c)` the letter is an argument
_SMALL_KEY = re.compile(r"(?:(?<=[^\W\d_]{2})|(?<![A-Za-z0-9_]))[（(]\s*(?P<key>[a-j])\s*[)）]")
_CLOSES = re.compile(r"\s*[.。:：]?\s*$")
_LEAST_SMALL, _LEAST_KEYED = 0.7, 3


def read_small_keys(drafts: Sequence[Draft]) -> None:
    """Read small letters in brackets as keys.

    Most stems with options hold one, three of them or more at their end.
    """
    group = [draft for draft in drafts if not draft.answer and (draft.options or "\n" in draft.stem)]
    found: list[tuple[Draft, re.Match[str]]] = []
    closing = 0
    for draft in group:
        # options that nobody has taken for such yet stand below the first line
        asked = draft.stem if draft.options else draft.stem.partition("\n")[0]
        marks = [*_SMALL_KEY.finditer(asked)]
        closes = bool(marks) and _CLOSES.match(asked, marks[-1].end()) is not None
        if not (closes or len(marks) == 1):
            continue
        key = marks[-1]["key"]
        if key.upper() in (label for label, _ in draft.options) or find_lettered(draft, key) is not None:
            found.append((draft, marks[-1]))
            closing += closes
    keys = [key["key"] for _, key in found]
    # `in figure (a)`, `in figure (b)`: what counts on answers nothing
    is_counted = all(ord(other) == ord(one) + 1 for one, other in pairwise(keys))
    least = max(_LEAST_KEYED, _LEAST_SMALL * len(group))
    if len(found) < least or closing < _LEAST_KEYED or len({*keys}) == 1 or is_counted:
        return
    for draft, key in found:
        draft.answer = [key["key"].upper()]
        draft.stem = f"{draft.stem[: key.start('key')]}{draft.stem[key.end('key') :]}"


_ASKS = re.compile(
    r"(?:请?(?:简述|简要|试述|论述|说明|解释|阐述|列举|列出|叙述|比较|写出)|什么是|(?:briefly\s+)?(?:explain|describe|define|list|state|discuss)\b)",
    re.IGNORECASE,
)
# what may be shown below, and may as well be asked about (`What is a hash table?`)
_POINTS_ON = re.compile(rf"{SHOWS_BELOW}|\b(?:figure|table|output|code|program)\b", re.IGNORECASE)
_LEAST_BELOW, _LEAST_SHAPED, _MOST_SHAPED = 4, 0.6, 0.75
# below the marks of a part, `[7M]`, the next part stands
_MARKED = re.compile(rf"(?=[（(]){BRACKETED}\s*$")
_ANSWERED_BELOW = ("short_answer", "term_explanation", "calculation", "essay", "fill_in_the_blank")


# `至少写三点。` below a question tells how to answer it
_TELLS_BELOW = re.compile(
    r"\s*(?:请|至少|最少|不少于|举[一二两三例出]|结合|要求|字数|从[^，。]{1,8}(?:方面|角度))"
)
# options that nobody took for such: `A by wind  B. by water  C. by fire`
_OFFERS_BELOW = re.compile(
    r"\A(?>.*?\n\s*+[（(]?A[)）.．、:： ])(?>.*?\s[（(]?B[)）.．、:：]).*?\s[（(]?C[)）.．、:：]", re.DOTALL
)


def read_answers_below(drafts: Sequence[Draft]) -> None:
    """Read answers printed without a mark below their questions.

    Most questions of a section of free-response questions must have one. The first line asks, and nothing below it
    does. One question tells nothing: data and code stand below questions, too.
    """
    groups = by_section(
        drafts,
        lambda draft: (
            not draft.options
            and draft.question_type in _ANSWERED_BELOW
            and _OFFERS_BELOW.search(draft.stem) is None
        ),
    )
    for group in groups:
        group = [draft for draft in group if not draft.answer]
        defined = [
            draft for draft in group if draft.question_type == "term_explanation" and _is_defined(draft.stem)
        ]
        if len(defined) >= max(_LEAST_DEFINED, _LEAST_SHAPED * len(group)):
            _take_below(defined)
            for draft in defined:
                draft.answer = [_DASH.sub("", text) for text in draft.answer]
            continue
        told = sum(1 for draft in group if _TELLS_BELOW.match(_part_below(draft.stem)[1]) is not None)
        if len(group) < _LEAST_BELOW or told >= 0.5 * len(group):
            continue
        shaped = [draft for draft in group if _is_answered_below(draft.stem)]
        followed = sum(1 for draft in group if "\n" in draft.stem)  # some may be left unanswered
        if len(shaped) >= max(_LEAST_BELOW, _LEAST_SHAPED * followed):
            alike = len(shaped) >= _MOST_SHAPED * followed
            _take_below(
                [one for one in group if _is_answered_below(one.stem) or (alike and _asks_once(one.stem))]
            )
        elif all(map(_is_titled, group)) and any(asking().search(_part_below(one.stem)[0]) for one in group):
            _take_below(group)
    for group in groups:
        others = [draft for draft in drafts if draft.section != group[0].section]
        is_usual = sum(1 for draft in others if draft.answer) > 0.5 * len(others)
        is_open = len(group) >= _LEAST_BELOW and not any(draft.answer for draft in group)
        if is_usual and is_open and all(draft.stem.count("\n") == 1 for draft in group):
            _take_below(group)  # one line that asks, one that answers, in a paper that prints its answers


_LEAST_DEFINED, _LONGEST_TERM, _SHORTEST_DEFINITION = 2, 24, 8
_HAN = re.compile("[\u3400-\u9fff]")
_DASH = re.compile(r"^\s*[—–-]+\s*")


def _is_defined(stem: str) -> bool:
    """Whether a term stands on a line above what explains it."""
    term, _, below = stem.partition("\n")
    said = _DASH.sub("", below)
    return (
        0 < len(term) <= min(_LONGEST_TERM, len(said))
        and term[-1] not in "。.?？:：;；"
        and said[0] not in '（(“"「『‘'
        and len(said) >= _SHORTEST_DEFINITION
        and bool(_HAN.search(said)) == bool(_HAN.search(term))
        and not has_blank(said)
        and not begins_asking(said)
        and _TELLS_BELOW.match(said) is None
    )


# A title is so short, and what answers it below is longer.
_LONGEST_TITLE = 60


def _is_titled(draft: Draft) -> bool:
    """Whether one short line stands above text that sets no task, as in a list of topics."""
    first, _, below = draft.stem.partition("\n")
    return (
        draft.marks is None
        and draft.fine is None
        and not draft.material
        and len(first) <= min(_LONGEST_TITLE, len(below))
        and _POINTS_ON.search(first) is None
        and not has_blank(first)
        # What begins small goes on with the line above.
        and not below[:1].islower()
        and not any(begins_asking(line.lstrip("（(0123456789)）.、 *-")) for line in below.split("\n"))
        and "？" not in below
        and "?" not in below
    )


def _part_below(stem: str) -> tuple[str, str]:
    """The lines up to the first that closes with marks, else the first, and those below."""
    lines = stem.split("\n")
    closes = next((place for place, line in enumerate(lines[:-1]) if _MARKED.search(line)), 0)
    return "\n".join(lines[: closes + 1]), "\n".join(lines[closes + 1 :])


def _take_below(drafts: Sequence[Draft]) -> None:
    """Take what stands below as answers; of pictures alone decides who looks at them."""
    if all(is_picture(_part_below(draft.stem)[1].strip()) for draft in drafts):
        return
    for draft in drafts:
        draft.stem, answer = _part_below(draft.stem)
        take_marks(draft)
        take_below(draft, answer.strip())


def _asks_once(stem: str) -> bool:
    """Whether the first of two lines asks, and the other neither does nor is what it asks about."""
    first, below = _part_below(stem)
    return (
        bool(below.strip())
        and "\n" not in below
        and (POINTS_BELOW.search(first) is None or CLOSES_EMPTY.search(first) is not None)
        and CODE.search(below) is None
        and asking().search(first) is not None
        and not begins_asking(below.lstrip())
        and "？" not in below
        and "?" not in below
    )


def _is_answered_below(stem: str) -> bool:
    first, below = _part_below(stem)
    asks = _MARKED.sub("", first).rstrip().endswith(("？", "?")) or _ASKS.match(first) is not None
    asks = asks or (has_blank(first) and len(below) < 60)
    asks = asks or (_MARKED.search(first) is not None and CODE.search(below) is None)
    return (
        asks
        and bool(below.strip())
        and _POINTS_ON.search(first) is None
        and "？" not in below
        and "?" not in below
        and not any(_ASKS.match(line.lstrip("（(0123456789)）.、 ")) for line in below.split("\n"))
    )


_LEAST_AGAIN = 0.8
_AGAIN = re.compile(r"\s*[（(]?(\d{1,3})\s*[)）.．、:：]\s*(?=\S)")


def cut_numbers_again(drafts: Sequence[Draft]) -> None:
    """Drop numbers that are printed a second time before the stem: `QUESTION 3:`, `3) …`."""
    for draft, mark in _find_again(drafts, _AGAIN.match, _LEAST_AGAIN):
        draft.stem = draft.stem[mark.end() :]


def _find_again(
    drafts: Sequence[Draft], read: Callable[[str], re.Match[str] | None], share: float
) -> list[tuple[Draft, re.Match[str]]]:
    """The questions whose stems hold their own number, and where; none where few do."""
    marks = [(draft, mark) for draft in drafts if (mark := read(draft.stem)) is not None]
    again = [(draft, mark) for draft, mark in marks if int(mark[1]) == draft.value]
    return again if len(again) >= max(_LEAST_BELOW, share * len(drafts)) else []


# `… equals demand.    1) _____`: the number and the place for its answer in the margin
_MARGIN = re.compile(r"\s+(\d{1,3})\s*[.)）．、]\s*_*\s*$")


def cut_margins(drafts: Sequence[Draft]) -> None:
    """Drop numbers that are printed once more behind most stems, with a place for the answer."""
    for draft, mark in _find_again(drafts, _MARGIN.search, _LEAST_SHAPED):
        draft.stem = draft.stem[: mark.start()]


# one pattern for all numbers: a pattern of its own for each would be compiled for every question
_OWN_NUMBER = re.compile(r"(\d+)\s*[.．、]\s*(?=\D)")
_NUMBER = re.compile(r"(\d+)\s*[.．、]")


def cut_own_number(draft: Draft) -> None:
    """Drop the question's own number before its answer: `答案：1.就绪，执行` below question 1."""
    if not draft.answer or draft.value is None or draft.question_type != "fill_in_the_blank":
        return
    own = _OWN_NUMBER.match(draft.answer[0])
    if own is None or own.group(1) != str(draft.value):
        return
    others = (_NUMBER.match(text) for text in draft.answer[1:])
    if not any(other is not None and other.group(1) == str(draft.value + 1) for other in others):
        draft.answer[0] = draft.answer[0][own.end() :]


_ANSWER_PLACE = re.compile(r"[（(]\s*[A-J√×✓✗TF对错\s、,，]{0,12}[)）]")
_OFFERED = re.compile(r"\A(?>[\s\S]*?[（(]\s*A\s*[)）])[\s\S]*[（(]\s*B\s*[)）]")
_JUDGED = re.compile(rf"[（(]\s*(?:{truth_word()}|T|F)\s*[)）]\s*[^A-J(（]")
_KEYED = re.compile(rf"[（(]\s*(?:[A-J]{{1,6}}|{truth_word()}|T|F)\s*[)）]\s*[^A-J(（]")


def _is_lone_key(text: str) -> bool:
    """Whether a line is one to six letters from A to J and nothing else, white space aside."""
    may_be = text[-1:] in "ABCDEFGHIJ" or text[-1:].isspace()
    return may_be and 0 < len(key := text.strip()) <= 6 and not key.strip("ABCDEFGHIJ")


def prints_answers(chunks: Sequence[list[Piece]]) -> bool:
    """Whether this paper prints answers with its questions.

    They are keys in brackets, bare letters, √ and ×.
    """
    answered = asked = 0
    for lines in chunks:
        text = "\n".join(line.text for line in lines)
        is_keyed = False
        if "(" in text or "（" in text:
            asked += _ANSWER_PLACE.search(text) is not None
            keyed = _JUDGED if "B" in text and _OFFERED.search(text) else _KEYED
            is_keyed = keyed.search(text + " \n") is not None
        answered += is_keyed or any(map(_is_lone_key, [line.text for line in lines[1:]]))
    return answered >= 3 and answered >= 0.5 * max(asked, 1) and answered >= 0.2 * len(chunks)


_OF_CANDIDATE = re.compile(
    r"(?i)\b(?:you|your|answers?|papers?|questions?|pens?|pencils?|calculators?|marks?|minutes|exam|test|candidates?|page|working|ink|legibly|neatly|blank|sheets?|booklet|spaces?|all steps|where (?:necessary|needed|required|appropriate|possible)|clearly|any assumptions|decimal places?|significant figures)\b|[考答]生|[答考试]题|试卷|姓名|铅笔|分钟"
)
_LEAST_ABOVE = 2


# `Learning objectives`: what stands below it says what is tested
_OBJECTIVES = re.compile(r"(?i)\b(?:objectives?|outcomes?|topics?|goals?|syllabus)\b|目标|考点|考试范围")


def asks_above_types(pieces: Sequence[Piece]) -> bool:
    """Whether numbered lines set tasks, and none tells a candidate how to work."""
    said = [piece.text[piece.label.end :].strip() for piece in pieces if counts_questions(piece.label)]
    is_titled = any(piece.label is None and _OBJECTIVES.search(piece.text) for piece in pieces)
    return (
        len(said) >= _LEAST_ABOVE
        and not is_titled
        and all(task().match(text) and _OF_CANDIDATE.search(text) is None for text in said)
    )


# `the verbs in brackets`, `用所给词的适当形式填空`: what brackets hold is given, and fills nothing
_GIVES_WORDS = re.compile(
    r"(?i)\b(?:words?|verbs?|adjectives?|nouns?)\b.*\b(?:brackets|parentheses)\b|\b(?:correct|right|proper) (?:form|tense)|(?:适当|正确|恰当)的?形式|所给"
)


def find_filled(
    chunks: Sequence[tuple[int, Section, Label | None, list[Piece], str | None]], is_keyed: bool
) -> set[int]:
    """The fill-in sections in which no blank is empty and most are like `（一年）`.

    Where the paper answers them elsewhere (`is_keyed`), brackets of Latin text hold what is given.
    """
    found: dict[int, list[str]] = {}
    for number, section, _, lines, _ in chunks:
        if _GIVES_WORDS.search(section.heading):
            continue
        if section.fine is not None and section.fine.question_type == "fill_in_the_blank":
            found.setdefault(number, []).append(join_pieces(lines))
    return {
        number
        for number, texts in found.items()
        if not any(has_blank(text) for text in texts)
        and sum(
            1
            for text in texts
            if _FILLED_FULL.search(text)
            or (not is_keyed and text.rstrip().endswith(_ENDS) and FILLED_BRACKET.search(text))
        )
        >= max(2, 0.6 * len(texts))
        and not _are_counted(texts)
    }


_FILLED_FULL = re.compile(r"（[^（()）]{1,40}）|_[^_\s]{1,30}_")
# `The speed of light (in vacuum) is` has lost its gap
_ENDS = tuple(".。!！;；)]）】")


def _are_counted(texts: Sequence[str]) -> bool:
    """Whether brackets number the gaps of each text, or of all: `氧是（1），氢是（2）。`."""
    held = [[read_number(one[2].strip()) for one in FILLED_BRACKET.finditer(text)] for text in texts]
    total = [number for numbers in held for number in numbers]
    if len(total) <= len(texts):
        return False
    return total == [*range(1, len(total) + 1)] or all(
        numbers == [*range(1, len(numbers) + 1)] for numbers in held
    )


# In so many questions letters must run on, for those of the others to be options too.
_LEAST_OFFERING, _MOST_OFFERING = 3, 0.7


def find_offering(
    chunks: Sequence[tuple[int, Section, Label | None, list[Piece], str | None]],
) -> Collection[int]:
    """The places of the questions that offer options as most in their sections do: `A in  B on`.

    Only untyped sections are looked at. Where the options of one have capitals, `(a)` numbers parts; where most questions
    offer any, letters of any kind do, and where nearly all do, those that set no tasks.
    """
    places: dict[int, list[int]] = defaultdict(list)
    for place, (number, section, *_) in enumerate(chunks):
        if section.fine is None:
            places[number].append(place)
    found: set[int] = set()
    for own in places.values():
        if len(own) < _LEAST_OFFERING:
            continue
        lines = {place: chunks[place][3] for place in own}
        lettered = sum(offers_letters(one) for one in lines.values())
        if lettered >= max(_LEAST_OFFERING, _MOST_OFFERING * len(own)):
            found.update(place for place in own if not any(_PART_A.match(line.text) for line in lines[place]))
        told = sum(offers_options(one, False) for one in lines.values())
        if told >= max(_LEAST_OFFERING, _MOST_OFFERING * len(own)):
            found.update(
                place
                for place in own
                if offers_letters(lines[place], any_case=True)
                and not any(_PART_A.match(line.text) for line in lines[place])
            )
        chosen = [
            place
            for place in own
            if (
                any(_CHOSEN_SMALL.search(line.text) for line in lines[place][2:])
                or _answers_by_option(lines[place])
            )
            and offers_letters(lines[place], any_case=True)
        ]
        if len(chosen) >= max(_LEAST_OFFERING, _MOST_OFFERING * len(own)):
            found.update(chosen)
        offering = sum(offers_options(one, False) for one in lines.values())
        if offering >= max(_LEAST_USUAL, _MOST_USUAL * len(own)) or _are_listed_alike([*lines.values()]):
            found.update(place for place in own if not offers_tasks(lines[place]))
    return found


def _are_listed_alike(questions: Sequence[Sequence[Piece]]) -> bool:
    """Whether nearly all questions have as many short lettered lines, and enough of them ask.

    Parts of questions differ in number, and stand below what sets a task.
    """
    told = [count_listed(one) for one in questions]
    counts = Counter(count for count, _ in told if count)
    usual = max(counts.values(), default=0)
    asking = sum(asks for count, asks in told if count)
    return usual >= max(_LEAST_USUAL, _MOST_USUAL * len(told)) and asking >= _LEAST_ASKING * len(told)


_LEAST_ASKING = 0.3


# `Heating drives off the water. Therefore the answer is (b).`
_CHOSEN_SMALL = re.compile(r"(?i)\b(?:answer|option|choice) is\s*[(（]?[a-h][)）]?\s*\.?\s*$")
_SMALL = re.compile(r"\s*[（(]?([a-h])\s*[)）.．]\s*(\S.*?)\s*")
_QUOTED = "\"“”‘’'.。 "


def _answers_by_option(lines: Sequence[Piece]) -> bool:
    """Whether what answers lettered lines is the text of one, `Option B`, or a capital."""
    offered = [mark for line in lines if (mark := _SMALL.fullmatch(line.text)) is not None]
    marked = (match_answer(line.text) for line in lines[1:])
    said = [
        line.text[mark.end() if mark is not None else 0 :].strip(_QUOTED)
        for line, mark in zip(lines[1:], marked, strict=True)
        if mark is not None or line is lines[-1]
    ]
    if len(offered) < _LEAST_OFFERING or not said:
        return False
    labels = "".join(one[1].upper() for one in offered)
    texts = {one[2].strip(_QUOTED).casefold() for one in offered}
    key = cut_key_lead(said[0]).rstrip("。")
    return said[0].casefold() in texts or (key in labels and key.isupper())


_PART_A = re.compile(r"\s*[（(]a\s*[)）]")
# So many questions must offer options, and so many of all, before another's letters are options too.
_LEAST_USUAL, _MOST_USUAL = 4, 0.8
_LEAST_GLUED = 2


def part_glued(drafts: Sequence[Draft]) -> None:
    """Share out an answer that holds those of all questions below it in its section: `热 2.冷3.快`.

    OCR and copied text lose the gaps between them.
    """
    for place, draft in enumerate(drafts):
        if not draft.answer or draft.question_type != "fill_in_the_blank":
            continue
        below: list[Draft] = []
        for one in islice(drafts, place + 1, None):
            if one.answer or one.section != draft.section:
                break
            below.append(one)
        last = place + 1 + len(below)
        is_whole = last == len(drafts) or drafts[last].section != draft.section
        if len(below) < _LEAST_GLUED or not is_whole:
            continue
        said = draft.answer[-1]
        begins = [0]
        for one in below:
            begins.append(said.find(f"{one.value}.", begins[-1] + 1))
            if begins[-1] < 0:
                break
        spans = [*zip(begins[1:], [*begins[2:], len(said)], below, strict=False)]
        texts = [said[first + len(f"{one.value}.") : end].strip() for first, end, one in spans]
        if begins[-1] < 0 or len(texts) < len(below) or not all(texts):
            continue
        draft.answer[-1] = said[: begins[1]].strip()
        for one, text in zip(below, texts, strict=True):
            one.answer = split_fillings(text, count_blanks(one.stem))
            one.notes.append("answer_without_mark")
