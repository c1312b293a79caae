"""Keys that a paper shows inside what candidates read, told by how they repeat.

Whatever is printed: what stands at some options of a question and not at all, once in most questions, is the key; so is a
letter (a number, the text) of an option that comes again at one place of the stems or below the last options, with the same signs
and words around it and another option each time. The key becomes the answer where none is known, is cut from the text
where it agrees with the answers that are, and is a doubt of the paper where it does not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from schemas import patterns as re
from tasks.ingest.content.choices import make_true_false
from tasks.ingest.content.drafts import Draft
from tasks.ingest.words.answers import read_key, read_truth
from tasks.ingest.words.grammar import truth_word
from tasks.ingest.words.kinds import are_truth_options
from tasks.ingest.words.once import once_a_paper
from tasks.ingest.words.points import POINT

# How few questions can show that the paper means its emphasis as keys, and how many of all must have it.
MIN_QUESTIONS = 3
MIN_SHARE = 0.7
# Words and signs of sums and sentences must come more often, on one option each.
_LEAST_PLAIN, _LEAST_SINGLE = 5, 0.9
# So many different options a mark must stand at, for each question that has it.
_LEAST_OTHER = 0.6
# Of so many questions the marks are listed first.
_SAMPLE = 60
_REACH, _TOKENS = 36, 7
_TOKEN = re.compile(r"([^\w\s])\1*|[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+|_+")
_PLAIN_SIGNS = frozenset("。.，,;；、:：?？!！'\"“”‘’%°+/-–—=…~$¥€£&@\\|<>")
# Signs of sums, formulas and figures, which options hold as words.
_CONTENT_SIGNS = frozenset("△∆∇↑↓→⇌℃℉′″‰⊙")
# Of titles and of what is said; no key is marked by them.
_QUOTES = frozenset("《》〈〉「」『』«»“”‘’„‚‹›\"' ")
_SAYS_RIGHT = re.compile(
    r"(?i)\b(?:ans(?:wer)?|correct|right|key|richtig|juste|correct[ao]|giusta)\b|答案|正确|正解"
)
_OPENS, _CLOSES = "([{（【〔《<«“", ")]}）】〕》>»”"
# Of two signs at all options right is the rarer, unless it says that nothing is marked.
_SAYS_NOT = ("[]", "()", "-", "–", "−", "□", "☐", "○", "◯", "✗", "✘", "☒", "(0)", "[0]", "%0%", "0%")
# `+5`, `-x`, `≥ 2`: a sign that belongs to what is offered
_QUANTITY = re.compile(r"\s*(?:[\d.∞√π]|[A-Za-z](?![A-Za-z.]))")
_MOST_QUANTITIES = 0.5


def take_shown_keys(drafts: Sequence[Draft]) -> None:
    """Take the keys out of stems and options, of the whole paper or of single sections."""
    sections: dict[int, list[Draft]] = defaultdict(list)
    for draft in drafts:
        sections[draft.section].append(draft)
    lead = [draft for draft in drafts if draft.answer and _EMPTY_LEAD.match(draft.stem)]
    if len(lead) >= max(MIN_QUESTIONS, _MOST_ALIKE * len(drafts)):
        for draft in lead:  # `（B）How …`: the keys stood before the stems, in no blank of theirs
            draft.stem = _EMPTY_LEAD.sub("", draft.stem, count=1)
    for group in ([*drafts], *(sections.values() if len(sections) > 1 else ())):
        for take in (_take_marks, _take_slots):
            for _ in range(_MOST_MARKS):
                if not take(group):
                    break


_EMPTY_LEAD = re.compile(r"[（(\[]\s*[)）\]]\s*(?=\S)")
_MOST_MARKS = 3


def take_choices(drafts: Sequence[Draft], chosen: Sequence[Sequence[str] | None]) -> bool:
    """Give the questions without a key the options that stand out; return whether it was done.

    They are the key only where they stand out consistently. `chosen` are the labels of every question that stand out, None
    where only parts of options do.
    """
    pairs = [
        (draft, None if labels is None or len(labels) == len(draft.options) else sorted(labels))
        for draft, labels in zip(drafts, chosen, strict=True)
        if draft.options
    ]
    if not _is_consistent(pairs):
        return False
    for draft, labels in pairs:
        if labels and not draft.answer:
            draft.answer = labels
            draft.notes.append("key_by_format")
    several = {draft.section for draft, labels in pairs if labels and len(labels) > 1}
    for draft, all_of in zip(drafts, chosen, strict=True):
        # all of them, where questions beside it have several keys
        is_several = (
            draft.section in several and draft.fine is not None and draft.fine.name != "single_choice"
        )
        if is_several and all_of is not None and len(all_of) == len(draft.options) and not draft.answer:
            draft.answer = sorted(all_of)
            draft.notes.append("key_by_format")
    return True


_MOST_ALIKE = 0.8


def _is_consistent(pairs: Sequence[tuple[Draft, list[str] | None]]) -> bool:
    open_pairs = [(draft, labels) for draft, labels in pairs if not draft.answer] or pairs
    told = [(draft, labels) for draft, labels in pairs if labels]
    is_told = sum(1 for _, labels in open_pairs if labels)
    if len(told) < MIN_QUESTIONS or is_told < MIN_SHARE * len(open_pairs):
        return False
    single = [
        labels for draft, labels in told if draft.fine is not None and draft.fine.name == "single_choice"
    ]
    if sum(1 for labels in single if len(labels) > 1) > 0.1 * len(single):
        return False
    (_, usual), *_ = Counter(tuple(labels) for _, labels in told).most_common(1)
    if len(told) > MIN_QUESTIONS and usual > _MOST_ALIKE * len(told):
        return False  # what closes every list of options
    closing = sum(1 for draft, labels in told if labels == [draft.options[-1][0]])
    if closing > _MOST_ALIKE * len(told) and len({len(draft.options) for draft, _ in told}) > 1:
        return False  # the same, of lists that differ in length: what the question is worth
    printed = [(draft, labels) for draft, labels in pairs if draft.answer and labels]
    differing = sum(1 for draft, labels in printed if draft.answer != labels)
    return differing <= 0.1 * max(len(printed), len(told))


_LEAST_LEFT = 0.3


def find_shown_keys(drafts: Sequence[Draft]) -> tuple[list[Draft], list[Draft]]:
    """Questions whose shown keys could not be settled, and single ones that show theirs."""
    asked = [draft for draft in drafts if len(draft.options) > 1]
    held: dict[object, list[tuple[Draft, tuple[str, ...]]]] = defaultdict(list)
    for draft in asked if len(asked) >= MIN_QUESTIONS else ():
        for affix, labels in _list_marked(draft).items():
            if len(labels) == 1 and not _is_plain(affix[1]) and _is_closed(affix[1]):
                held[affix].append((draft, tuple(labels)))
        for shape, slot in _list_slots(draft).items():
            if slot.kind == "letter" and shape[1].replace(_SLOT, "").strip():
                held[shape].append((draft, slot.said))
    left: dict[int, Draft] = {}
    for found in held.values():
        values = Counter(said for _, said in found)
        if (
            len(found) >= max(MIN_QUESTIONS, _LEAST_LEFT * len(asked))
            and max(values.values()) <= _MOST_ALIKE * len(found)
            and len({draft.stem for draft, _ in found}) == len(found)
        ):
            left |= {id(draft): draft for draft, _ in found}
    return [*left.values()], [draft for draft in asked if id(draft) not in left and _shows_key(draft)]


_HELD_KEY = re.compile(r"[（(\[【<{]\s*([^（()）\[\]【】<>{}]{1,60}?)\s*[)）\]】>}]")
_TICK = re.compile(r"[√✓✔✅☑◄★☆※]|<-|←|[（(\[【]\s*(?i:correct|right|answer|正确|答案|对)\s*[)）\]】]")


def _shows_key(draft: Draft) -> bool:
    """Whether a bracket of the stem holds the key of a question, or one option alone has a tick."""
    right = {*draft.answer, *(text for label, text in draft.options if label in draft.answer)}
    key = "".join(draft.answer).casefold()
    closing = [
        one for one in _HELD_KEY.finditer(draft.stem) if not draft.stem[one.end() :].strip(" ?？。.:：_")
    ]
    if any(one[1] in right or one[1].casefold() == key for one in closing):
        return True
    ticked = [
        text
        for _, text in draft.options
        if (one := _TICK.search(text)) and (one.start() == 0 or one.end() == len(text))
    ]
    return len(ticked) == 1


# --- marks at options


Affix = tuple[bool, str]


def _take_marks(group: Sequence[Draft]) -> bool:
    """Take what stands before or behind some options of most questions and not all of them."""
    places = Counter(map(_find_options, group))
    # what several questions share shows no key, however often it is offered
    asked = [draft for draft in group if len(draft.options) > 1 and places[_find_options(draft)] == 1]
    if len(asked) < MIN_QUESTIONS:
        return False
    step = -(-len(asked) // _SAMPLE)
    counts = Counter(
        affix for draft in asked[::step] for affix, labels in _list_marked(draft).items() if labels
    )
    least = max(2, 0.4 * len(asked[::step]))
    wanted = {affix for affix, count in counts.items() if count >= least}
    if not wanted:
        return False
    wanted |= {(not is_end, name) for is_end, name in wanted if not _is_plain(name)}
    marked = [_list_marked(draft, wanted) for draft in asked]
    for own in marked:
        for is_end, name in [*own]:
            if not _is_plain(name):  # a sign means the same before and behind
                both = {*own[is_end, name], *own.get((not is_end, name), ())}
                own[False, name] = own[True, name] = sorted(both)
    found = {affix: [own.get(affix, []) for own in marked] for affix in wanted}
    found = {
        affix: chosen
        for affix, chosen in found.items()
        if _may_mark(affix, chosen, asked, _is_paired(affix, found, asked))
    }
    ordered = sorted(found, key=lambda affix: _rank(affix, found[affix]))
    for affix in ordered:
        if take_choices(asked, found[affix]):
            _cut_marks(asked, found[affix], affix)
            return True
    return False


def _find_options(draft: Draft) -> int:
    """Where the options of a question begin; of each without any another number."""
    return next((piece.start for _, pieces in draft.option_pieces for piece in pieces), -id(draft))


def _rank(affix: Affix, chosen: Chosen) -> tuple[object, ...]:
    name = "".join(affix[1].split())
    return (name in _SAYS_NOT, -sum(map(bool, chosen)), sum(map(len, chosen)), affix)


def _list_marked(draft: Draft, wanted: set[Affix] | None = None) -> dict[Affix, list[str]]:
    """The options that begin or end with each text, of those that not all do."""
    held: dict[Affix, list[str]] = {}
    for label, text in draft.options:
        affixes = _list_affixes(text)
        for affix in affixes if wanted is None else [one for one in affixes if one in wanted]:
            held.setdefault(affix, []).append(label)
    return {affix: labels for affix, labels in held.items() if len(labels) < len(draft.options)}


@once_a_paper
def _list_affixes(text: str) -> list[Affix]:
    """What a text begins with (False) and ends with (True), word by word, case folded."""
    found: list[Affix] = []
    if len(text) < 2:
        return found
    for one in [*_TOKEN.finditer(text[:_REACH])][:_TOKENS]:
        if text[one.end() :].strip() and not _JOINS.match(text, one.end()):
            found.append((False, text[: one.end()].strip().casefold()))
    tail = text[-_REACH:]
    lead = text[:-_REACH]
    for one in [*_TOKEN.finditer(tail)][-_TOKENS:]:
        name = tail[one.start() :].strip()
        is_joined = text[: len(lead) + one.start()][-1:].isalnum() and _HOLDS_WORD.search(name) is not None
        if (lead or tail[: one.start()].strip()) and not is_joined:
            found.append((True, name.casefold()))
    return found


# `Ca(OH)2`, `f(x)`: what touches a word in ASCII belongs to it
_JOINS, _HOLDS_WORD = re.compile(r"(?<=[A-Za-z0-9)\]])[A-Za-z0-9]"), re.compile(r"[A-Za-z0-9]")


Chosen = Sequence[Sequence[str]]


def _is_paired(affix: Affix, found: Mapping[Affix, Chosen], asked: Sequence[Draft]) -> bool:
    """Whether the options without a mark have another one, all of them."""
    told = [place for place, labels in enumerate(found[affix]) if labels]
    for other, chosen in found.items():
        if other[0] is affix[0] and not affix[1].startswith(other[1]):
            full = sum(
                1
                for place in told
                if len(chosen[place]) + len(found[affix][place]) == len(asked[place].options)
            )
            if full >= _LEAST_SINGLE * len(told) and not other[1].startswith(affix[1]):
                return True
    return False


def _may_mark(affix: Affix, chosen: Chosen, asked: Sequence[Draft], is_paired: bool) -> bool:
    name = affix[1]
    told = [labels for labels in chosen if labels]
    if not _is_closed(name) or _QUOTES.issuperset(name):
        return False
    rest = {
        text.casefold()
        for draft, labels in zip(asked, chosen, strict=True)
        for label, text in draft.options
        if label in labels
    }
    if len(rest) < _LEAST_OTHER * len(told):
        return False  # one option that comes again in every question
    if not _is_plain(name):
        return True
    if not is_paired and (
        len(told) < _LEAST_PLAIN or fmean(len(labels) == 1 for labels in told) < _LEAST_SINGLE
    ):
        return False
    if any(map(str.isalnum, name)):
        known = [
            (draft, labels) for draft, labels in zip(asked, chosen, strict=True) if draft.answer and labels
        ]
        is_known = len(known) >= MIN_QUESTIONS and all(draft.answer == [*labels] for draft, labels in known)
        # words alone must mark as good as every question
        is_word = all(one.isalnum() or one in _QUOTES for one in name) and len(told) < _LEAST_SINGLE * len(
            asked
        )
        if not (is_known or _SAYS_RIGHT.search(name) or (affix[0] and not is_word)):
            return False  # `a car`, `of the river`: only answers can tell that a word is a mark
        # words of the subject come elsewhere, too
        word = re.compile(
            rf"(?<![^\W\d_]){re.escape(name)}(?![^\W\d_])" if name.isascii() else re.escape(name)
        )
        inside = sum(len(word.findall(text.casefold())) for draft in asked for _, text in draft.options)
        return inside <= 1.1 * len(told)
    offered = [text for draft in asked for _, text in draft.options]
    quantities = sum(1 for text in offered if _QUANTITY.match(text.lstrip("".join(_PLAIN_SIGNS))))
    return quantities <= _MOST_QUANTITIES * len(offered)


_TAG = re.compile(r"</?[^\W\d_][^<>]*>")


def _is_plain(name: str) -> bool:
    """Whether a mark is made of words and of what sentences and sums are written with."""
    if _TAG.search(name) is not None:
        return False
    return all(
        one.isalnum() or one.isspace() or one in _PLAIN_SIGNS | _CONTENT_SIGNS | _QUOTES or "∀" <= one <= "⋿"
        for one in name
    )


def _is_closed(name: str) -> bool:
    """Whether every bracket in a mark closes there; doubled ones need not."""
    depth = 0
    for sign in name:
        depth += (sign in _OPENS) - (sign in _CLOSES)
        if depth < 0:
            break
    return depth == 0 or (len(set(name)) == 1 and len(name) > 1) or not any(one in "()（）[]" for one in name)


def _cut_marks(asked: Sequence[Draft], chosen: Chosen, affix: Affix) -> None:
    """Cut from options what the chosen ones alone begin and end with, and what all others do."""
    pairs = [(draft, set(labels)) for draft, labels in zip(asked, chosen, strict=True) if labels]
    right = [text for draft, own in pairs for label, text in draft.options if label in own]
    wrong = [text for draft, own in pairs for label, text in draft.options if label not in own]
    names = {
        (is_end, name): some is right
        for some, others in ((right, wrong), (wrong, right))
        for is_end in (False, True)
        if (name := _find_longest(some, others, is_end))
    }
    is_sign = not _is_plain(affix[1])
    if is_sign:
        names |= {(is_end, affix[1]): True for is_end in (True, False)}
    chosen_of = {id(draft): own for draft, own in pairs}
    for draft in asked:
        own = chosen_of.get(id(draft), set())
        is_all = is_sign and all(
            any(_cut(text, name, is_end) != text for (is_end, name), right in names.items() if right)
            for _, text in draft.options
        )
        if is_all and not draft.answer:
            draft.answer = [label for label, _ in draft.options]
            draft.notes.append("key_by_format")
        for (is_end, name), is_right in sorted(names.items(), key=lambda one: -len(one[0][1])):
            draft.options = [
                (label, _cut(text, name, is_end) if is_sign or (label in own) is is_right else text)
                for label, text in draft.options
            ]
        if are_truth_options([text for _, text in draft.options]):
            make_true_false(draft)


_MOST_OF_SOME, _MOST_OF_OTHERS = 0.9, 0.1


def _find_longest(some: Sequence[str], others: Sequence[str], is_end: bool) -> str:
    """The longest text that nearly all of some begin or end with, and hardly any other."""
    counts = Counter(name for text in some for at_end, name in _list_affixes(text) if at_end is is_end)
    held = Counter(name for text in others for at_end, name in _list_affixes(text) if at_end is is_end)
    names = [
        name
        for name, count in counts.items()
        if count >= _MOST_OF_SOME * len(some) and held[name] <= _MOST_OF_OTHERS * len(others)
    ]
    return max(names, key=len, default="")


def _cut(text: str, affix: str, is_end: bool) -> str:
    folded = text.casefold()
    if len(folded) != len(text):
        return text
    if is_end and folded.endswith(affix):
        return text[: len(text) - len(affix)].rstrip()
    return text[len(affix) :].lstrip() if not is_end and folded.startswith(affix) else text


# --- letters of options in stems and below options


@dataclass(frozen=True)
class _Slot:
    """What a place of a question names, where that text is, and whether it goes on a sentence."""

    said: tuple[str, ...]
    begin: int
    end: int
    kind: str = "letter"
    is_within: bool = False


_SLOT = "\ue0ff"
Shape = tuple[str, str]
_ENDS = "?？.。!！:：…)）_,，;；、]】”’"
# A key that goes on the sentence is one letter of every question, or what answers say: `the length of AB?` names none.
_MOST_WITHIN = 0.1
_WORTH = re.compile(POINT)
_MOST_BEHIND = 12


def _take_slots(group: Sequence[Draft]) -> bool:
    """Take what names an option (judges a statement) at one place of most stems or last options."""
    # the sentence of a passage begins with who says it: `A: Hello! __1__`
    choices = [
        draft
        for draft in group
        if len(draft.options) > 1 and f"__{draft.value}__" not in (draft.material or "")
    ]
    for asked in (choices, [draft for draft in group if not draft.options]):
        if len(asked) < MIN_QUESTIONS:
            continue
        step = -(-len(asked) // _SAMPLE)
        counts = Counter(shape for draft in asked[::step] for shape in _list_slots(draft))
        wanted = {shape for shape, count in counts.items() if count >= max(2, 0.4 * len(asked[::step]))}
        if not wanted:
            continue
        slots = [
            {shape: slot for shape, slot in _list_slots(draft).items() if shape in wanted} for draft in asked
        ]
        for shape in sorted(wanted, key=lambda one: (-sum(1 for own in slots if one in own), -len(one[1]))):
            told = [own.get(shape) for own in slots]
            if _names_keys(shape, asked, told):
                _cut_slots(shape, asked, told)
                return True
    return False


def _names_keys(shape: Shape, asked: Sequence[Draft], told: Sequence[_Slot | None]) -> bool:
    found = [(draft, slot) for draft, slot in zip(asked, told, strict=True) if slot is not None]
    values = {slot.said for _, slot in found}
    known = [(draft, slot) for draft, slot in found if draft.answer]
    agreeing = sum(1 for draft, slot in known if draft.answer == list(slot.said))
    if agreeing < 0.9 * len(known):
        return False
    if len(known) >= MIN_QUESTIONS and len(found) >= 0.5 * len(asked) and len(values) > 1:
        return True
    letters = ["".join(slot.said) for _, slot in found]
    if len(letters[0]) == 1 and letters == [chr(ord(letters[0]) + by) for by in range(len(letters))]:
        return False  # `figure (a)`, `figure (b)`: what is counted
    open_ones = sum(1 for draft in asked if not draft.answer)
    is_told = sum(1 for draft, _ in found if not draft.answer)
    bare = shape[1].replace(_SLOT, "").strip()
    kinds = {slot.kind for _, slot in found}
    if sum(slot.is_within for _, slot in found) > _MOST_WITHIN * len(found) and (
        shape[0] != "end"
        or kinds != {"letter"}
        or any(len(slot.said) > 1 for _, slot in found)
        or any(one not in _PLAIN_SIGNS or one in "?？" for one in bare)
        or not 0 < is_told == open_ones
    ):
        return False
    if not bare:
        # nothing but the key: then every question that has no answer has one there
        told_all = {*values, *(tuple(draft.answer) for draft in asked if draft.answer)}
        return kinds == {"letter"} and 0 < is_told == open_ones and len(told_all) > 1
    if len(values) < 2:
        return False
    if kinds != {"letter"} and not bare.strip(_OPENS + _CLOSES) and "text" not in kinds:
        if kinds & {"number", "said"}:
            return False
        least, share = MIN_QUESTIONS, 0.95
    elif "number" in kinds:
        if _WORTH.search(bare) is not None or len(values) < MIN_QUESTIONS:
            return False
        least, share = _LEAST_PLAIN, 0.9
    else:
        least, share = MIN_QUESTIONS, MIN_SHARE
    return len(found) >= least and is_told >= share * max(1, open_ones) and len(found) >= 0.5 * len(asked)


def _cut_slots(shape: Shape, asked: Sequence[Draft], told: Sequence[_Slot | None]) -> None:
    held = [draft.option_pieces for draft, slot in zip(asked, told, strict=True) if slot is not None]
    # `水流推动水车，故选 B` on lines of its own below every last option, where no other option has a second line
    below = {own[-1][1][1].text for own in held if len(own) > 1 and len(own[-1][1]) > 1}
    explains = len(below) == len(held) and all(len(pieces) == 1 for own in held for _, pieces in own[:-1])
    reasons: list[Draft] = []
    for draft, slot in zip(asked, told, strict=True):
        if slot is None:
            continue
        place = shape[0]
        text = _read_place(draft, place)
        kept = text[: slot.begin].rstrip() if slot.begin else text[slot.end :].lstrip()
        asks = _BRACKETED.match(text, slot.begin) if slot.begin else None
        if asks is not None and kept[-1:] not in _STOPS:
            kept += asks[1] + asks[2] + asks[3]  # `the place (b).` is asked for
        if place == "remark":
            draft.explanation = None
            draft.notes.remove("text_after_options")
        elif place == "below":
            pieces = draft.option_pieces[-1][1] if draft.option_pieces else []
            own = pieces[0].text.strip() if pieces else ""
            if explains and own and kept.startswith(own):
                draft.options[-1] = (draft.options[-1][0], own)
                said = kept[len(own) :].strip()
                if not draft.explanation and said:
                    draft.explanation = said
                    reasons.append(draft)
            else:
                draft.options[-1] = (draft.options[-1][0], kept)
        else:
            draft.stem = kept
        if not draft.answer:
            draft.answer = list(slot.said)
            if not draft.options and slot.kind != "said":
                draft.question_type = "true_false"
    if len({draft.explanation for draft in reasons}) == 1:
        for draft in reasons:
            draft.explanation = None  # the word before every key


_BRACKETED = re.compile(r"([（(])[^（()）]+([)）])\s*([。.？?!！]?)\s*$")
_STOPS = ("", *"?？。.!！:：…")


def _read_place(draft: Draft, place: str) -> str:
    if place == "remark":
        return (draft.explanation or "") if "text_after_options" in draft.notes else ""
    return draft.options[-1][1] if place == "below" else draft.stem


def _list_slots(draft: Draft) -> dict[Shape, _Slot]:
    """Where the ends of a stem, and what stands below the options, name one of them."""
    found: dict[Shape, _Slot] = {}
    for place in ("end", "below", "remark")[: 3 if draft.options else 1]:
        text = _read_place(draft, place)
        first_looked = max(0, len(text) - _REACH) if draft.options else text.rfind("\n") + 1
        for said, first, last, kind in _list_named(draft, text, first_looked):
            if len(text) - last > _MOST_BEHIND:
                continue
            begins = [0] if place == "remark" else _list_begins(text, first, is_below=place == "below")
            for begin in begins:
                words = f"{text[begin:first]}{_SLOT}{text[last:]}"
                is_within = place != "remark" and _goes_on(text, begin, text[begin:first] + text[last:])
                found[place, " ".join(words.casefold().split())] = _Slot(
                    said, begin, len(text), kind, is_within
                )
    for said, first, last, kind in _list_named(draft, draft.stem[: _REACH // 2], 0):
        lead = draft.stem[:first]
        behind = _BEHIND.match(draft.stem, last)
        if behind is not None and (behind[0].strip() or lead.strip()) and not any(map(str.isalnum, lead)):
            words = f"{lead}{_SLOT}{behind[0]}"
            if draft.stem[behind.end() :].strip():
                found["start", "".join(words.split())] = _Slot(said, 0, behind.end(), kind)
    return found


def _goes_on(text: str, begin: int, words: str) -> bool:
    """Whether what begins there goes on the sentence before it: no end, gap or sign parts them."""
    before = text[:begin].rstrip()
    gap = text[len(before) : begin]
    if not before or before[-1] in _ENDS or "\n" in gap or len(gap) > 1:
        return False
    return all(one.isalnum() or one.isspace() or one in _PLAIN_SIGNS for one in words)


# The tokens that may name options: a digit, or a few letters of one case.
_KEY_TOKEN = re.compile(
    r"(?<![^\W_\u3040-\u30ff\u3400-\u9fff])(?:\d|[A-Z0-9]{1,6}|[a-z0-9]{1,6})(?![^\W_\u3040-\u30ff\u3400-\u9fff])"
)
_JUDGED = re.compile(
    rf"(?<![^\W\d_\u3400-\u9fff])(?:(?P<truth>{truth_word()}|[TF](?![^\W_]))(?:\s*[:：]\s*$)?|[A-J]{{1,6}}\s*[:：.．、]\s*(?P<said>[^\n]+)$)"
)
_BEHIND = re.compile(r"[^\w\s“\"‘《«<$\\¿¡]{0,3}\s*")


def _list_begins(text: str, first: int, *, is_below: bool) -> Iterator[int]:
    """Where a mark whose key begins at `first` may begin itself: nearest first."""
    if not text[:first].strip():
        return
    yield first
    tokens = list(_TOKEN.finditer(text[max(0, first - _REACH) : first]))[-_TOKENS:]
    shift = max(0, first - _REACH)
    for one in reversed(tokens):
        begin = shift + one.start()
        before = text[:begin].rstrip()
        if not before or "\n" in text[begin:first].strip():
            return
        is_sign = not one[0][0].isalnum() and one[0][0] not in _ENDS
        if one[0][0] in "?？。!！" or (one[0][0] in "_)）" and not is_below):
            return
        if is_sign or is_below or before[-1] in _ENDS or text[len(before) : begin].count("\n"):
            yield begin


def _list_named(draft: Draft, text: str, begin: int) -> Iterator[tuple[tuple[str, ...], int, int, str]]:
    """What in a text names options of a question (or judges it), where it stands, and how."""
    labels = "".join(label for label, _ in draft.options)
    if not draft.options:
        # `-对:`, `-D:a lighthouse`: of a question without options the answer is what the key is printed to say
        for one in _JUDGED.finditer(text, begin):
            truth = read_truth(one["truth"]) if one["truth"] else None
            said = truth or (one["said"] or "").strip()
            if said:
                yield (said,), one.start(), one.end(), "letter" if truth else "said"
    for one in _KEY_TOKEN.finditer(text[begin:]) if draft.options else ():
        token, first, last = one[0], begin + one.start(), begin + one.end()
        if token.isdecimal():
            if len(token) == 1 and 0 < int(token) <= len(labels):
                yield (labels[int(token) - 1],), first, last, "number"
        elif len(token) <= len(labels):
            letters = read_key(token, labels)
            if letters is not None:
                yield tuple(letters), first, last, "letter" if token.isupper() else "small"
    for label, option in draft.options:
        at = text.rfind(option) if len(option) > 1 else -1
        if at > begin // 2 and text != option:
            yield (label,), at, at + len(option), "text"
