"""Contracts on what questions hold: options, keys, and nothing of another question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from schemas import patterns as re
from tasks.ingest.content.drafts import KEYED_TYPES, Draft
from tasks.ingest.content.region_titles import is_region_heading
from tasks.ingest.contracts.readings import ContractCheck, Reading
from tasks.ingest.layout.headings import MARKS_GROUP, may_open_title, read_heading
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.matching import lists_items
from tasks.ingest.layout.options import are_tasks
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.series import TASKS_EACH
from tasks.ingest.words.answers import ANSWER_MARK, ANSWER_STARTS, EXPLANATION_MARK
from tasks.ingest.words.grammar import asking
from tasks.ingest.words.labels import PARTS, Label, form_of, parse_label
from tasks.ingest.words.lexicon import match_exactly
from tasks.ingest.words.signs import asks_by_sign, ends_asking, ends_in_blank

# From how many questions on a section shows what is usual in it, and how many of them must do so.
_MIN_ALIKE, _MOST = 4, 0.8


def keep_apart(reading: Reading, found: ContractCheck) -> None:
    """Questions differ: what tells them apart is read where many seem to be worded alike."""
    found.checked = len(reading.drafts) >= _MIN_ALIKE
    alike: dict[tuple[object, ...], list[Draft]] = {}
    for draft in reading.drafts:
        words = (draft.stem, draft.material, *(text for _, text in draft.options))
        alike.setdefault(words, []).append(draft)
    for drafts in alike.values():
        if len(drafts) < _MIN_ALIKE:
            continue
        found.doubt_all(
            drafts,
            f"{len(drafts)} questions are worded alike ({drafts[0].stem[:20]!r}): what tells them apart was not read.",
        )


def keep_stems(reading: Reading, found: ContractCheck) -> None:
    """What offers options asks something, in its own words or about a text."""
    found.checked = any(draft.options for draft in reading.drafts)
    silent = [
        draft
        for draft in reading.drafts
        if draft.options and not draft.material and not _NO_LETTERS.sub("", draft.stem)
    ]
    found.doubt_all(silent, f"{len(silent)} questions offer options and ask nothing ({_name(silent)}).")


def keep_blanks(reading: Reading, found: ContractCheck) -> None:
    """Questions to be filled in leave something to fill in, or show what fills it."""
    for section, drafts in reading.by_section.items():
        filled = [draft for draft in drafts if draft.question_type == "fill_in_the_blank" and draft.fine]
        whole = [
            draft
            for draft in filled
            if not draft.answer and not (asks_by_sign(draft.stem) or _LEAVES_BLANK.search(draft.stem))
        ]
        found.checked = found.checked or bool(filled)
        if len(whole) > 1 and len(whole) >= _MOST_WHOLE * len(filled):
            found.doubt_all(
                whole,
                f"{len(whole)} questions to be filled in leave no blank ({_name(whole)}).",
                section,
            )


_LEAVES_BLANK = re.compile(r"_|\[\s*\]|[□○◯☐△]|[（(\[]\s*\d{1,2}\s*[)）\]]|\.{4,}|…{2,}")
_MOST_WHOLE = 0.5
_BARE_NUMBER = re.compile(r"(\d{1,3})\s+\D")
_LEAST_RUN = 3


def keep_numbers_out(reading: Reading, found: ContractCheck) -> None:
    """No stems begin with numbers that rise one by one: these count the questions."""
    found.checked = bool(reading.drafts)
    run: list[tuple[int, Draft]] = []
    runs: list[list[tuple[int, Draft]]] = []
    for draft in reading.drafts:
        match = None if draft.number_label else _BARE_NUMBER.match(draft.stem)
        label = None if draft.number_label or match else parse_label(draft.stem)
        if match is None and (label is None or label.style in PARTS):
            continue
        value = int(match[1]) if match is not None else label.value if label is not None else 0
        if not run or value != run[-1][0] + 1:
            run = []
            runs.append(run)
        run.append((value, draft))
    held = [draft for one in runs if len(one) >= _LEAST_RUN for _, draft in one]
    first = held[0].stem[:20] if held else ""
    found.doubt_all(held, f"{len(held)} stems begin with their numbers (from {first!r} on).")


def keep_option_counts(reading: Reading, found: ContractCheck) -> None:
    """The choice questions of a section offer as many options each as nearly all of them do."""
    for section, drafts in reading.by_section.items():
        choices = [draft for draft in drafts if draft.question_type == "multiple_choice"]
        if len(choices) < _MIN_ALIKE:
            continue
        usual, count = Counter(len(draft.options) for draft in choices).most_common(1)[0]
        if count < _MOST * len(choices):
            continue
        found.checked = True
        odd = [draft for draft in choices if len(draft.options) != usual]
        for draft in odd:
            if len(draft.options) < usual and len(choices) > _MIN_ALIKE:
                found.doubt(draft, "fewer_options_than_others")
            elif len(draft.options) > usual + 1:
                found.doubt(draft)
        if found.doubted and odd:
            found.breach(
                odd[0].start,
                len(odd),
                f"{len(odd)} of {len(choices)} choice questions do not have the {usual} options of the others "
                f"({_name(odd)}).",
                section,
            )


def keep_option_labels(reading: Reading, found: ContractCheck) -> None:
    """Options run A, B, C … without a gap, and no list of them is left in a text.

    A list of parts that set tasks is none of options.
    """
    odd: list[Draft] = []
    for draft in reading.drafts:
        labels = [label for label, _ in draft.options]
        if not labels:
            held = reading.inside.get(id(draft), [])
            said = "\n".join(draft.answer)
            listed = [
                (m[1], one.text[m.end() - 1 :])
                for one in held
                if (m := _LISTED.match(one.text)) and one.text.strip() not in said
            ]
            if (
                draft.question_type != "true_false"
                and len({label for label, _ in listed}) > 1
                and not are_tasks([text for _, text in listed])
                and not lists_items(draft.stem.split("\n"))
                and sorted("".join(draft.answer))
                != sorted(label for label, _ in listed)  # to be put in order
            ):
                found.checked = True
                odd.append(draft)
            continue
        found.checked = True
        wanted = [chr(ord("A") + place) for place in range(len(labels))]
        if len(labels) == 1 or (labels != wanted and len(labels[0]) == 1 and labels[0].isalpha()):
            odd.append(draft)
    found.doubt_all(odd, f"The options of {len(odd)} questions do not run A, B, C ({_name(odd)}).")


_LISTED = re.compile(r"\s*[（(\[]?([A-F])\s*[)）\].．、]\s*\S")


def keep_section_types(reading: Reading, found: ContractCheck) -> None:
    """What questions show is what their heading names: options below `选择题`."""
    for stretch in reading.stretches:
        drafts = reading.by_section.get(stretch.index, [])
        if stretch.fine is None or not drafts:
            continue
        kind, *others = stretch.fine.question_type, *stretch.fine.accepts
        found.checked = True
        offering = [draft for draft in drafts if len(draft.options) > 2]
        if kind == "multiple_choice" and "short_answer" not in others:
            odd = [draft for draft in drafts if len(draft.options) < 2]
            what = "without options below a heading of choice questions"
        elif kind == "true_false":
            odd, what = offering, "with a list of options below a heading of judgements"
        elif kind in ("short_answer", "essay", "calculation", "term_explanation") and not others:
            odd, what = offering, "with a list of options below a heading of free questions"
        else:
            continue
        words = f"Section {stretch.name!r} holds {len(odd)} questions {what} ({_name(odd)})."
        found.doubt_all(odd, words, stretch.index)


def keep_keys(reading: Reading, found: ContractCheck) -> None:
    """Once questions of a section and type have keys, each of them has one."""
    for section, drafts in reading.by_section.items():
        for kind in dict.fromkeys(draft.question_type for draft in drafts):
            alike = [draft for draft in drafts if draft.question_type == kind]
            bare = [draft for draft in alike if not draft.answer]
            if len(alike) < _MIN_ALIKE or len(bare) > 0.4 * len(alike):
                continue
            found.checked = True
            words = f"{len(bare)} of {len(alike)} questions have no answer where the others have one ({_name(bare)})."
            found.doubt_all(bare, words, section, "only_one_without_answer")


_BLANK_FORM = re.compile(r"(?i)sheet|answers? (?:book|paper|form)|答题|答案(?:卷|纸|卡)")


def keep_answered(reading: Reading, found: ContractCheck) -> None:
    """Where a paper prints answers, its choices have keys.

    It announces them below its questions, or closes most of these alike. It is said of the paper and noted at each question; no reading is better for having fewer of them.
    """
    choices = [draft for draft in reading.drafts if draft.options]
    headed = [
        piece
        for piece in reading.pieces
        if choices
        and piece.start > choices[0].start
        and is_region_heading(piece.text)
        and not _BLANK_FORM.search(piece.text)
    ]
    # what follows the last answers may be a further paper
    choices = [draft for draft in choices if not headed or draft.start < headed[-1].start]
    bare = [draft for draft in choices if not draft.answer]
    if len(choices) < _MIN_ALIKE or len(bare) < _MOST * len(choices):
        return
    word, closing = reading.repeated.closing
    if headed or len(closing) >= _MOST * len(choices):
        found.checked = True
        note = "answer_part_without_it"
        found.notes += [(draft, note) for draft in bare if note not in draft.notes]
        said = headed[0].text.strip()[:40] if headed else word
        words = f"{len(bare)} of {len(choices)} choice questions have no answer, though the paper prints answers ({said!r})."
        found.breach(bare[0].start, len(bare), words)


def keep_key_length(reading: Reading, found: ContractCheck) -> None:
    """The printed answers are as many as the questions: none is left over."""
    left = len(reading.keys)
    found.checked = bool(left) or any(draft.answer for draft in reading.drafts)
    if left and reading.drafts:
        found.miss(reading.drafts[0].start, left, f"{left} printed answers match no question.")


def keep_closed(reading: Reading, found: ContractCheck) -> None:
    """As many questions as lines that end with an answer in one form, `正确答案 B`."""
    word, closing = reading.repeated.closing
    found.checked = bool(closing) and bool(reading.drafts)
    if len(closing) > len(reading.drafts) > 0:
        size = len(closing) - len(reading.drafts)
        found.miss(
            reading.pieces[closing[0]].start,
            size,
            f"{len(closing)} lines end with an answer ({word}), {len(reading.drafts)} questions were found.",
        )


# Some lines ask twice, and some of those below them do.
_MOST_ASKING = 0.8


def keep_asked(reading: Reading, found: ContractCheck) -> None:
    """Lines that ask in turn with others, or set tasks in a row, are mostly questions."""
    asking = reading.repeated.asking
    below = ", with one line below each"
    if not asking and len(reading.repeated.tasks) >= TASKS_EACH * len(reading.drafts):
        asking, below = reading.repeated.tasks, " and have no number"
    found.checked = bool(asking) and bool(reading.drafts)
    if 0 < len(reading.drafts) < _MOST_ASKING * len(asking):
        size = len(asking) - len(reading.drafts)
        found.miss(
            reading.pieces[asking[0]].start,
            size,
            f"{len(asking)} lines ask{below}, {len(reading.drafts)} questions were found.",
        )


_OPTION = re.compile(r"\s*[（(\[]?([ABab])\s*[)）\].．、]\s*\S")
_NO_LETTERS = re.compile(r"[\W\d_]+")
_TOLD = {
    "stem_holds_next_question": "the number of the next one",
    "holds_number_of_its_kind": "another number in the form of its own",
    "holds_second_answer": "a second answer",
    "holds_second_options": "a second list of options",
    "stem_holds_heading": "a heading",
}


def keep_own(reading: Reading, found: ContractCheck) -> None:
    """A question holds no further number, answer, list of options, and no heading."""
    found.checked = bool(reading.drafts)
    for draft, number, numbered, is_sure in _find_held(reading):
        notes = [*([number] if number else ()), *_held_contents(draft, reading.inside.get(id(draft), []))]
        found.missing += len(numbered) if is_sure else 0
        for note in notes:
            found.doubt(draft, note)
        if notes:
            held = ", ".join(_TOLD[note] for note in notes)
            more = f" ({len(numbered)} from character {numbered[0].start} of the text on)" if numbered else ""
            found.breach(
                draft.start,
                1,
                f"Question {draft.number_label or draft.stem[:20]!r} holds {held}{more}.",
                draft.section,
            )


def list_held(
    reading: Reading, unclaimed: Sequence[Piece] = ()
) -> tuple[dict[int, tuple[int, int]], frozenset[int]]:
    """The numbers of questions and of lines inside them that may count, and what then does not.

    By the offset of its line: where each ends, and its value. Empty where no question holds any and nothing is unclaimed.
    What holds numbers that run on from other questions is a passage or a title.
    """
    held: list[Piece] = [*unclaimed]
    starts: set[int] = set()
    titles: set[int] = set()
    for draft, _, numbered, is_sure in _find_held(reading):
        numbered = numbered if is_sure else []
        held += numbered
        opening = reading.find_line(draft.start)
        own, first = opening.label, numbered[0].label if numbered else None
        runs_on = own is not None and first is not None and first.value > 1 and form_of(first) != form_of(own)
        (titles if runs_on else starts).add(opening.start)
    pieces = [*held, *(piece for piece in reading.pieces if held and piece.start in starts)]
    numbers = {
        piece.start: (piece.label.end, piece.label.value) for piece in pieces if piece.label is not None
    }
    return numbers, frozenset(titles)


def _find_held(reading: Reading) -> Iterator[tuple[Draft, str, list[Piece], bool]]:
    """What numbered lines inside each question say against it, and whether they surely count."""
    # how far the numbers of each form have come
    reached: dict[tuple[str, str], int] = {}
    for draft, following in pairwise([*reading.drafts, None]):
        if draft is not None:
            yield draft, *_held_numbers(draft, reading, reached, following)


# What says that the question goes on with a list.
_NAMES_LIST = re.compile(r"下列|下面|如下|以下|[:：]$|\b(?:following|below)\b", re.IGNORECASE)
_LEAST_ASKING = 0.75


def _held_numbers(
    draft: Draft, reading: Reading, reached: dict[tuple[str, str], int], following: Draft | None
) -> tuple[str, list[Piece], bool]:
    """What numbered lines inside a question say against it, and whether they surely count.

    `reached` is moved on; `following` is the next question.
    """
    held = reading.inside.get(id(draft), ())
    own = reading.labels.get(draft.start)
    if (own is None or own.text != draft.number_label) and draft.number_label:
        own = parse_label(f"{draft.number_label} x")
    if own is not None and draft.value is not None:
        reached[form_of(own)] = draft.value
    if (
        not held
        or own is None
        or draft.value is None
        or (draft.fine is not None and draft.fine.name == "matching")
    ):
        return "", [], False
    numbered = [(piece, piece.label) for piece in held if piece.kind != "table" and piece.label is not None]
    for form in {form_of(label) for _, label in numbered if not label.is_weak} & reached.keys() - {
        form_of(own)
    }:
        onward = [(piece, label) for piece, label in numbered if form_of(label) == form]
        if len(onward) > 1 and onward[0][1].value == reached[form] + 1:
            # `21.` to `25.` below the passage `(一)`, and `20.` was a question
            reached[form] = onward[-1][1].value
            return "holds_number_of_its_kind", [piece for piece, _ in onward], True
    alike = [(piece, label) for piece, label in numbered if form_of(label) == form_of(own)]
    # `26` without a stop counts with `27.`
    styles = ("bare", "num") if own.style == "bare" else (own.style,)
    counted = [(piece, label) for piece, label in numbered if label.style in styles and not label.is_weak]
    values = [label.value for _, label in counted]
    if draft.value + 1 in values and values != list(range(1, len(values) + 1)):
        next_ones = [piece for piece, label in counted if label.value == draft.value + 1]
        return "stem_holds_next_question", [piece for piece, _ in alike] or next_ones, True
    goes_on = following is not None and following.value == draft.value + 1
    again = _find_again(own, numbered)
    # `3. … 1. 2. 4. …` are parts; a list that came just as far as its rest goes on from is none
    if len(again) > 1 and (not goes_on or again[-1][1].value == draft.value):
        is_further = _begins_again(draft, own, held, again, reading)
        if is_further is not None:
            return "holds_number_of_its_kind", [piece for piece, _ in again], is_further
    marked = [piece for piece, label in alike if MARKS_GROUP.match(piece.text[label.end :])]
    if len(marked) > 1:
        return "holds_number_of_its_kind", marked, True  # each is worth something by itself
    if alike and own.style in ("num", "word", "bracket") and alike[0][1].value != 1:
        return "holds_number_of_its_kind", [piece for piece, _ in alike], True
    return "", [], False


# Parts are numbered in a form below that of their question.
_RANKS = {"part": 5, "word": 4, "wordp": 3, "cn": 3, "cnp": 2, "num": 1, "bracket": 1, "roman": 1}


def _find_again(own: Label, numbered: Sequence[tuple[Piece, Label]]) -> list[tuple[Piece, Label]]:
    """The numbers of one form that begin at 1 below a question, its own form before others."""
    for style in dict.fromkeys([own.style, *(label.style for _, label in numbered)]):
        if style in PARTS:
            continue
        run = [
            (piece, label)
            for piece, label in numbered
            if label.style == style and label.is_weak <= (own.is_weak or style == "bare")
        ]
        if [label.value for _, label in run[:2]] == [1, 2]:
            return run
    return []


def _begins_again(
    draft: Draft,
    own: Label,
    held: Sequence[Piece],
    numbered: Sequence[tuple[Piece, Label]],
    reading: Reading,
) -> bool | None:
    """Whether a list below a question is a further one; None where it is of its parts.

    False where it only may be one. It is one where the question is complete without it: it offers options, was answered, or asks as those before it do, and
    names no list. What does not ask below one that does may be its steps.
    """
    first, last = numbered[0][0], numbered[-1][0].start
    before = [piece for piece in held if piece.start < first.start]
    offers = [piece.start for piece in held if _OPTION.match(piece.text)]
    if offers and offers[0] > last:
        return None  # options that combine the numbered statements above them
    second = next((at for at, (_, label) in enumerate(numbered) if at and label.value == 1), len(numbered))
    asks = _ask(numbered[:second])
    # a stem has other gaps than its lines
    opening = re.search(r"\s+".join(map(re.escape, first.text.split())), draft.stem)
    stem = draft.stem[: opening.start()] if opening is not None else draft.stem
    answers = [piece for piece in before if opens_answer(piece.text)]
    if len(draft.options) > 1 and (not offers or offers[0] < first.start) and not answers:
        return True
    if answers or (draft.answer and opening is None):
        is_keyed = bool(answers) and bool(_name_answer(answers[-1].text))
        is_named = any(_NAMES_LIST.search(piece.text.rstrip()) for piece in before)
        return True if (is_keyed or asks) and not is_named else None
    is_asked = asking().search(stem) is not None
    is_same = form_of(numbered[0][1]) == form_of(own)
    if _RANKS.get(numbered[0][1].style, 0) < _RANKS.get(own.style, 0):
        # a question with a place for its answer at its end has no parts
        return False if asks and second > 2 and ends_in_blank(stem) else None
    if _NAMES_LIST.search(stem.rstrip()):
        # a line of its own that names a list may open one, where the question is complete above it
        is_closed = len(before) == 1 and asking().search(stem.rstrip().rpartition("\n")[0]) is not None
        return False if is_closed and is_same and asks else None
    siblings = [one for one in reading.drafts if one is not draft]
    usual = 2 * sum(asking().search(one.stem) is not None for one in siblings) > len(siblings)
    if is_asked:
        return True if asks else False if is_same else None
    return None if usual else True


def _ask(numbered: Sequence[tuple[Piece, Label]]) -> bool:
    """Whether most of these numbered lines ask something."""
    asks = sum(
        1 for piece, label in numbered if asking().search(piece.text[label.end :].lstrip()) is not None
    )
    return asks >= _LEAST_ASKING * len(numbered)


def _held_contents(draft: Draft, held: Sequence[Piece]) -> list[str]:
    notes: list[str] = []
    if len(held) > 1 and draft.question_type in ("multiple_choice", "true_false"):
        # `Answer: B` and `Solution: …` are one answer and its reasons
        answers = [name for piece in held if (name := _name_answer(piece.text))]
        if len(set(answers)) < len(answers):
            notes.append("holds_second_answer")
        letters = [match[1].upper() for piece in held if (match := _OPTION.match(piece.text))]
        if min(letters.count("A"), letters.count("B")) > 1:
            notes.append("holds_second_options")
    if any(_heads_section(piece) for piece in held):
        notes.append("stem_holds_heading")
    return notes


def opens_answer(text: str) -> bool:
    """Whether a line opens an answer or an explanation."""
    return (text.lstrip()[:1] in ANSWER_STARTS and ANSWER_MARK.match(text) is not None) or (
        EXPLANATION_MARK.match(text.lstrip()) is not None
    )


def _name_answer(text: str) -> str:
    """The word that opens an answer on this line, empty where none does or no key follows it."""
    match = ANSWER_MARK.match(text) if text.lstrip()[:1] in ANSWER_STARTS else None
    if match is None or _KEY_AHEAD.match(text, match.end()) is None:
        return ""
    word = _NO_LETTERS.sub("", match.group(0)).casefold()
    return word if len(word) > 1 and word not in ("解答", "参考解答") else ""


_KEY_AHEAD = re.compile(r"\s*[（(\[]?\s*(?:[A-Ha-h]{1,5}(?![A-Za-z])|[√×✓✗对错TF正]|(?i:true|false))")
_MARKED_TITLE = re.compile(r"\s*(?:[A-H]|\d{1,2}|[IVX]{1,4})\s*[.．、:：)）]\s*(?P<title>[^（(:：\[]{2,40})")


def _heads_section(piece: Piece) -> bool:
    """Whether a line is a section's numbered title, or only the name of a type after a mark."""
    if len(piece.text) > 60 or piece.kind == "table":
        return False
    marked = _MARKED_TITLE.match(piece.text)
    if marked is not None:
        return match_exactly(marked["title"].strip()) is not None
    label = piece.label
    if label.style not in ("cn", "part") if label is not None else not may_open_title(piece.text):
        return False
    heading = read_heading(piece.text)
    return heading is not None and heading.label is not None and heading.label.style in ("cn", "part")


# So many numbered lines below `Section A` are questions, not the parts of one.
_MANY_PARTS, _MANY_SPELLED = 5, 2


def keep_parts_few(reading: Reading, found: ContractCheck) -> None:
    """What a heading such as `Section A` holds is no question with a long run of numbered lines."""
    parts = [stretch for stretch in reading.stretches if stretch.style == "part"]
    below = [draft for one in parts if not one.is_question for draft in reading.by_section.get(one.index, ())]
    counting = {label.style for one in below if (label := reading.find_line(one.start).label) is not None}
    for stretch in parts:
        drafts = reading.by_section.get(stretch.index, [])
        if not stretch.is_question or len(drafts) != 1 or drafts[0].options:
            continue
        found.checked = True
        first = reading.find_line(drafts[0].start)
        style, count = _count_run([first, *reading.inside.get(id(drafts[0]), ())])
        # the same mark means the same below each heading of one kind
        is_bare = first.label is not None and (first.label.style, first.label.value) == (style, 1)
        is_counting = style == "word" or (is_bare and style in counting)
        if count < (_MANY_SPELLED if is_counting else _MANY_PARTS):
            continue
        found.doubt(drafts[0])
        found.missing += count - 1
        found.breach(
            stretch.place,
            count,
            f"Section {stretch.name!r} was read as one question; it holds {count} numbered lines.",
            stretch.index,
        )


def _count_run(pieces: Sequence[Piece]) -> tuple[str, int]:
    """The form whose numbers run furthest from 1, `Question 1` before others, and how far."""
    last: dict[str, int] = {}
    for piece in pieces:
        label = piece.label
        if label is not None and not label.is_weak and label.value == last.get(label.style, 0) + 1:
            last[label.style] = label.value
    counted = [(value, style) for style, value in last.items() if style in _COUNTED]
    value, style = max(counted, default=(0, ""))
    return ("word", last["word"]) if last.get("word", 0) >= _MANY_SPELLED else (style, value)


_COUNTED = ("num", "paren", "nump", "word", "bracket", "circ")
_DIGIT = re.compile(r"\d")
_MIN_KEYS = 3
_KEY_LEAD = re.compile(r"^(?!\d)[^:：]{0,12}[:：、.．]\s*")


def keep_keys_out(reading: Reading, found: ContractCheck) -> None:
    """No question holds the key line of others."""
    if not reading.drafts or all(one.answer for one in reading.drafts):
        return
    bare = {one.value for one in reading.drafts if not one.answer}
    holding: list[tuple[Draft, int]] = []
    for piece in reading.pieces:
        if piece.start in reading.answer_parts or piece.kind == "table" or _DIGIT.search(piece.text) is None:
            continue
        draft = reading.find_last(piece.start)
        if draft is None or piece.start <= draft.start:
            continue
        if draft.question_type == "multiple_choice" and not draft.answer:
            continue
        keys = read_key_line(_KEY_LEAD.sub("", piece.text))
        if len(keys) >= _MIN_KEYS and any(entry.number in bare for entry in keys):
            holding.append((draft, piece.start))
    for draft, place in holding:
        found.doubt(draft, "text_holds_answer")
        found.breach(
            place,
            1,
            f"Question {draft.number_label} holds a line of keys of other questions.",
            draft.section,
        )
    if holding:
        for draft in reading.drafts:
            if not draft.answer and draft.question_type in KEYED_TYPES:
                found.doubt(draft, "answer_part_without_it")


# A question this much longer than its like has swallowed others, where it is long at all.
_TIMES_LONGER, _LONG = 8, 700


def keep_lengths(reading: Reading, found: ContractCheck) -> None:
    """No question is many times as long as the others of its section and type."""
    for section, drafts in reading.by_section.items():
        if len(drafts) < _MIN_ALIKE:
            continue
        lengths = [draft.end - draft.start for draft in drafts]
        usual = median(lengths)
        found.checked = True
        for draft, length in zip(drafts, lengths, strict=True):
            if (
                length > _LONG
                and length > _TIMES_LONGER * usual
                and not draft.material
                and not draft.explanation
            ):
                held = sum(1 for piece in reading.inside.get(id(draft), ()) if ends_asking(piece.text))
                found.missing += held if held >= _MANY_PLACES else 0
                found.doubt_all(
                    [draft],
                    f"Question {draft.number_label} has {length} characters, the others of its section about {usual:.0f}.",
                    section,
                )


# So many lines with a place for an answer are questions that were swallowed.
_MANY_PLACES = 5


def _name(drafts: Sequence[Draft]) -> str:
    labels = [draft.number_label or f"{draft.stem[:12]}…" for draft in drafts[:6]]
    return ", ".join(labels) + (" …" if len(drafts) > 6 else "")
