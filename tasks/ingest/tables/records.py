"""Questions from JSON records, by the names of their keys and by what these hold."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.shown_keys import take_shown_keys
from tasks.ingest.tables.packed_options import (
    MOST_OPTIONS,
    list_flagged,
    offer_with,
    read_named_key,
    read_option_flags,
    read_options,
    write_out,
)
from tasks.ingest.tables.record_questions import read_record
from tasks.ingest.tables.sheets import SheetSplit, read_integer, settle_number_keys
from tasks.ingest.tables.tidying import NUMBERED, WRAPPED, read_markup
from tasks.ingest.words.cleaning import detect_language
from tasks.ingest.words.column_shapes import complete_header, is_flag, is_ticked
from tasks.ingest.words.columns import NUMBER_OF, Header, find_role, read_option_label
from tasks.ingest.words.lexicon import match_type_name

_SAMPLE = 200
_MOST, _OWN_LABEL = 0.7, re.compile(r"\s*[A-J]\s*[.．、:：)）]\s*(?=\S)")
_COUNT = re.compile(r"\s*\D{0,4}\d{1,5}(?:[-.]\d{1,4})?\s*")


def split_records(
    records: Sequence[Mapping[str, Any]], columns: Mapping[str, Sequence[str]] | None = None
) -> SheetSplit:
    """Read the questions of JSON records by the names of their keys, else by contents."""
    result = SheetSplit([], "")
    lines: list[str] = []
    offset = 0
    records = [one for record in records for one in _part_lists(record)]
    flat = [_flatten_record(record) for record in records]
    roles = _find_roles(flat, columns)
    shared = [_share_out(fields, roles) for fields in flat]
    sample = [
        str(value)
        for record in flat[:_SAMPLE]
        for name, value in record.items()
        if isinstance(value, str) and roles.get(name) in ("stem", "material", "explanation")
    ]
    result.language = detect_language(" ".join(sample))
    missing = 0
    asked = [str(fields["stem"]) for fields, _ in shared if fields.get("stem")]
    is_numbered = len(asked) > 2 and sum(1 for stem in asked if NUMBERED.match(stem)) >= _MOST * len(asked)
    is_marked_up = sum(1 for stem in asked if WRAPPED.search(stem)) > 0.5 * len(asked)
    offered = [one for _, options in shared for one in options]
    is_labelled = sum(1 for one in offered if _OWN_LABEL.match(one[1])) >= _MOST * max(1, len(offered))
    for number, (record, (fields, options)) in enumerate(zip(records, shared, strict=True), start=1):
        if is_labelled:  # some with the letter of another one
            options = [(label, _OWN_LABEL.sub("", text)) for label, text in options]
        line = json.dumps(record, ensure_ascii=False, default=str)
        if isinstance(fields.get("stem"), str) and fields["stem"].strip():
            given = read_options(fields["options"], result.language) if "options" in fields else options
            texts = {role: write_out(value) for role, value in fields.items() if role != "options"}
            cannot_offer = len(given) > MOST_OPTIONS
            if cannot_offer:  # with some of them nobody would see that others lack
                fields, given = {**fields, "options": []}, []
            if is_marked_up:
                texts = {role: _read_wrapped(text) for role, text in texts.items()}
                given = [(label, _read_wrapped(text)) for label, text in given]
            printed = NUMBERED.match(texts["stem"]) if is_numbered else None
            if printed is not None:
                texts["stem"] = texts["stem"][printed.end() :]
            if isinstance(fields.get("material"), list):
                texts["material"] = "\n".join(map(write_out, fields["material"]))
            answer = fields.get("answer")
            if isinstance(answer, str) and len(roles.get(answer, "")) == 1:
                texts["answer"] = roles[answer]  # the name of the right one's key
            if isinstance(answer, bool):
                texts["answer"] = "true" if answer else "false"
            elif "options" in fields:
                named = read_named_key(fields["options"], answer) if answer is not None else ""
                texts["answer"] = named or texts.get("answer") or read_option_flags(fields["options"])
            if isinstance(answer, dict):
                texts["answer"] = _read_ticks(answer) or texts["answer"]
            if cannot_offer:
                texts |= {"type": "multiple_choice", "answer": ""}
            draft = read_record(texts, given, None, result.language)
            draft.number_label = str(texts.get("number", number))
            draft.value = read_integer(draft.number_label)
            draft.start, draft.end = offset, offset + len(line)
            result.drafts.append(draft)
        else:
            missing += 1
        lines.append(line)
        offset += len(line) + 1
    # a list of choices is counted from 0 where nothing says otherwise, as every data set with such lists does
    settle_number_keys(result.drafts, first=0)
    take_shown_keys(result.drafts)
    if missing:
        names = ", ".join(repr(str(name)[:20]) for name in list(records[0])[:12]) if records else ""
        result.warnings.append(
            f"{missing} of {len(records)} records have no question text; the first one's keys are {names}."
        )
    result.text = "\n".join(lines)
    return result


def _read_wrapped(text: str) -> str:
    return read_markup(text) if WRAPPED.search(text) else text  # `<b>` may be what is offered


def _read_ticks(answer: Mapping[str, Any]) -> str:
    """The letters of what `{"answer_a_correct": "true", "answer_b_correct": "false"}` ticks."""
    flags = [*map(str, answer.values())]
    letters = (letter for letter, flag in zip("ABCDEFGHIJ", flags, strict=False) if is_ticked(flag))
    return "".join(letters) if all(map(is_flag, flags)) else ""


def _part_lists(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A record for each question of one whose questions, options and keys are lists."""
    lists = {name: value for name, value in record.items() if isinstance(value, list)}
    asked = next((value for name, value in lists.items() if find_role(name) == "stem"), [])
    beside = {name for name, value in lists.items() if len(value) == len(asked)}
    if not asked or len(beside) < 2 or not all(isinstance(text, str) for text in asked):
        return [record]
    return [
        {name: value[at] if name in beside else value for name, value in record.items()}
        for at in range(len(asked))
    ]


def _flatten_record(record: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """A record with the fields of the objects in it that ask or offer."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        inner = {find_role(str(key)) for key in value} if isinstance(value, dict) else set()
        asks = "stem" in inner and inner & {"options", "answer", "type"} and find_role(str(name)) != "options"
        if isinstance(value, dict) and depth < 3 and asks:
            flat |= {key: item for key, item in _flatten_record(value, depth + 1).items() if key not in flat}
        else:
            flat[str(name)] = list_flagged(value)
    return flat


def _find_roles(
    records: Sequence[Mapping[str, Any]], columns: Mapping[str, Sequence[str]] | None
) -> dict[str, str]:
    """The role of every key: the letter of an option, else what a column of a sheet may be."""
    names = list(dict.fromkeys(name for record in records[:_SAMPLE] for name in record))
    roles: dict[str, str] = {}
    for name in names:
        label = read_option_label(name)
        held = [record[name] for record in records[:_SAMPLE] if record.get(name) not in (None, "", [])]
        if label is not None and all(isinstance(value, str | int | float) for value in held):
            roles[name] = label
            continue
        role = find_role(name, columns)
        if role is None and find_role(NUMBER_OF.sub("", name)) == "distractors":
            role = "distractors"
        if name == "section":
            role = "type" if any(match_type_name(str(value)) for value in held) else None
        if role == "number" and not all(_COUNT.fullmatch(str(value)) for value in held):
            role = None  # the key of a record in its store
        if role is not None:
            roles[name] = role
    if "options" not in roles.values():
        keys = [name for name, role in roles.items() if role == "answer" and _names_one(records, name)]
        offers = [name for name in names if name not in keys and _offers(records, name)]
        # the answer with other names of it is not what is offered
        named = [
            name for name in offers if name in roles and not any(_begins(records, name, key) for key in keys)
        ]
        # options with flags need no key; `answers` beside `correct` are what is offered
        free = offers if "answer" not in roles.values() else named
        flagged = [name for name in free if any(read_option_flags(record.get(name)) for record in records)]
        roles |= dict.fromkeys((flagged or (named if keys else []))[:1], "options")
    stems = [name for name, role in roles.items() if role == "stem"]
    if len(stems) > 1 and any(_PLAIN_STEM.search(name) for name in stems):
        stems = [name for name in stems if _PLAIN_STEM.search(name) is None]
        roles = {name: role for name, role in roles.items() if name not in stems}
    filled = any(
        isinstance(record.get(name), str) and record[name].strip()
        for record in records[:_SAMPLE]
        for name, role in roles.items()
        if role == "stem"
    )
    if not filled or "answer" not in roles.values():
        roles |= _induce_roles(records[:_SAMPLE], names, roles)
    if "material" not in roles.values():
        roles |= dict.fromkeys(_find_telling_apart(records, names, roles)[:1], "material")
    return roles


def _find_telling_apart(
    records: Sequence[Mapping[str, Any]], names: Sequence[str], roles: Mapping[str, str]
) -> list[str]:
    """The unnamed keys whose texts tell questions apart that are worded the same."""
    stem = next((name for name in names if roles.get(name) == "stem"), "")
    alike: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        alike[str(record.get(stem))].append(record)
    groups = [group for group in alike.values() if len(group) > 1]

    def tells(name: str) -> bool:
        told = [[_show(record.get(name)) for record in group] for group in groups]
        told = [texts for texts in told if any(texts)]
        return bool(told) and all(
            len(set(texts)) == len(texts) and all(map(_TEXT.search, texts)) for texts in told
        )

    return [name for name in names if name not in roles and tells(name)]


# several words of a sentence: no tag, number, address or time
_TEXT = re.compile(r"[^\W\d_][ ,，、][^\W\d_][^\n]*[ ,，、。][^\W\d_]|[\u4e00-\u9fff]{8}")
_PLAIN_STEM = re.compile(r"(?i)question|stem|prompt|problem|题干|题目|问题|试题")


def _induce_roles(
    records: Sequence[Mapping[str, Any]], names: Sequence[str], known: Mapping[str, str]
) -> dict[str, str]:
    """The roles of the keys that no name tells, by what they hold."""
    offered = _find_series(records, [name for name in names if name not in known])
    known = {**known, **{name: chr(ord("A") + place) for place, name in enumerate(offered)}}
    header = Header(-1, {}, names=list(names))
    for place, name in enumerate(names):
        role = known.get(name, "")
        if len(role) == 1:
            header.options.setdefault(role, place)
        elif role and any(record.get(name) not in (None, "", []) for record in records):
            header.columns.setdefault(role, place)
    rows = [[_show(record.get(name, "")) for name in names] for record in records]
    found = complete_header(header, rows)
    roles = {names[place]: role for role, place in found.columns.items()} if found is not None else {}
    roles |= {name: known[name] for name in offered}
    lists = next((name for name, role in {**known, **roles}.items() if role == "options"), None)
    if "answer" not in roles.values() and (offered or lists):
        counts = [len(offered) if offered else len(record.get(lists or "") or ()) for record in records]
        keys = [
            name
            for name in names
            if name not in roles and _tells(records, name, offered, max(counts, default=0))
        ]
        roles |= {keys[0]: "answer"} if len(keys) == 1 else {}
    return roles


def _offers(records: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether a key that may name answers, or has no name, holds several texts in most records."""
    held = [record[name] for record in records[:_SAMPLE] if record.get(name) not in (None, "", [])]
    parts = [[*value.values()] if isinstance(value, dict) else value for value in held]
    several = [
        value
        for value in parts
        if isinstance(value, list) and len(value) > 1 and not all(is_flag(str(part)) for part in value)
    ]
    return len(several) > 0.5 * len(held) and find_role(name) in (None, "answer")


_NAMES_ONE = re.compile(r"(?i)correct|right|index|idx|正确")


def _names_one(records: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether a key tells which of several is right; beside other wordings `answer` is one more."""
    held = [record[name] for record in records[:_SAMPLE] if record.get(name) not in (None, "", [])]
    is_short = all(isinstance(value, str | int) and len(str(value)) <= _LONGEST_KEY for value in held)
    return is_short or _NAMES_ONE.search(name) is not None


_LONGEST_KEY = 2


def _begins(records: Sequence[Mapping[str, Any]], name: str, key: str) -> bool:
    """Whether what a key holds stands first in every list of another."""
    held = [(record[name], record[key]) for record in records[:_SAMPLE] if record.get(name) and key in record]
    return all(isinstance(texts, list) and texts[0] == answer for texts, answer in held)


_SERIES = re.compile(r"(.*?)[\s_]?([a-h]|[0-9])")
_TELLING = re.compile(r"(?i)ans|corr|right|key|sol|lös|loes|cop|label|daan|正|答|对")


def _find_series(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """Keys that count on, `a1, a2, a3` or `opa, opb, opc`: what is offered."""
    series: dict[str, list[tuple[str, str]]] = {}
    for name in names:
        counted = _SERIES.fullmatch(name.casefold())
        if counted is not None and any(isinstance(record.get(name), str) for record in records):
            series.setdefault(counted.group(1), []).append((counted.group(2), name))
    counted_on: list[tuple[str, str]] = max(series.values(), key=len, default=[])
    longest = sorted(counted_on)
    runs_on = all(ord(later) == ord(former) + 1 for (former, _), (later, _) in pairwise(longest))
    return [name for _, name in longest] if len(longest) > 1 and runs_on else []


def _tells(records: Sequence[Mapping[str, Any]], name: str, offered: Sequence[str], count: int) -> bool:
    """Whether a key says which of the offered ones is right, by name or by place."""
    values = [record.get(name) for record in records if record.get(name) not in (None, "")]
    if not values or len(set(map(str, values))) < 2:
        return False
    if all(value in offered for value in values):
        return True
    is_place = all(isinstance(value, int) and 0 <= value <= count for value in values)
    return is_place and _TELLING.search(name) is not None


def _show(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _share_out(
    record: Mapping[str, Any], roles: Mapping[str, str]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The fields of a record by their roles, and the options that have a key each."""
    fields: dict[str, Any] = {}
    options: list[tuple[str, str]] = []
    wrong: list[Any] = []
    for name, value in record.items():
        role = roles.get(name, "")
        if role == "distractors":
            wrong += value if isinstance(value, list) else [value] if value not in (None, "") else []
            continue
        if len(role) == 1:
            options.append((role, "" if value is None else str(value)))
        elif role and value not in (None, "", []):
            fields.setdefault(role, value)
    if wrong and isinstance(fields.get("answer"), str) and not options and "options" not in fields:
        options = offer_with(fields["answer"], [str(one) for one in wrong])
    return fields, sorted(options)
