"""Choice questions: their options, and their keys as letters, numbers or texts of options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.named_pictures import list_below, speaks_of_figure
from tasks.ingest.layout.options import OptionSplit, option_text, strip_separators
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.readers.extraction import IMAGE
from tasks.ingest.words.answers import (
    cut_key_lead,
    is_between_keys,
    read_bare_key,
    read_bare_truth,
    read_bracketed_key,
    read_judgement,
    read_key,
    read_trailing_key,
    read_truth,
    split_alternatives,
)
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.grammar import truth_word
from tasks.ingest.words.kinds import are_truth_options
from tasks.ingest.words.points import WORTH

_KEY_PLACE = re.compile(r"\s*[（(［\[]\s*[)）］\]]\s*$")


def fill_choice(draft: Draft, split: OptionSplit, language: str | None) -> None:
    """Set the options of a draft; a bare key after the last of them is kept apart."""
    draft.notes.extend(split.notes)
    last_by_place = max(split.options, key=_find_start)
    kept, trailing = _cut_trailing(last_by_place[1], "".join([label for label, _ in split.options]))
    if trailing:
        split.options[:] = [
            (label, kept if label == last_by_place[0] else pieces) for label, pieces in split.options
        ]
    draft.unmarked = trailing
    # a picture on a line of its own behind the last option belongs to the question, and so does the only one beside others
    showing = [pieces for _, pieces in split.options if any(IMAGE in piece.text for piece in pieces)]
    beside = showing[0] if len(showing) == 1 else kept
    pictures = [beside[1 + at] for at in list_below([piece.text.strip() for piece in beside[1:]])]
    is_own = not option_text([piece for piece in beside if piece not in pictures]).strip()
    is_tail = bool(pictures) and (
        beside[-1] in pictures or (beside[1] in pictures and speaks_of_figure(join_pieces(split.stem)))
    )
    is_alike = 1 < len(showing) == len(split.options) and len({_count_pictures(one) for one in showing}) == 1
    if is_tail and not is_own and not is_alike:
        split.stem.extend(pictures)
        draft.has_picture_below = beside is kept
        split.options[:] = [
            # an option that is nothing but a picture keeps it
            (label, [piece for piece in pieces if piece not in pictures] or pieces)
            for label, pieces in split.options
        ]
    texts = strip_separators([clean_text(option_text(pieces), language) for _, pieces in split.options])
    draft.options = [(label, text) for (label, _), text in zip(split.options, texts, strict=True)]
    place = [label for label, _ in split.options].index(last_by_place[0])
    # the closing bracket first: few options have one
    bare = _KEY_PLACE.sub("", texts[place]) if texts[place][-1:] in ")）］]" else texts[place]
    if bare != texts[place] and bare and not any(_KEY_PLACE.search(text) for text in texts[:place]):
        draft.options[place] = (
            last_by_place[0],
            bare,
        )  # `D. 自身调节   （   ）`: where the letter is to be written
    draft.starred = sorted(split.starred)
    draft.option_pieces = split.options


def _count_pictures(pieces: Sequence[Piece]) -> int:
    return sum(piece.text.count(IMAGE) for piece in pieces)


# So many options show how a paper prints them, and at most so few of them run over paragraphs.
_LEAST_INNER, _MOST_RUNNING = 12, 0.02


# `__6__`, `__(6)__`, `（6）`, `[6] ____`: a gap of a passage, with its number
_GAP = re.compile(
    r"_+\s*[（(\[【]?\s*(\d{1,3})\s*[)）\]】]?\s*_+|[（(\[【]\s*(\d{1,3})\s*[)）\]】](?:\s*_+)?"
)
_SENTENCE_END = re.compile(r"[.!?](?=[\s\"'”’])[\"'”’]*|[。！？]|\n")
_PLACES = re.compile(r"[\s()（）_]*")
_LETTER, _LEAST_SAID = re.compile(r"[^\W\d_]"), 4


def ask_in_passage(drafts: Sequence[Draft]) -> None:
    """Let questions that print only options ask by the sentence of their passage with the gap."""
    silent: dict[str, list[Draft]] = {}
    for draft in drafts:
        if draft.material and draft.options and _PLACES.fullmatch(draft.stem):
            silent.setdefault(draft.material, []).append(draft)
    for passage, group in silent.items():
        gaps = [(int(gap[1] or gap[2]), gap) for gap in _GAP.finditer(passage)]
        counted = Counter(number for number, _ in gaps)
        if any(draft.value is None or counted[draft.value] != 1 for draft in group):
            continue
        by_number = dict(gaps)
        ends = [0, *(end.end() for end in _SENTENCE_END.finditer(passage)), len(passage)]
        for draft in group:
            gap = by_number[draft.value or 0]
            end = min(end for end in ends if end >= gap.end())
            for begin in sorted((end for end in ends if end <= gap.start()), reverse=True):
                # where the gap stands for a whole sentence, what is said before it shows which one
                if len(_LETTER.findall(_GAP.sub("", passage[begin:end]))) >= _LEAST_SAID:
                    break
            draft.stem = f"{passage[begin : gap.start()]}______{passage[gap.end() : end]}".strip()


def cut_after_options(drafts: Sequence[Draft], language: str | None) -> None:
    """Take a further paragraph out of the last option, where no other option has any."""
    asked = [draft for draft in drafts if len(draft.option_pieces) > 1]
    last = [
        max(range(len(one.option_pieces)), key=lambda at: _find_start(one.option_pieces[at])) for one in asked
    ]
    ends = [[_find_paragraph(pieces) for _, pieces in draft.option_pieces] for draft in asked]
    inner = [end for own, place in zip(ends, last, strict=True) for at, end in enumerate(own) if at != place]
    if len(inner) < _LEAST_INNER or sum(1 for end in inner if end) > _MOST_RUNNING * len(inner):
        return
    for draft, own, place in zip(asked, ends, last, strict=True):
        label, pieces = draft.option_pieces[place]
        text = clean_text(option_text(pieces[: own[place]]), language) if own[place] else ""
        if not text or (label, text) not in [(one, said[: len(text)]) for one, said in draft.options]:
            continue
        draft.options = [(one, text if one == label else said) for one, said in draft.options]
        draft.option_pieces[place] = (label, pieces[: own[place]])
        rest = clean_text(join_pieces(pieces[own[place] :]), language).strip()
        draft.explanation = f"{draft.explanation}\n{rest}" if draft.explanation else rest
        draft.notes.append("text_after_options")


# `选A`, `B，必须立即清理`, `C 绿色`, `c`: what answers a question of which most others are answered so
_KEY_BELOW = re.compile(
    r"(?:应?选|答案?[:：]?)?\s*(?P<key>[A-H]{1,4}|[a-h])(?P<rest>[，；。、]\s*\S.*|\s.*|)"
)
_LEAST_BELOW, _SHARE_BELOW = 3, 0.6


def take_keys_below(drafts: Sequence[Draft]) -> None:
    """Take the keys that stand below the options of most questions, alone or before a reason."""
    offered = [draft for draft in drafts if draft.options]
    open_ones = [draft for draft in offered if not draft.answer and "text_after_options" in draft.notes]
    found: list[tuple[Draft, re.Match[str]]] = []
    for draft in open_ones:
        match = _KEY_BELOW.fullmatch(draft.explanation or "")
        texts = dict(draft.options)
        if match is None or not texts.keys() >= {*match["key"].upper()}:
            continue
        # `A stone is not alive` is a sentence, `C 绿色` names option C again
        if not match["rest"][:1].isspace() or match["rest"].strip() == texts[match["key"][0].upper()]:
            found.append((draft, match))
    answered = sum(1 for draft in offered if draft.answer)
    if len(found) < _LEAST_BELOW or len(found) + answered < _SHARE_BELOW * len(offered):
        return
    if len({match["key"].upper() for _, match in found}) < 2:  # `A …` thrice is rather a sentence
        return
    for draft, match in found:
        draft.answer = sorted({*match["key"].upper()})
        draft.explanation = match["rest"].lstrip(" ,，.。、:：;；)）\n\t") or None
        draft.notes.remove("text_after_options")


def _find_paragraph(pieces: Sequence[Piece]) -> int:
    """Where the second paragraph of an option begins among its lines; 0 where it has one."""
    return next(
        (
            at
            for at in range(1, len(pieces))
            if not pieces[at - 1].wraps
            and pieces[at - 1].text.strip()
            and not (_UNFINISHED.search(pieces[at - 1].text) and _CONTINUES.match(pieces[at].text))
        ),
        0,
    )


# `None` above `of the above`: a sentence begins with a capital, what has no stop goes on; a reason may begin small
_UNFINISHED = re.compile(r"[\w,)’'\"-]\s*$")
_CONTINUES = re.compile(r"\s*(?!(?:because|since|as|so|due|for|i\.e|e\.g)\b)[a-zà-ÿ]{2,}(?![\w(=:.])")


def _find_start(option: tuple[str, list[Piece]]) -> int:
    return option[1][0].start if option[1] else -1


def _cut_trailing(pieces: list[Piece], labels: str) -> tuple[list[Piece], list[Piece]]:
    """Separate a bare key behind the last option from that option's own (wrapped) lines."""
    for index, piece in enumerate(pieces):
        if index and (
            read_bare_key(piece.text, labels) is not None or read_bare_truth(piece.text) is not None
        ):
            return pieces[:index], pieces[index:]
    return pieces, []


def settle_choice(draft: Draft, answer_text: str, language: str | None, raw_stem: str) -> None:
    """Set type and key by the bracket, the answer, a key after the options, or stars."""
    labels = "".join(label for label, _ in draft.options)
    draft.question_type = "multiple_choice"
    bracketed = read_bracketed_key(draft.stem, labels)
    if bracketed is not None:
        draft.answer, draft.stem = bracketed.answer, clean_text(bracketed.text, language)
    if answer_text:
        set_choice_answer(draft, answer_text)
    if not draft.answer and draft.unmarked:
        letters = read_bare_key(draft.unmarked[0].text, labels)
        if letters is not None:
            draft.answer = letters
            rest = join_pieces(draft.unmarked[1:]).strip()
            if rest:
                draft.explanation = draft.explanation or clean_text(rest, language)
    if not draft.answer:
        trailing = read_trailing_key(raw_stem, labels)
        if trailing is not None and not _names_unit(trailing.text, trailing.answer, draft.options):
            draft.answer, draft.stem = trailing.answer, clean_text(trailing.text, language)
    if not draft.answer and draft.starred:
        draft.answer = list(draft.starred)
    elif draft.starred and draft.starred != draft.answer:
        draft.notes.append("keys_disagree")
    draft.unmarked = []
    if are_truth_options([text for _, text in draft.options]):
        make_true_false(draft)


_NUMERAL = re.compile(r"[-−]?\d[\d.,×^/\s]*")


def _names_unit(stem: str, letters: Sequence[str], options: Sequence[tuple[str, str]]) -> bool:
    """Whether `则电流为（ ）A` ends in a unit of the numbers that are offered."""
    return (
        stem.endswith((")", "）"))
        and [*letters] in (["A"], ["C"], ["F"], ["G"], ["H"], ["J"])
        and all(_NUMERAL.fullmatch(text.strip()) for _, text in options)
    )


def make_true_false(draft: Draft) -> None:
    """Turn the options 正确/错误 and their key into a true/false question."""
    truths = {label: read_truth(text) for label, text in draft.options}
    answers = [truths.get(label) or read_truth(label) for label in draft.answer]
    draft.question_type = "true_false"
    draft.answer = [answer for answer in answers[:1] if answer]
    draft.options = []


# `'False'.`, as Moodle says it
_QUOTED_TRUTH = re.compile(rf"^['\"‘“]({truth_word()})['\"’”]\.?$")


def set_choice_answer(draft: Draft, text: str) -> None:
    """Set the key of a choice question from a printed answer: letters, or the text of an option."""
    labels = "".join(label for label, _ in draft.options)
    text = _QUOTED_TRUTH.sub(r"\1", text.replace("┋", "；").strip())  # as 问卷星 parts several
    text = _cut_named(text, draft.options)
    text, alternative = split_alternatives(text)
    if alternative is not None:
        draft.notes.append("alternative_key_printed")
    first, _, rest = text.partition("\n")
    letters = _read_whole(first, draft.options) or read_key(first, labels)
    if letters is None and len(first) > 2:
        # `A mill wheel` is the text of an option, not option A with a remark
        letters = _read_named(first, draft.options)
    if letters is None:
        match = re.match(
            rf"\s*[（(]?\s*([{labels}](?:[\s,，、;；]*[{labels}])*|[{labels.lower()}](?=\s*[.)）=:：;；]|\s+[A-Z$€£]))\s*[)）]?(?:\s*[.．、。:：,，;；=→–—-]\s*|\s+(?=\S)|(?=[（(])|$)(.*)",
            first,
        )
        if match:
            letters = read_key(match.group(1), labels)
            rest = (match.group(2) + "\n" + rest).strip()
            rest = _drop_echo(rest, draft.options, letters or [])
        more = _read_all_named(first, draft.options) if match else []
        if len(more) > 1 and letters and letters[0] in more:
            letters, rest = more, text.partition("\n")[2]
    if letters is None:
        folded = re.sub(r"\s+|[。.；;]$", "", first)
        letters = [
            label for label, option in draft.options if re.sub(r"\s+|[。.；;]$", "", option) == folded
        ] or None
    if letters is None:
        letters = _read_ordinals(first, labels)
    if letters is None and (reason := _ORDINAL_REASON.match(first)) is not None:
        letters = _read_ordinals(reason.group(1), labels)
        rest = f"{reason.group(2)}\n{rest}".strip() if letters else rest
    if letters is None and len(draft.options) == 2:
        truth, remark = read_judgement(first)  # `False → it was a diptych`
        if truth is not None:
            letters = [label for label, option in draft.options if read_truth(option) == truth] or None
            rest = f"{remark or ''}\n{rest}" if letters else rest
    if letters is None and CHOOSES_ALL.fullmatch(first):
        closing = [label for label, option in draft.options if CHOOSES_ALL.fullmatch(option)]
        letters = closing[:1] or [label for label, _ in draft.options]
    if letters is None and (chosen := _CHOSEN_LAST.search(text)) is not None:
        letters = read_key(chosen[1], labels)
        rest = text if letters else rest
    if letters is None:
        stray = read_key(first)
        draft.notes.append("key_not_among_options" if stray is not None else "answer_unreadable")
        if stray is None and text:
            draft.explanation = draft.explanation or text
        return
    draft.answer = letters
    order = _read_order(first, labels)
    if order:
        draft.answer, rest = [order], text.partition("\n")[2]
        draft.notes.append(IN_ORDER)
    rest = rest.strip()
    if rest:
        draft.explanation = f"{rest}\n{draft.explanation}" if draft.explanation else rest


# `全选`: all options, or the one that says so
CHOOSES_ALL = re.compile(
    r"\s*(?:(?:以上)?(?:全选|全部(?:都?选|正确|选项)?|都选|都是|都对|皆是)|(?i:all(?: (?:of )?(?:the above|them|these))?(?: options)?(?: are correct)?))\s*[.。]?\s*"
)
# `标准托盘长1200毫米，故选C。`: the reason, and what is to be chosen for it
_CHOSEN_LAST = re.compile(
    r"(?:(?<![不别勿非误错])(?<!不[能应可该])选(?:择|项为|项是)?|答案(?:为|是|选)?|(?i:(?:answer|option|choice) is|(?:so|hence|thus|therefore),?(?: the)? (?:answer|option|choice)))\s*[:：]?\s*[（(]?([A-J](?:[、,，]?[A-J]){0,5}|(?<=[(（])[a-j](?=[)）]))[)）]?\s*项?[.。．]?\s*$"
)


# what concludes a reason: `故选C。`, `因此本题答案为B。`, `So the answer is B.`; no `学生容易选B`
_CONCLUDED = re.compile(
    r"(?:(?:故|所以|因此|因而|综上(?:所述)?)[，,：:]?[^。，,；;A-Z不误错会常易学人]{0,8}(?:选(?:择|项为|项是)?|答案(?:为|是|选)?)"
    r"|(?:^|[。，,；;\s])(?:本题|正确|参考|标准)*答案(?:为|是|选)"
    r"|(?i:(?:\b(?:so|hence|thus|therefore),?(?: the)?(?: correct| right)? (?:answer|option|choice)(?: is)?"
    r"|(?:^|[.;]\s+)(?:the )?(?:correct |right )?(?:answer|option|choice) is)\b))"
    r"\s*+[:：]?\s*+[（(]?([A-J](?:[、,，]?[A-J]){0,5})[)）]?\s*项?[.。．]?\s*$"
)


def take_chosen(drafts: Sequence[Draft]) -> None:
    """Let what concludes an explanation answer the choice that has no other answer."""
    for draft in drafts:
        if draft.options and draft.explanation and not draft.answer:
            chosen = {
                found[1] for line in draft.explanation.split("\n") if (found := _CONCLUDED.search(line))
            }
            labels = "".join(label for label, _ in draft.options)
            draft.answer = (read_key(chosen.pop(), labels) or []) if len(chosen) == 1 else []


# So many questions must be answered by one of their lines, and so many lines at most are offered.
_LEAST_PLAIN, _MOST_PLAIN, _SHARE_PLAIN = 4, 6, 0.8
_LABELS = "ABCDEF"


def offer_plain(drafts: Sequence[Draft]) -> None:
    """Let lines without labels offer answers, where nearly every answer is one of as many."""
    free = [draft for draft in drafts if not draft.options and len(draft.answer) == 1]
    lines = [[_fold_option(line) for line in draft.stem.split("\n")[1:]] for draft in free]
    said = [
        len(own)
        for draft, own in zip(free, lines, strict=True)
        if own.count(_fold_option(draft.answer[0])) == 1
    ]
    count, times = Counter(said).most_common(1)[0] if said else (0, 0)
    if not 1 < count <= _MOST_PLAIN or times < max(_LEAST_PLAIN, _SHARE_PLAIN * len(drafts)):
        return
    for draft, own in zip(free, lines, strict=True):
        answer = _fold_option(draft.answer[0])
        if own[-count:].count(answer) == 1:
            draft.stem, *offered = draft.stem.rsplit("\n", count)
            draft.question_type = "multiple_choice"
            draft.options = list(zip(_LABELS, offered, strict=False))
            draft.answer = [_LABELS[own[-count:].index(answer)]]


# So many questions must show a badge, of so many words at most.
_LEAST_BADGES, _LONGEST_BADGE = 5, 3


def cut_badges(drafts: Sequence[Draft]) -> None:
    """Cut what a platform prints after the right options only: `Spot instances Most Voted`.

    All keyed options end with it, no other does, and what stands before it differs: five right answers
    `All of the above` end alike, too. Where it is asked for, or the other options end alike as well, it is said: `Accra Ghana`
    beside `Cairo Egypt`.
    """
    keyed = [draft for draft in drafts if 0 < len(draft.answer) < len(draft.options)]
    right = [text.split() for draft in keyed for label, text in draft.options if label in draft.answer]
    wrong = [text.split() for draft in keyed for label, text in draft.options if label not in draft.answer]
    endings = Counter(words[-1] for words in wrong if words)
    if min(len(keyed), len(right)) < _LEAST_BADGES or max(endings.values(), default=0) * 2 > len(wrong):
        return
    for count in range(_LONGEST_BADGE, 0, -1):
        badge = right[0][-count:]
        rests = {" ".join(words[:-count]) for words in right if words[-count:] == badge}
        if (
            "" not in rests
            # `3 cm`: a unit is no badge
            and not badge[0][0].islower()
            and len(rests) == len(right)
            and not any(badge[-1].casefold() in draft.stem.casefold() for draft in keyed)
            and not any(words[-count:] == badge for words in wrong)
        ):
            for draft in keyed:
                draft.options = [
                    (label, text.rsplit(None, count)[0] if label in draft.answer else text)
                    for label, text in draft.options
                ]
            return


# `The oldest (B)`: the text of an option before its letter
_LETTER_BEHIND = re.compile(r"[（(\[]\s*([A-Ja-j])\s*[)）\]]\s*[.。]?$")


def _cut_named(text: str, options: Sequence[tuple[str, str]]) -> str:
    """The letter behind the text of its option, or the key behind words that choose."""
    behind = _LETTER_BEHIND.search(text)
    if behind is not None and _read_named(text[: behind.start()], options) == [behind[1].upper()]:
        return behind[1].upper()
    return text if _read_named(text.partition("\n")[0], options) else cut_key_lead(text)


IN_ORDER = "key_gives_order"


def _read_order(text: str, labels: str) -> str | None:
    """`BAC`, `③①②`: all labels of three options or more in another order; else None."""
    folded = re.sub(r"[\s,，、;；.。→>–-]+", "", text.translate(_CIRCLED)).upper()
    is_order = len(labels) > 2 and sorted(folded) == sorted(labels) and folded != labels
    return folded if is_order else None


_CIRCLED = {0x2460 + place: letter for place, letter in enumerate("ABCDEFGHIJ")}


def settle_orders(drafts: Sequence[Draft]) -> None:
    """Let questions whose keys say an order ask to put all below them in order.

    Where a section asks for several options, `ACB` is but `ABC` in haste.
    """
    sections = {draft.section for draft in drafts if IN_ORDER in draft.notes}
    several = {
        draft.section
        for draft in drafts
        if 1 < len(draft.answer) < len(draft.options) or (draft.fine and draft.fine.name == "multiple_answer")
    }
    for draft in drafts:
        if draft.section not in sections or not draft.options:
            continue
        if draft.section in several:
            if IN_ORDER in draft.notes:
                draft.notes.remove(IN_ORDER)
                draft.answer = sorted("".join(draft.answer))
            continue
        is_whole = draft.answer == [label for label, _ in draft.options] and len(draft.answer) > 2
        if not (is_whole or IN_ORDER in draft.notes):
            continue
        draft.stem = "\n".join([draft.stem, *(f"{label}. {text}" for label, text in draft.options)]).strip()
        draft.question_type, draft.options, draft.option_pieces = "short_answer", [], []
        draft.answer = ["".join(draft.answer)]
        draft.notes = [note for note in draft.notes if note != IN_ORDER]


# `a) the lamp`, `□ b) the mill`: a line that may be an option or a part
_LETTERED = re.compile(r"\s*[□☐○◯]?\s*[（(]?\s*(?P<letter>[a-j])\s*[)）.．]\s*(?=\S)")
_NEXT_PART = re.compile(r"(?:^|\s)[（(]?[b-j][)）]\s*\S")
_LETTER_KEY = re.compile(r"\s*[（(]?\s*([A-Ja-j])\s*(?:[)）.．:：]|$)")


def find_lettered(draft: Draft, key: str) -> int | None:
    """The line from which on all lines of a stem are a), b), c); None where no key is one."""
    named = _LETTER_KEY.match(key)
    if named is None or draft.options or _NEXT_PART.search(key, named.end()) is not None:
        return None  # `a) 5  b) 7` answers its parts
    lines = draft.stem.split("\n")
    first = next((at for at, line in enumerate(lines) if _LETTERED.match(line)), 0)
    letters = "".join(mark["letter"] for line in lines[first:] if (mark := _LETTERED.match(line)))
    is_list = len(letters) > 1 and "abcdefghij".startswith(letters)
    return first if first and is_list and named[1].lower() in letters else None


def offer_lettered(drafts: Sequence[Draft]) -> None:
    """Let questions whose keys name one of their lines, `a) …`, offer these lines."""
    found = {
        place: first
        for place, draft in enumerate(drafts)
        if len(draft.answer) == 1
        and draft.question_type in ("short_answer", "essay")
        and (first := find_lettered(draft, draft.answer[0])) is not None
    }
    for place, first in found.items() if len(found) > 1 else ():
        draft = drafts[place]
        lines = draft.stem.split("\n")
        draft.stem = "\n".join(lines[:first])
        for line in lines[first:]:
            mark = _LETTERED.match(line)
            if mark is not None:
                draft.options.append((mark["letter"].upper(), line[mark.end() :].strip()))
            else:
                label, text = draft.options[-1]
                draft.options[-1] = (label, f"{text} {line.strip()}")
        draft.question_type = "multiple_choice"
        set_choice_answer(draft, draft.answer.pop())


_WORTH = re.compile(rf"\s*{WORTH}\s*")


def _drop_echo(rest: str, options: Sequence[tuple[str, str]], letters: Sequence[str]) -> str:
    """What stands after a key, without the chosen options again (`C:a lighthouse;`) and points."""
    first, *below = [line for line in rest.split("\n") if not _WORTH.fullmatch(line)] or [""]
    chosen = [(label, re.sub(r"\W+", "", text)) for label, text in options if label in letters]
    said = re.sub(r"\W+", "", first)
    labelled = "".join(label + text for label, text in chosen)
    echoes = ("".join(text for _, text in chosen), labelled, labelled[1:])
    return "\n".join(below if said in echoes else [first, *below]).strip()


_ORDINALS = re.compile(
    r"\s*[（(]?\s*\d{1,2}(?:\s*[,，、;；&/]\s*\d{1,2}|\s+and\s+\d{1,2})*\s*[)）]?\s*[.。]?\s*"
)
# `2 - A fast pulse may point to bleeding.`: the second option, and why
_ORDINAL_REASON = re.compile(r"\s*[（(]?(\d)[)）]?\s*(?:[-–—:：]\s+|[.．]\s+(?=[A-Z\u4e00-\u9fff]))(\S.*)")


_ROMAN = ("i", "ii", "iii", "iv", "v", "vi")


def _read_ordinals(text: str, labels: str) -> list[str] | None:
    """Read `2` or `(ii)` as the second option; None where a number has no option."""
    roman = text.strip(" ().（）").casefold()
    text = str(_ROMAN.index(roman) + 1) if roman in _ROMAN else text
    if not _ORDINALS.fullmatch(text):
        return None
    places = [int(number) for number in re.findall(r"\d+", text)]
    if not all(0 < place <= len(labels) for place in places) or len(set(places)) < len(places):
        return None
    return sorted(labels[place - 1] for place in places)


def _read_named(text: str, options: Sequence[tuple[str, str]]) -> list[str] | None:
    """Read an answer printed as the text of options; None where none fits."""
    wanted = _fold_option(text)
    if not wanted:
        return None
    folded = [(label, _fold_option(option)) for label, option in options]
    equal = [label for label, option in folded if option == wanted]
    if equal:
        return equal[:1]
    found: list[tuple[int, str, str]] = []
    for label, option in folded:
        place = wanted.find(option) if option else -1
        if place >= 0:
            found.append((place, option, label))
    rest = wanted
    for _, option, _ in found:
        rest = rest.replace(option, "", 1)
    is_joined = len(rest) <= len(found) or (len(found) > 1 and is_between_keys(rest))
    is_whole = is_joined and len({place for place, _, _ in found}) == len(found)
    return sorted(label for _, _, label in found) if found and is_whole else None


def _read_whole(text: str, options: Sequence[tuple[str, str]]) -> list[str] | None:
    """The label of an option that is the text: `both A and B`, `D. A and B`, `①③`."""
    folded = text.strip(" .。")
    lead = _OWN_LABEL.match(folded)
    for label, option in options if " " in folded or COMBINED.match(folded) else ():
        if option.strip(" .。") in (folded, folded[lead.end() :] if lead and lead[1] == label else folded):
            return [label]
    return None


_OWN_LABEL = re.compile(r"([A-J])\s*[.．、:：)）]\s*")
# `①③`: an option that names what the stem counts
COMBINED = re.compile(r"[①-⑩][、,，]?[①-⑩]")


def _read_all_named(text: str, options: Sequence[tuple[str, str]]) -> list[str]:
    """The labels of `A. Stilton, C. Roquefort`, where nothing else is said."""
    found: list[str] = []
    rest = text
    for label, option in options:
        mark = (
            re.search(rf"(?<![^\W_]){label}\s*[.)．、:：）]\s*{re.escape(option)}", rest) if option else None
        )
        if mark is not None:
            found.append(label)
            rest = rest[: mark.start()] + rest[mark.end() :]
    return found if is_between_keys(rest) else []


def _fold_option(text: str) -> str:
    """An option without white space, its own label, closing stops and signs of private fonts."""
    text = re.sub(r"[\ue000-\uf8ff\s]+", "", text)
    text = re.sub(r"^[（(]?[A-Ja-j][)）.．、:：]", "", text)
    return text.strip('。.；;，, "“”‘’').casefold()
