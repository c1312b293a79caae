"""Options that a paper numbers, `① ②`, `(1) (2)`, `1) 2)`, and the keys that name them.

They stand in lines or below one another, and are written with letters, as the rules read them. A list of numbers below a question may as well count its parts,
so the whole paper decides: what is offered is short, asks nothing, mostly comes in one number, and is chosen from by a
key, below the name of such a type, by a sign at one of them, or below stems that ask.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from schemas import patterns as re
from tasks.ingest.layout.headings import STRONG_STYLES, read_heading
from tasks.ingest.layout.option_marks import DEMANDS, HAS_LETTERS, asks_something
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite
from tasks.ingest.words.answers import match_answer
from tasks.ingest.words.grammar import number_word
from tasks.ingest.words.labels import KNOWN_NUMBERS, counts_questions, is_sure
from tasks.ingest.words.lexicon import match_exactly
from tasks.ingest.words.signs import closes_asking

_CIRCLES: Final = "①②③④⑤⑥⑦⑧"
_LETTERS: Final = "ABCDEFGH"
_SIGNED: Final = " *√✓✔☑►→"
# behind a sign at what is right, `√(1)`, and behind white space; in a line what is set apart by it
_SIGN: Final = r"(?:(?<=[\s？?:：。_*√✓✔☑►→])|^)"
_APART: Final = r"(?:(?<=\s\s)|(?<=[\t*√✓✔☑►→])|^)"


class _Form(NamedTuple):
    """How options are numbered: the mark, and the style of label that it is at a line's start."""

    mark: re.Pattern[str]
    style: str
    sign: str


_FORMS: Final = (
    _Form(re.compile(rf"\s*(?P<number>[{_CIRCLES}])\s*[.．、]?\s*"), "circ", "①"),
    _Form(re.compile(rf"{_SIGN}\s*[（(](?P<number>[1-8])[)）]\s*(?=\S)"), "nump", "1"),
    _Form(re.compile(rf"{_APART}\s*(?P<number>[1-8])[)）]\s*(?=\S)"), "paren", "1"),
    _Form(re.compile(rf"{_APART}\s*(?P<number>[1-8])\s*[.．、](?!\d)\s*(?=\S)"), "num", "1"),
)
_LEAST_RUNS, _ALIKE_SHARE, _EVEN_SHARE, _KEYED_SHARE, _TOLD_SHARE = 3, 0.4, 0.5, 0.6, 0.7
_MOST_APART, _MOST_ABOVE, _LONGEST, _MOST_ASKING, _MOST_LETTERED = 16, 60, 80, 0.1, 0.2
# of options that nothing but their stems tells from parts
_LEAST_OFFERED: Final = 4


@dataclass
class _Run:
    """The numbers 1 2 3 … below a question: their lines and marks, its line, what it asks."""

    marks: list[tuple[int, re.Match[str]]]
    owner: int
    stem: str = ""

    @property
    def first(self) -> int:
        return self.marks[0][0]

    @property
    def last(self) -> int:
        return self.marks[-1][0]


class _Span(NamedTuple):
    """Where a key stands that names options by their numbers, and the letters for it."""

    place: int
    begin: int
    end: int
    letters: str


def _name_letters(held: str) -> str:
    """The letters of the options that numbers name: `1,3`, `①③`."""
    return "".join(_LETTERS[_count(sign) - 1] for sign in held if sign in _CIRCLES or sign.isdecimal())


def write_numbered_options(lines: IndexedLines) -> IndexedLines:
    """Write numbered options as `A. `, and the keys that name them by their numbers."""
    of_keys: frozenset[int] | None = None
    for form in _FORMS:
        if lines.text.count(form.sign) < _LEAST_RUNS:
            continue
        if of_keys is None:
            of_keys = frozenset(place for place, piece in enumerate(lines.pieces) if _holds_keys(piece.text))
        lines = _write(lines, form, of_keys)
    return lines


def _write(lines: IndexedLines, form: _Form, of_keys: Collection[int]) -> IndexedLines:
    pieces = lines.pieces
    changed: dict[int, Piece] = {}
    spans: list[_Span] = []
    runs = _find_runs(lines, form, of_keys)
    types = _list_types(lines) if runs else []
    blocks = _part(runs, lines, types)
    below = _list_keys(lines, blocks[0][-1].last + 1) if blocks else []
    alike = _list_alike(lines, form, blocks[0][0].owner) if blocks else []
    answers: set[int] = set()
    is_usual = bool(blocks) and _offer_throughout([run for block in blocks for run in block], lines, form)
    for block in blocks:
        # keys of sections that count from 1 again come in the order of the sections
        first = max(block[-1].last, *(span.place for span in spans), 0) + 1
        keys = _find_keys(block, lines, below[bisect_left(below, first, key=lambda one: one[0]) :])
        keys = keys or _find_told(block, lines)
        is_choice = _find_type(types, block[0].owner)
        is_many = sum(map(len, blocks)) >= _LEAST_RUNS or (len(block) > 1 and is_choice)
        own = [] if keys or is_choice else _find_alike(block, lines, alike)
        answers.update(own)
        if own or answers.issuperset(run.owner for run in block):
            continue
        if not is_many or not _are_options(
            block, lines, form, is_choice=is_choice, is_sure=is_usual or bool(keys)
        ):
            continue
        spans += keys
        marks = [(place, one) for run in block for place, one in run.marks]
        for place, one in reversed(marks):
            piece = changed.get(place, pieces[place])
            lead = "  " if piece.text[: one.start()].strip(_SIGNED) else ""
            mark = f"{lead}{_LETTERS[_count(one['number']) - 1]}. "
            changed[place] = rewrite(piece, one.end(), mark, one.start())
    for place, begin, end, letters in sorted(set(spans), reverse=True):
        changed[place] = rewrite(changed.get(place, pieces[place]), end, letters, begin)
    return lines.replace(changed)


def _count(number: str) -> int:
    return _CIRCLES.find(number) + 1 or int(number)


def _find_runs(lines: IndexedLines, form: _Form, of_keys: Collection[int]) -> list[_Run]:
    """The lists 1 2 3 … of a form, each below a numbered line of another form or of the same."""
    pieces, labels = lines.pieces, lines.labels
    found: list[tuple[int, re.Match[str]]] = []
    for place, piece in enumerate(pieces):
        if piece.kind == "table" or place in of_keys:
            continue
        label = labels[place]
        begin = label.end if counts_questions(label) and label.style != form.style else 0
        found += [(place, one) for one in form.mark.finditer(piece.text, begin)]
    groups: list[list[tuple[int, re.Match[str]]]] = []
    group: list[tuple[int, re.Match[str]]] = []
    asked = 0  # the last question whose number has the form of the options
    for at, (place, one) in enumerate(found):
        value = _count(one["number"])
        opens = (
            one.start() == 0
            and at + 1 < len(found)
            and _count(found[at + 1][1]["number"]) == 1
            and _find_owner(lines, form, found[at + 1][0], found[at + 1][1], place) in (None, place)
        )
        if value == 1:
            groups.append(group)
            group = [(place, one)]
            asked = value if opens else asked
        elif not group or value != len(group) + 1 or place - group[-1][0] > _MOST_APART:
            asked = value if opens else asked
        elif (
            opens
            and value == asked + 1
            and _find_owner(lines, form, *group[0], group[0][0] - _MOST_ABOVE) is None
        ):
            asked = value  # the question after the list, with the number that its next line would have
        elif _find_owner(lines, form, place, one, group[-1][0]) is None:
            group.append((place, one))
    groups.append(group)
    runs: list[_Run] = []
    for above, group in pairwise([[], *groups]):
        if len(group) < 2 or all(_BESIDE.match(pieces[at].text[: mark.start()]) for at, mark in group):
            continue
        place, one = group[0]
        begin = max(above[-1][0] if len(above) > 1 else -1, place - _MOST_ABOVE)
        owner = _find_owner(lines, form, place, one, begin, same=True)
        between = pieces[owner + 1 : place + 1] if owner is not None else []
        if owner is None or any(
            match_answer(one.text) and not _OFFERS.fullmatch(one.text) for one in between
        ):
            continue
        stem = _join_stem(lines, owner, place, one)
        tag = _TAG.match(stem)
        fine = match_exactly(tag["name"].strip()) if tag is not None else None
        is_other = fine is not None and fine.question_type != "multiple_choice"
        if not is_other and not _holds_letters(lines, group[-1][0]):
            runs.append(_Run(group, owner, stem))
    return runs


# `a) a mill    1) turns`: what is numbered stands beside what is lettered, to be matched
_BESIDE = re.compile(r"\s*[（(]?[^\W\d_]\s*[)）.．]\s*\S")
# `Answers` above what is offered
_OFFERS = re.compile(r"(?i)\s*answers\s*:?\s*")
# `(填空题)` before what is asked
_TAG = re.compile(r"[（(\[【]\s*(?P<name>[^（()）\[\]【】\n]{2,16})[)）\]】]")


def _holds_letters(lines: IndexedLines, last: int) -> bool:
    """Whether letters stand on a list's last line or below it: they combine what it numbers."""
    for place in range(last, min(last + _MOST_ABOVE, len(lines.pieces))):
        if place > last and place in lines.numbered:
            return False
        if HAS_LETTERS.match(lines.pieces[place].text) or _LETTER_WITHIN.search(lines.pieces[place].text):
            return True
    return False


_LETTER_WITHIN = re.compile(r"\s[（(]?A\s*[.．、:：)）]\s*\S")


def _find_owner(
    lines: IndexedLines, form: _Form, place: int, one: re.Match[str], above: int, *, same: bool = False
) -> int | None:
    """The nearest numbered line at a mark or over it, below the line `above`; None without one."""
    for at in range(place, max(above, -1), -1):
        label = lines.labels[at]
        if label is not None and label.style in STRONG_STYLES:
            return None  # a section begins
        if not counts_questions(label):
            continue
        if at == place and label.end > one.start():
            continue  # the mark itself
        if label.style != form.style or same:
            return at
    return None


def _join_stem(lines: IndexedLines, owner: int, place: int, one: re.Match[str]) -> str:
    """What stands between a question's number and its first option."""
    texts = [piece.text for piece in lines.pieces[owner:place] if not _OFFERS.fullmatch(piece.text)]
    texts.append(lines.pieces[place].text[: one.start()])
    label = lines.labels[owner]
    texts[0] = texts[0][label.end if label is not None else 0 :]
    return "\n".join(texts).strip(f"{_SIGNED}\n")


def _part(runs: Sequence[_Run], lines: IndexedLines, types: Sequence[tuple[int, bool]]) -> list[list[_Run]]:
    """The runs in blocks: of one type and form, below most questions that follow on."""
    styles = Counter(_style(lines, run) for run in runs)
    if not styles:
        return []
    style = styles.most_common(1)[0][0]
    by_owner: dict[int, _Run] = {}
    asked = 0
    for run in runs:
        value = label.value if (label := lines.labels[run.owner]) is not None else 0
        # who writes by hand changes the form of a number, `7.` `8)` `9.`, not the count
        if _style(lines, run) == style or value == asked + 1:
            by_owner[run.owner] = run
            asked = value
    inside = {place for run in by_owner.values() for place, _ in run.marks} - set(by_owner)
    numbered = [
        place
        for place, label in enumerate(lines.labels)
        if (is_sure(label, (style,)) or place in by_owner) and place not in inside
    ]
    blocks: list[list[_Run]] = []
    block: list[_Run] = []
    missed = last = 0
    for place in numbered:
        value = label.value if (label := lines.labels[place]) is not None else 0
        # a section that counts from 1 again, or of another type
        if value <= last or (block and _find_type(types, block[-1].owner) is not _find_type(types, place)):
            blocks.append(block)
            block = []
        last = value
        if place in by_owner:
            block.append(by_owner[place])
            missed = 0
            continue
        missed += 1
        if missed > 1:
            blocks.append(block)
            block = []
    return [one for one in (*blocks, block) if one]


def _style(lines: IndexedLines, run: _Run) -> str:
    label = lines.labels[run.owner]
    return label.style if label is not None else ""


def _are_options(
    block: Sequence[_Run], lines: IndexedLines, form: _Form, *, is_choice: bool | None, is_sure: bool
) -> bool:
    """Whether what a block of questions numbers is offered, and is no part of a question."""
    pieces = lines.pieces
    offered = [_list_texts(run, pieces) for run in block]
    # the place for the key of a question may stand behind its last option
    texts = [text for own in offered for text in (*own[:-1], _PLACE.sub("", own[-1]))]
    usual, often = Counter(len(run.marks) for run in block).most_common(1)[0]
    ends = [*(run.owner for run in block[1:]), block[-1].last + 1]
    lettered = sum(
        any(HAS_LETTERS.match(piece.text) for piece in pieces[run.owner : end])
        # `(1) A and B only` combines the letters above it
        and sum(map(bool, map(_COMBINES.match, own))) < _TOLD_SHARE * len(own)
        for run, end, own in zip(block, ends, offered, strict=True)
    )
    if (
        lettered > _MOST_LETTERED * len(block)
        or not all(map(_WORD.search, texts))
        or sum(map(len, texts)) > _LONGEST * len(texts)
        or sum(map(asks_something, texts)) > _MOST_ASKING * len(texts)
    ):
        return False
    if is_choice or is_sure or _are_signed(block, pieces):
        return True
    if often < _EVEN_SHARE * len(block) or is_choice is False:
        return False
    if form.sign == "①":
        # `①就绪；②运行；③阻塞。` without a key is said rather than offered
        is_said = any(text.rstrip().endswith(("；", ";")) for text in texts)
        return not is_said and not any(
            DEMANDS.match(run.stem) and not closes_asking(run.stem) for run in block
        )
    return usual >= _LEAST_OFFERED and all(closes_asking(run.stem) for run in block)


def _offer_throughout(runs: Sequence[_Run], lines: IndexedLines, form: _Form) -> bool:
    """Whether most questions from the first with a list on have one.

    It has four lines or more, and mostly as many as the others.
    """
    usual, often = Counter(len(run.marks) for run in runs).most_common(1)[0]
    style, inside = _style(lines, runs[0]), {place for run in runs for place, _ in run.marks}
    asked = [
        place
        for place, label in lines.numbered.items()
        if label.style == style and place not in inside and runs[0].owner <= place <= runs[-1].owner
    ]
    is_most = len(runs) >= max(_LEAST_RUNS, _TOLD_SHARE * len(asked)) and often >= _ALIKE_SHARE * len(runs)
    is_stacked = len(inside) == sum(len(run.marks) for run in runs)
    return is_most and is_stacked and usual >= _LEAST_OFFERED and form.sign != "①"


_WORD = re.compile(r"[^\W_]")
_COMBINES = re.compile(r"\s*(?:[A-E](?:\s*[,，、+&和]\s*|\s+(?:and|or)\s+))+[A-E](?![A-Za-z])")
_PLACE = re.compile(r"(?<=\s)[（(]\s*[)）]\s*$")
_MOST_ALIKE: Final = 0.6


def _list_alike(lines: IndexedLines, form: _Form, first: int) -> list[tuple[int, int]]:
    """The lines that answer what is numbered, `2. ① … ② …`, and their questions."""
    found: list[tuple[int, int]] = []
    number = 0
    for place in range(first, len(lines.pieces)):
        text, label = lines.pieces[place].text, lines.labels[place]
        answer = match_answer(text)
        begin = answer.end() if answer is not None else 0
        if counts_questions(label):
            number, begin = label.value, label.end
        marks = [*form.mark.finditer(text, begin)][:2] if begin else []
        is_first = bool(marks) and not text[begin : marks[0].start()].strip()
        if is_first and [_count(one["number"]) for one in marks] == [1, 2]:
            found.append((place, number))
    return found


def _find_alike(block: Sequence[_Run], lines: IndexedLines, alike: Sequence[tuple[int, int]]) -> list[int]:
    """The lines that answer what most questions of a block number; [] where few do."""
    numbers = {label.value for run in block if (label := lines.labels[run.owner]) is not None}
    at = bisect_left(alike, block[0].last + 1, key=lambda one: one[0])
    told = [(place, number) for place, number in alike[at : at + _MOST_ABOVE] if number in numbers]
    is_usual = len({number for _, number in told}) >= _MOST_ALIKE * len(numbers)
    return [place for place, _ in told] if is_usual else []


def _list_texts(run: _Run, pieces: Sequence[Piece]) -> list[str]:
    """What stands behind each number on its line, or where nothing does, below it."""
    texts: list[str] = []
    for (place, mark), following in zip(run.marks, [*run.marks[1:], None], strict=True):
        end = following[1].start() if following is not None and following[0] == place else None
        text = pieces[place].text[mark.end() : end]
        is_open = not text.strip() and place + 1 < len(pieces)
        texts.append(pieces[place + 1].text if is_open else text)
    return texts


def _list_types(lines: IndexedLines) -> list[tuple[int, bool]]:
    """The lines that head a section of a type, and whether they name choices."""
    found = ((place, read_heading(piece.text)) for place, piece in enumerate(lines.pieces))
    return [
        (place, heading.fine.question_type == "multiple_choice")
        for place, heading in found
        # `Q8) Choose the correct option` is a question
        if heading is not None
        and heading.fine is not None
        and (heading.label is None or heading.label.style not in KNOWN_NUMBERS)
    ]


def _find_type(types: Sequence[tuple[int, bool]], owner: int) -> bool | None:
    """Whether the last heading over a question names choices; None without one."""
    at = bisect_left(types, owner, key=lambda one: one[0])
    return types[at - 1][1] if at else None


def _are_signed(block: Sequence[_Run], pieces: Sequence[Piece]) -> bool:
    """Whether a sign stands before some numbers of nearly every question and not before others."""
    signed = [
        sum(1 for place, mark in run.marks if pieces[place].text[: mark.start()].rstrip()[-1:] in _SIGNS)
        for run in block
    ]
    told = sum(1 for run, count in zip(block, signed, strict=True) if 0 < count < len(run.marks))
    return told >= _TOLD_SHARE * len(block)


_SIGNS = tuple("*√✓✔☑►→")
_NUMBER: Final = rf"[1-8{_CIRCLES}]"
# in `1-1, 2-3` the second number is of a question
_HELD: Final = rf"(?P<held>{_NUMBER}(?:(?:\s*[,，、]\s*)?{_NUMBER}(?!\s*[.．:：)）\-–—=]))*)"
# `3. (2) …`; `… is (2)`, `… 的是（②）。`
_BEFORE_STEM = re.compile(rf"\s*[（(\[]\s*(?P<told>(?:[^\W\d]{{1,8}}\s*[:：]?\s*)?{_HELD})\s*[)）\]]\s*")
_BEHIND_STEM = re.compile(rf"[（(]\s*{_HELD}\s*[)）]\W*$")
# `①③`, `(2).`, `2 Rationale: …`, `(1) ②` where one blank is filled
_TOLD = re.compile(
    rf"\s*(?P<told>(?:[（(]1[)）]\s*(?=\S))?[（(]?{_HELD}[)）]?)\s*(?:$|[.。](?!\d)|\s(?=[^\W\d_]{{3,20}}\s*[:：]))"
)
_ALONE = re.compile(rf"{_TOLD.pattern}\s*$")


def _find_told(block: Sequence[_Run], lines: IndexedLines) -> list[_Span]:
    """Where keys stand behind numbers, behind stems or below options; [] for none."""
    pieces = lines.pieces
    before, behind, below = [], [], []
    for run, following in zip(block, [*block[1:], None], strict=True):
        label = lines.labels[run.owner]
        key = _BEFORE_STEM.match(pieces[run.owner].text, label.end if label is not None else 0)
        if key is not None and (run.owner, key.start("held")) < (run.first, run.marks[0][1].start("number")):
            before.append(_Span(run.owner, *key.span("told"), _name_letters(key["held"])))
        place, mark = run.marks[0]
        line = place if pieces[place].text[: mark.start()].strip(_SIGNED) else place - 1
        key = _BEHIND_STEM.search(pieces[line].text[: mark.start() if line == place else None][-40:])
        if key is not None and line >= run.owner:
            shift = max((mark.start() if line == place else len(pieces[line].text)) - 40, 0)
            begin, end = key.span("held")
            behind.append(_Span(line, begin + shift, end + shift, _name_letters(key["held"])))
        last = following.owner if following is not None else min(run.last + _MOST_ABOVE, len(pieces))
        for at in range(run.last + 1, last):
            answer = match_answer(pieces[at].text)
            key = _TOLD.match(pieces[at].text, answer.end()) if answer is not None else None
            if key is not None:
                below.append(_Span(at, *key.span("told"), _name_letters(key["held"])))
                break
    for found in (before, behind, below):
        said = {span.letters for span in found}
        if len(found) >= _TOLD_SHARE * len(block) and len(said) > 1:
            return found
    return []


# `1. ②`, `1-(2)`, `1 3`, `Q1: 1,3`; `1-5 24331`
_STOP: Final = r"(?:\s*[.．、:：)）\]\-–—=|]+\s*|\s+|\s*(?=[（(①-⑧]))"
_ENTRY = re.compile(
    rf"\s*(?:{number_word()}\s*)?[（(\[]?(?P<number>\d{{1,3}}){_STOP}[（(]?{_HELD}[)）]?(?!\w|[.,]\d)[\s,，、;；。|]*"
)
_MORE = re.compile(
    rf"[)）]?(?:\s*[,，、]\s*|\s*(?:[,，、]\s*)?(?:and|[和与&])\s*)?(?P<open>[（(])?(?P<held>{_NUMBER})(?(open)[)）]|(?<=[{_CIRCLES}]))(?!\w)[\s,，、;；。|]*"
)
_RANGE = re.compile(
    rf"\s*(?P<from>\d{{1,3}})\s*[-–—－~～至]\s*(?P<to>\d{{1,3}})[\s.．、:：)）]+(?P<keys>{_NUMBER}(?:\s?{_NUMBER})*)(?!\w)[\s,，、;；。|]*"
)
_ENTRY_LEAD = re.compile(r"[^\d①-⑧（(\[]{0,16}")
_KEY_LINE = re.compile(rf"[^\d{_CIRCLES}]{{0,16}}(?P<keys>[{_CIRCLES}](?:[\s,，、]*[{_CIRCLES}])+)\s*")


class _Key(NamedTuple):
    """A key: the number of its question, where it stands, and the last option that it names."""

    number: int
    span: _Span
    last: int


# `4 ①`, `12. (3)`: no option, whatever its question is
_KEY_ALONE = re.compile(rf"\s*\d{{1,3}}\s*[.．、:：)）\-–—]?\s*(?:[{_CIRCLES}]+|[（(][1-8][)）])\s*")


def _holds_keys(text: str) -> bool:
    """Whether a line has keys behind numbers alone: several, or one that is no option."""
    if not _HAS_NUMBER.search(text):
        return False
    if _KEY_LINE.fullmatch(text) is not None or _KEY_ALONE.fullmatch(text) is not None:
        return True
    # `(1) 4  (2) 7` offers numbers
    return text.lstrip()[:1] not in tuple("（(") and len(_read_keys(0, text, whole=True)) > 1


def _read_keys(place: int, text: str, *, whole: bool = False) -> list[_Key]:
    """The keys of a line that holds nothing else; else, unless `whole`, the first of it, if any."""
    lead = _ENTRY_LEAD.match(text)
    at = lead.end() if lead is not None else 0
    keys: list[_Key] = []
    while at < len(text):
        one = _RANGE.match(text, at)
        if one is not None:
            held = [one.start("keys") + shift for shift, sign in enumerate(one["keys"]) if not sign.isspace()]
            if len(held) != int(one["to"]) - int(one["from"]) + 1:
                break
            keys += [
                _Key(number, _Span(place, begin, begin + 1, _name_letters(text[begin])), _count(text[begin]))
                for number, begin in enumerate(held, start=int(one["from"]))
            ]
            at = one.end()
        else:
            one = _ENTRY.match(text, at)
            if one is None:
                break
            letters = _name_letters(one["held"])
            begin, end = one.span("held")
            after = one.end()
            # `3. (1), (4)`, `3. ① and ④`, while `(3) (1), (4) (2)` has two keys
            is_framed = text[max(one.start("number") - 1, 0)] in "（(["
            more = _MORE.match(text, end) if not is_framed else None
            while more is not None:
                letters += _name_letters(more["held"])
                end = more.end("held")
                after = max(after, more.end())
                more = _MORE.match(text, end)
            most = max(map(_LETTERS.index, letters)) + 1
            if text[one.end("number") : begin].isspace():  # `4 ①` has the form of keys: `4. A`
                begin, letters = one.end("number"), f". {letters}"
            keys.append(_Key(int(one["number"]), _Span(place, begin, end, letters), most))
            at = after
    # `11. 135; 12. 24; 13. A1 B2` answers the next question otherwise
    other = _OTHER_ENTRY.match(text, at) if len(keys) > 1 and not whole else None
    if other is not None and int(other["number"]) == keys[-1].number + 1:
        return keys
    if at < len(text) and (whole or len(keys) != 1):
        return []
    # `2. ① a cell is … ② a tissue is …` tells all
    if at < len(text) and keys[0].last == 1 and _SECOND.search(text, at):
        return []
    return keys


_OTHER_ENTRY = re.compile(r"(?P<number>\d{1,3})\s*[.．、)）]\s*(?=[^\W\d_])")
_SECOND = re.compile(r"(?<=[\s;；])(?:②|[（(]?2[)）])\s*\S")


def _list_keys(lines: IndexedLines, first: int) -> list[tuple[int, list[_Key], list[_Span]]]:
    """The lines from a place on that have keys: behind numbers, and in rows without."""
    found: list[tuple[int, list[_Key], list[_Span]]] = []
    for place in range(first, len(lines.pieces)):
        piece = lines.pieces[place]
        if piece.kind != "table" and not _HAS_NUMBER.search(piece.text):
            continue
        row = _KEY_LINE.fullmatch(piece.text)
        begin = row.start("keys") if row is not None else 0
        bare = [
            _Span(place, begin + at, begin + at + 1, _name_letters(sign))
            for at, sign in enumerate(row["keys"] if row is not None else "")
            if sign in _CIRCLES
        ]
        keys = _read_keys(place, piece.text)
        if keys or bare or piece.kind == "table":
            found.append((place, keys, bare))
    return found


_HAS_NUMBER = re.compile(rf"[1-9{_CIRCLES}]")


def _find_keys(
    block: Sequence[_Run], lines: IndexedLines, below: Sequence[tuple[int, list[_Key], list[_Span]]]
) -> list[_Span]:
    """Where a block's keys stand in the lines that may have them, in order; [] for none."""
    numbers = [label.value for run in block if (label := lines.labels[run.owner]) is not None]
    counts = dict(zip(numbers, (len(run.marks) for run in block), strict=True))
    least = max(_KEYED_SHARE * len(block), 2)
    found: list[_Span] = []
    last = 0
    for place, keys, bare in below:
        for key in keys:
            fits = key.last <= counts.get(key.number, 0)
            if fits and (key.number == numbers[0] if not found else last < key.number <= last + 2):
                found.append(key.span)
            elif len(found) >= least:
                return found
            else:
                found = [key.span] if fits and key.number == numbers[0] else []
            last = key.number
        if len(found) == len(block):
            break
        if not found and (cells := _read_cells(lines, place, counts)):
            return cells
        if len(bare) == len(block):
            return bare
    return found if len(found) >= least else []


def _read_cells(lines: IndexedLines, place: int, counts: Mapping[int, int]) -> list[_Span]:
    """The keys in a table's rows below rows of numbers of questions; [] where these are none."""
    spans: list[_Span] = []
    while place + 1 < len(lines.pieces) and lines.pieces[place].kind == "table":
        above, below = (_CELL.finditer(lines.pieces[at].text) for at in (place, place + 1))
        found: list[_Span] = []
        for number, key in zip(above, below, strict=False):
            named = _ALONE.match(key[0])
            told = _CELL_NUMBER.fullmatch(number[0])
            value = int(told["number"]) if told is not None else 0
            if named is None or value not in counts:
                continue
            letters = _name_letters(named["held"])
            if max(map(_LETTERS.index, letters)) >= counts[value]:
                return []
            begin, end = (key.start() + at for at in named.span("held"))
            found.append(_Span(place + 1, begin, end, letters))
        if not found:
            break
        spans += found
        place += 2
    return spans if len(spans) >= _KEYED_SHARE * len(counts) else []


_CELL_NUMBER = re.compile(rf"\s*(?:{number_word()}\s*)?(?P<number>\d{{1,3}})\s*[.．]?\s*")
_CELL = re.compile(r"[^|]+")
