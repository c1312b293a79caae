"""Answers printed elsewhere, given to their questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from tasks.ingest.content.choices import set_choice_answer
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.keys import KeySection, split_run
from tasks.ingest.layout.key_lines import KeyEntry
from tasks.ingest.words.answers import (
    read_key,
    read_truth,
    split_fillings,
)
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.labels import parse_label
from tasks.questions import count_blanks

_FREE = ("short_answer", "essay", "calculation", "material_analysis")


def match_keys(drafts: Sequence[Draft], keys: Sequence[KeySection], language: str | None) -> list[KeySection]:
    """Give printed answers to their questions; return what found none.

    What is returned stands by the sections of the keys. A key section belongs to the question section with the same
    type and number, else the same number, else the same type; without sections the question number decides. A question
    that has an answer keeps it.
    """
    unmatched: list[KeySection] = []
    used: set[tuple[int, int, int]] = set()
    by_section = _group(drafts)
    values = [draft.value for draft in drafts if draft.value is not None]
    known = set(values)
    for place, key in enumerate(keys):
        target = _find_target(drafts, key, place, len(keys), used, by_section)
        numbers = {entry.number for entry in key.entries}
        if key.run:
            drawn = list({id(draft): draft for draft in target.values()}.values())
            for draft, token in zip(drawn, split_run(key.run, len(drawn)), strict=False):
                used.add(_name(draft))
                apply_key(draft, KeyEntry(draft.value or 0, token), language)
            continue
        whole = _find_whole(target, key)
        if whole is None and not numbers & {draft.value for draft in target.values()} and numbers <= known:
            # a key printed below the last section answers the whole paper
            target = _by_number(drafts) if len(values) == len(known) else target
            whole = _find_whole(target, key)
        if whole is not None:
            used.add(_name(whole))
            apply_key(whole, key.whole or _join_entries(key), language)
            continue
        met = [entry for entry in key.entries if entry.number in target]
        if len(met) > 1 and not any(_may_answer(target[entry.number], entry.text) for entry in met):
            unmatched.append(key)  # the answers of other questions, which count alike
            continue
        left: list[KeyEntry] = []
        for entry in _join_blanks(target, key) or key.entries:
            asked = target.get(entry.number)
            if asked is None:
                left.append(entry)
                continue
            used.add(_name(asked))
            apply_key(asked, entry, language)
        if left:
            unmatched.append(replace(key, entries=left))
    return unmatched


_NUMBERED_BLANK = re.compile(r"【\s*(\d{1,2})\s*】")


def _join_blanks(target: dict[int, Draft], key: KeySection) -> list[KeyEntry]:
    """One entry for each question, where a paper numbers its blanks, not its questions.

    The blanks are numbered like `【6】`, and the numbers of the answers continue beyond those of the questions. Empty
    where the answers count the questions, or a blank has no answer of its number.
    """
    entries = {entry.number: entry for entry in key.entries}
    if max(entries, default=0) <= max(target, default=0):
        return []
    blanks: dict[int, list[int]] = {}
    for number, draft in target.items():
        blanks[number] = [int(found) for found in dict.fromkeys(_NUMBERED_BLANK.findall(draft.stem))]
    counted = [blank for found in blanks.values() for blank in found]
    if not all(blanks.values()) or sorted(counted) != sorted(entries):
        return []
    joined: list[KeyEntry] = []
    for number, found in blanks.items():
        own = [entries[blank] for blank in found]
        remarks = [entry.explanation for entry in own if entry.explanation]
        texts = [_NUMBERED_BLANK.sub("", entry.text, count=1) for entry in own]
        joined.append(KeyEntry(number, "；".join(texts), "\n".join(remarks) or None))
    return joined


def _find_whole(target: dict[int, Draft], key: KeySection) -> Draft | None:
    """Return the one question whose parts the answers of this key section count."""
    drafts = {id(draft): draft for draft in target.values()}
    if len(drafts) != 1 or len(key.entries) < 2:
        return None
    draft = next(iter(drafts.values()))
    parts = [label.value for label in map(parse_label, draft.stem.split("\n")) if label is not None]
    numbers = [entry.number for entry in key.entries]
    is_alone = draft.section_number is not None and draft.value == draft.section_number
    is_whole = not draft.options and numbers[0] == 1 and (set(numbers) <= set(parts) or is_alone)
    return draft if is_whole else None


def _join_entries(key: KeySection) -> KeyEntry:
    lines = [
        f"{entry.label or f'{entry.number}.'}{'' if entry.label[-1:] in '、．）' else ' '}{entry.text}"
        for entry in key.entries
    ]
    remarks = [entry.explanation for entry in key.entries if entry.explanation]
    return KeyEntry(key.entries[0].number, "\n".join(lines), "\n".join(remarks) or None)


def _find_target(
    drafts: Sequence[Draft],
    key: KeySection,
    place: int,
    count: int,
    used: set[tuple[int, int, int]],
    by_section: dict[tuple[int, int], list[Draft]],
) -> dict[int, Draft]:
    groups = list(by_section.values())
    if key.parent is not None:
        path = (key.parent, key.number)
        inside = [group for group in groups if (group[0].section_parent, group[0].section_number) == path]
        if inside:
            return _by_number(inside[0])
    if key.fine is not None:
        same = [
            group
            for group in groups
            if group[0].fine is not None
            and (group[0].fine.name == key.fine.name or group[0].fine.question_type == key.fine.question_type)
        ]
        exact = [group for group in same if group[0].fine is not None and group[0].fine.name == key.fine.name]
        candidates = exact or same
        numbered_alike = [group for group in candidates if group[0].section_number == key.number]
        candidates = numbered_alike or candidates
        fresh = (group for group in candidates if not any(_name(draft) in used for draft in group))
        if candidates:
            return _by_number(next(fresh, candidates[0]))
    if key.number is not None and key.fine is None:
        placed = [group for group in groups if group[0].section_number == key.number]
        unused = (group for group in placed if not any(_name(draft) in used for draft in group))
        if placed:
            return _by_number(next(unused, placed[0]))
        numbered = [
            group[0] for group in by_section.values() if len(group) == 1 and group[0].value == key.number
        ]
        if numbered:
            return {1: numbered[0], key.number: numbered[0]}
    if len(groups) == count and place < len(groups) and count > 1:
        return _by_number(groups[place])
    # a section that is one question counts by its own numeral, not by the numbers of the others
    alone = Counter(draft.section for draft in drafts)
    others = [
        draft
        for draft in drafts
        if alone[draft.section] > 1 or draft.value is None or draft.value != draft.section_number
    ]
    for among in (drafts, others):
        values = [draft.value for draft in among if draft.value is not None]
        if values and len(values) == len(set(values)):
            return _by_number(among)
    fitting = [group for group in groups if _fits(group, key, used)]
    if len(fitting) == 1:
        return _by_number(fitting[0])
    return _by_number(groups[0]) if groups and count == 1 else {}


def _group(drafts: Sequence[Draft]) -> dict[tuple[int, int], list[Draft]]:
    """The questions by section, and by the runs of their numbers where these begin again in one."""
    groups: dict[tuple[int, int], list[Draft]] = {}
    run = last = 0
    for draft in drafts:
        if draft.value == 1 and last > 1:
            run += 1
        last = draft.value or last
        groups.setdefault((draft.section, run), []).append(draft)
    return groups


def _fits(group: Sequence[Draft], key: KeySection, used: Collection[tuple[int, int, int]]) -> bool:
    """Whether a key has the numbers of these questions, and says what each of them offers."""
    by_number = _by_number(group)
    met = [entry for entry in key.entries if entry.number in by_number]
    if len(met) < max(2, _LEAST_FIT * len(key.entries), _LEAST_FIT * len(by_number)):
        return False
    if any(_name(draft) in used for draft in group):
        return False
    answering = sum(1 for entry in met if _may_answer(by_number[entry.number], entry.text))
    return answering >= _LEAST_FIT * len(met)


_LEAST_FIT = 0.8


def _may_answer(draft: Draft, text: str) -> bool:
    if draft.options:
        labels = "".join(label for label, _ in draft.options)
        return re.match(
            rf"\s*[（(]?(?:[{labels}{labels.lower()}]{{1,8}}|\d)(?![A-Za-z])", text
        ) is not None or any(option and option in text for _, option in draft.options)
    letters = read_key(text)
    return draft.question_type in ("true_false", "multiple_choice") or letters is None


def _name(draft: Draft) -> tuple[int, int, int]:
    return draft.section, draft.value or 0, draft.start


def _by_number(drafts: Sequence[Draft]) -> dict[int, Draft]:
    found: dict[int, Draft] = {}
    for place, draft in enumerate(drafts, start=1):
        found.setdefault(draft.value if draft.value is not None else place, draft)
    if len(drafts) == 1:
        found.setdefault(1, drafts[0])
    return found


def apply_key(draft: Draft, entry: KeyEntry, language: str | None) -> None:
    """Set a question's answer from a key entry, unless it has one; a contradiction is noted."""
    if "answer_without_mark" in draft.notes and draft.question_type in _FREE and len(draft.answer) == 1:
        # the answer is printed elsewhere: what was taken for it is the rest of the question
        draft.stem = f"{draft.stem}\n{draft.answer.pop()}"
        draft.notes.remove("answer_without_mark")
    before = list(draft.answer)
    text = clean_text(entry.text, language)
    text = cut_echo(text, draft.stem) or text  # the question, or the term to be explained, again
    draft.answer = []
    if draft.options:
        set_choice_answer(draft, text)
    elif draft.question_type == "true_false" or (
        read_truth(text) and draft.fine is None and len(draft.stem) > 8
    ):
        truth = read_truth(re.split(r"[\s,，。.;；（(]", text.strip())[0]) or {"A": "true", "B": "false"}.get(
            text.strip()
        )
        if truth:
            draft.question_type = "true_false"
            draft.answer = [truth]
            rest = text.strip()[len(re.split(r"[\s,，。.;；（(]", text.strip())[0]) :].strip(" ,，。.;；")
            draft.explanation = draft.explanation or rest or None
        else:
            draft.notes.append("answer_unreadable")
    elif draft.question_type == "fill_in_the_blank":
        draft.answer = split_fillings(text, count_blanks(draft.stem))
    elif draft.question_type == "multiple_choice":
        draft.answer = read_key(text) or []
    elif text:
        draft.answer = [text]
    if entry.explanation:
        draft.explanation = draft.explanation or clean_text(entry.explanation, language)
    if before and draft.answer and before != draft.answer:
        draft.notes.append("keys_disagree")
        draft.answer = before
    elif not draft.answer:
        draft.answer = before


_LEAST_ECHO = 2
_MARK_AFTER = re.compile(
    r"[\s：:。.？?；;]*(?:[（(]\s*\d+(?:\.\d+)?\s*(?:分|points?|marks?|pts?)\s*[)）]\s*)?(?:[（(]?(?:参考)?(?:答案?|解答?|证明)\s*[:：]|(?i:answers?|solutions?|ans|proof)\s*[.:：])?\s*"
)


def cut_echo(text: str, stem: str) -> str | None:
    """Return what follows a question that an answer prints again before it, or None.

    White space and punctuation may differ. Of a term (a stem of a word or two) a colon must follow.
    """
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
