"""One printed answer: what its lines say, and what a question takes of it."""

from __future__ import annotations

from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.content.choices import CHOOSES_ALL, find_lettered, set_choice_answer
from tasks.ingest.content.drafts import FREE_TYPES, Draft
from tasks.ingest.content.region_titles import is_region_heading
from tasks.ingest.layout.headings import MARKS_GROUP
from tasks.ingest.layout.key_lines import KeyEntry
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.readers.extraction import PICTURE_MARK
from tasks.ingest.words.answers import (
    ANSWER_MARK,
    METADATA,
    corrects,
    cut_key_lead,
    find_explanation,
    has_colon,
    is_count,
    read_judgement,
    read_key,
    read_truth,
    split_fillings,
)
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.grammar import answer_mark
from tasks.ingest.words.points import BRACKETED
from tasks.questions import count_blanks


def read_entry(number: int, pieces: Sequence[Piece]) -> KeyEntry:
    """Read the lines of one answer: what is answered, and why."""
    filled = [piece for piece in pieces if piece.text.strip()]
    while len(filled) > 1 and _NEXT_PART.fullmatch(filled[-1].text) is not None:
        filled.pop()
    text = join_pieces(filled).strip()
    for pattern in (MARKS_GROUP, ANSWER_MARK):  # `(5分) 解答：…`
        mark = pattern.match(text)
        if mark is not None:
            part = _PART_CHOSEN.search(mark.group())  # `Answer (b). It moves pallets.`
            text = text[mark.end() if part is None else part.start() :].strip()
    text = METADATA.sub("", text).strip() if has_colon(text) else text
    explanation = find_explanation(text)
    key = text[: explanation.start()].strip() if explanation is not None else text
    why = text[explanation.end() :].strip() if explanation is not None else ""
    said = answer_mark().match(key) if key else None
    bare = key[said.end() :].strip() if said is not None else ""
    if _is_key(bare.strip(" .。")) or _is_key(_KEY_FIRST.split(bare, maxsplit=1)[0]):
        key = bare  # `The correct answer is A.`, `The correct answer is A, as the lamp is seen from far out.`
    chosen = _CHOSEN.search(why) if not key else None
    return KeyEntry(number, key if chosen is None else chosen.group(1), why or None)


_PART_CHOSEN = re.compile(r"\([a-h]\)\s*[.:]\s*$")
# what parts a key from its reason
_KEY_FIRST = re.compile(r"\s*(?:[.．。,，;；:：)）–—]|\s-|(?i:because|since)\b|因为)\s*")
# `D.` alone below an answer: the letter of the section whose answers follow
_NEXT_PART = re.compile(r"\s*(?:[A-H]|[IVX]{1,4}|[一二三四五六七八九十])\s*[.．、:：]\s*")


def _is_key(text: str) -> bool:
    return read_key(text) is not None or read_truth(text) is not None


# `……，故选A。` closes a reason that has no key before it
_CHOSEN = re.compile(
    r"(?:选|为|是|(?i:\b(?:is|option)\b))\s*[:：]?\s*[（(]?([A-J]{1,6})[)）]?\s*[.。．]?\s*$"
)


def may_answer(draft: Draft, text: str) -> bool:
    """Whether a text has the form of an answer to a question."""
    if draft.options:
        labels = "".join(label for label, _ in draft.options)
        text = cut_key_lead(text)
        if read_key(text, labels) or CHOOSES_ALL.fullmatch(text):
            return True
        return re.match(
            rf"\s*[（(]?(?:[{labels}{labels.lower()}①-⑩]{{1,8}}(?![A-Za-z])|\d(?!\s?[^\W\d_]))", text
        ) is not None or any(option and option in text for _, option in draft.options)
    letters = read_key(text)
    if find_lettered(draft, text) is not None:
        return True
    return draft.question_type in ("true_false", "multiple_choice") or letters is None


def apply_key(draft: Draft, entry: KeyEntry, language: str | None) -> None:
    """Set a question's answer from a key entry, unless it has one; a contradiction is noted."""
    if "answer_without_mark" in draft.notes and draft.question_type in FREE_TYPES and len(draft.answer) == 1:
        # the answer is printed elsewhere: what was taken for it is the rest of the question
        draft.stem = f"{draft.stem}\n{draft.answer.pop()}"
        draft.notes.remove("answer_without_mark")
    # a picture in the place of an answer is the place where it is to be drawn
    before = [text for text in draft.answer if PICTURE_MARK.sub("", text).strip()]
    text = clean_text(entry.text, language)
    text = cut_echo(text, draft.stem) or text  # the question, or the term to be explained, again
    text = _cut_remark(text)
    draft.answer = []
    if draft.options:
        set_choice_answer(draft, text)
    elif draft.question_type == "true_false" or (
        draft.fine is None
        and len(draft.stem) > 8
        and (read_truth(text) or corrects(draft.stem, text))
        and not is_count(draft.stem, text)
    ):
        truth, remark = read_judgement(text)
        if truth:
            draft.question_type = "true_false"
            draft.answer = [truth]
            draft.explanation = draft.explanation or remark
        else:
            draft.notes.append("answer_unreadable")
            draft.explanation = draft.explanation or (text if len(text) > 1 and text[0] != "略" else None)
    elif draft.question_type == "fill_in_the_blank":
        draft.answer = split_fillings(text, count_blanks(draft.stem))
    elif draft.question_type == "multiple_choice":
        draft.answer = read_key(text) or []
    elif text:
        draft.answer = [text]
    if entry.explanation and "text_after_options" in draft.notes and draft.explanation:
        draft.explanation += (
            f"\n{clean_text(entry.explanation, language)}"  # beside what was left of the options
        )
    elif entry.explanation:
        draft.explanation = draft.explanation or clean_text(entry.explanation, language)
    if before and draft.answer and before != draft.answer:
        draft.notes.append("keys_disagree")
        draft.answer = before
    elif not draft.answer:
        draft.answer = before


_REMARK, _LONG_REMARK = 24, 40


def _cut_remark(text: str) -> str:
    """An answer without a short line above its mark: `（P4）第1章`, `Marked by the miller`."""
    first, _, below = text.partition("\n")
    mark = ANSWER_MARK.match(below) if len(first) <= _REMARK else None
    if mark is not None and not below.lstrip().startswith("答"):  # `解：…` and `答：…` are one answer
        return below[mark.end() :].strip()
    title, _, rest = below.partition("\n")
    is_titled = len(first) <= _LONG_REMARK and bool(rest.strip()) and is_region_heading(title)
    return rest.strip() if is_titled else text


_LEAST_ECHO = 2
_MARK_AFTER = re.compile(
    rf"[\s：:。.？?；;]*(?:{BRACKETED}\s*)?(?:[（(]?(?:参考)?(?:答案?|答题|解答?|证明)(?:要点)?\s*[:：]|(?i:answers?|solutions?|ans|proof)\s*[.:：])?\s*"
)


def cut_echo(text: str, stem: str) -> str | None:
    """What follows a question that an answer prints again before it, or None."""
    wanted = [character for character in stem if character.isalnum()]
    if len(wanted) < _LEAST_ECHO:
        return None
    met = 0
    for place, character in enumerate(text):
        if not character.isalnum():
            continue
        if met < len(wanted) and character.casefold() == wanted[met].casefold():
            met += 1
        else:
            return None
        if met == len(wanted):
            rest = text[place + 1 :]
            if len(wanted) < 12 and not re.match(r"\s*[：:]\s*\S", rest):
                return None
            mark = _MARK_AFTER.match(rest)
            rest = rest[mark.end() if mark is not None else 0 :].strip()
            return rest or None
    return None
