"""One row or record, its cells known by their roles, made a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas import patterns as re
from tasks.ingest.content.choices import make_true_false, set_choice_answer
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.free_answers import split_material
from tasks.ingest.content.printed_marks import cut_tags
from tasks.ingest.layout.options import strip_separators
from tasks.ingest.tables.packed_options import (
    clean_cell,
    split_packed_options,
    strip_labels,
    take_options_from_stem,
    write_out,
)
from tasks.ingest.words.answers import (
    read_bracketed_key,
    read_judgement,
    read_key,
    read_truth,
    split_fillings,
)
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.kinds import are_truth_options, infer_free_type
from tasks.ingest.words.lexicon import FineType, find_fine_type, match_type_name
from tasks.questions import count_blanks


def read_record(
    record: Mapping[str, str],
    options: Sequence[tuple[str, str]],
    default: FineType | None,
    language: str | None,
) -> Draft:
    """Make a question of one row or record; texts of `options` may be empty."""
    draft = Draft(fine=_read_type(record.get("type", "")) or default)
    stem, tag = cut_tags(clean_cell(record.get("stem", ""), language))
    draft.fine = tag.fine or draft.fine if record.get("type", "").strip() == "" else draft.fine or tag.fine
    draft.material = clean_cell(record.get("material", ""), language) or None
    draft.explanation = clean_cell(record.get("explanation", ""), language) or None
    draft.discipline = record.get("discipline", "").strip() or None
    draft.sub_discipline = record.get("sub_discipline", "").strip() or None
    marks = re.match(r"\s*(\d+(?:\.\d+)?)", record.get("marks", ""))
    draft.marks = float(marks.group(1)) if marks else tag.marks
    given = [(label, clean_cell(text, language)) for label, text in options]
    pairs = strip_labels([(label, text) for label, text in given if text])
    if not pairs and record.get("options", "").strip():
        pairs = split_packed_options(record["options"], language)
    kind = draft.fine.question_type if draft.fine else None
    offers_elsewhere = bool(options) and read_key(record.get("answer", "")) is None
    if not pairs and kind in (None, "multiple_choice") and not offers_elsewhere:
        stem, pairs = take_options_from_stem(stem, kind == "multiple_choice", language)
    stem = re.sub(r"^\s*\d{1,4}\s*[.、．]\s*(?=\D)", "", stem) if record.get("number") else stem
    draft.stem = stem
    answer = clean_cell(write_out(record.get("answer", "")), language)
    if _PLACE.fullmatch(answer) is not None:
        answer, draft.leaves_place = "", True
    worked = _WORKED.fullmatch(answer) if "####" in answer else None
    if worked is not None:  # `48/2 = <<48/2=24>>24 … #### 24`, as sets of sums print them
        answer = worked.group(2).strip()
        draft.explanation = draft.explanation or _NOTE_OF_SUM.sub("", worked.group(1)).strip() or None
    if (
        record.get("type", "").strip()
        and not record["type"].strip().isdigit()
        and _read_type(record["type"]) is None
    ):
        draft.notes.append("type_unknown")
    texts = strip_separators([text for _, text in pairs])
    pairs = [(label, text) for (label, _), text in zip(pairs, texts, strict=True)]
    if len(pairs) > 3 and are_truth_options(texts[:2]) and len(set(texts[2:])) == 1:
        pairs, texts = pairs[:2], texts[:2]  # `A:对 B:错 C:无 D:无`
    labels = "".join(label for label, _ in pairs)
    # `阅读理解` may offer options; what is to be filled in may keep its answers in their columns
    is_offered = kind != "fill_in_the_blank" and len(pairs) > 1 and read_key(answer, labels) is not None
    if kind not in (None, "multiple_choice", "true_false") and pairs and not is_offered:
        _settle_stored_answer(draft, pairs, answer, kind)
        return draft
    if pairs and len(pairs) >= 2:
        draft.options = pairs
        draft.question_type = "multiple_choice"
        if kind == "true_false" or are_truth_options(texts):
            _set_key(draft, answer)
            if are_truth_options(texts) and not draft.number_keys:
                make_true_false(draft)
            return draft
        _set_key(draft, answer)
        if not answer:
            _take_key_from_stem(draft, language)
        return draft
    _settle_plain(draft, pairs, answer, kind, language)
    return draft


_WORKED = re.compile(r"([\s\S]*?)\s*####\s*([^#\n]+?)\s*")
_NOTE_OF_SUM = re.compile(r"<<[^<>\n]{1,200}>>")
# what programs call the types; in a heading these words name none
# `[ ………… ]`, `（ ）`, `______`: where a candidate writes
_PLACE = re.compile(r"[（(\[【]\s*[.…·_][.…·_\s]*[)）\]】]|（\s*）|[\s…_]{2,}|\.{3,}")
_CODES = {"single": "single_choice", "multiple": "multiple_answer", "multi": "multiple_answer",
          "fill": "fill_in_the_blank", "text": "short_answer"}  # fmt: skip


def _read_type(cell: str) -> FineType | None:
    return match_type_name(cell) or find_fine_type(_CODES.get(cell.strip().casefold(), ""))


def _set_key(draft: Draft, answer: str) -> None:
    if not answer:
        return
    named = re.fullmatch(
        r"(?i)\s*(?:选项|备选项|option|choice|answer|opt)[\s_\-]*(?:(\d)|([a-j]))\s*", answer
    )
    labels = [label for label, _ in draft.options]
    place = int(named[1] or ord(named[2].upper()) - ord("A") + 1) if named is not None else 0
    if 0 < place <= len(labels):
        draft.answer = [labels[place - 1]]
        return
    if re.fullmatch(r"\s*\d+(?:\s*[,，;；、]\s*\d+)*\s*", answer):
        # whether a number counts from 0 or from 1, or is itself an option, only the whole column can tell
        draft.number_keys = [int(token) for token in re.findall(r"\d+", answer)]
        if not any(text == answer for _, text in draft.options):
            draft.notes.append("key_is_a_number")
            return
    set_choice_answer(draft, answer)


def _take_key_from_stem(draft: Draft, language: str | None) -> None:
    found = read_bracketed_key(draft.stem, "".join(label for label, _ in draft.options))
    if found is not None:
        draft.answer, draft.stem = found.answer, clean_text(found.text, language)


def _settle_stored_answer(draft: Draft, pairs: list[tuple[str, str]], answer: str, kind: str) -> None:
    """Take a free question's answer from column A, where its key says `A`."""
    draft.question_type = kind
    letters = read_key(answer, "".join(label for label, _ in pairs)) if answer else None
    by_label = dict(pairs)
    if letters is not None:
        stored = [by_label[letter] for letter in letters]
    elif not answer or answer in by_label.values():
        stored = [text for _, text in pairs]
    else:
        stored = [answer]
    if kind == "fill_in_the_blank" and len(pairs) > 1 and letters is not None and len(letters) == 1:
        stored = [text for _, text in pairs]
    draft.answer = stored if kind == "fill_in_the_blank" else ["\n".join(stored)]


def _settle_plain(
    draft: Draft, pairs: list[tuple[str, str]], answer: str, kind: str | None, language: str | None
) -> None:
    truth = read_truth(answer) if answer else None
    if kind is None:
        if truth is not None and answer not in ("1", "0"):
            kind = "true_false"
        else:
            kind = infer_free_type(draft.stem, draft.material)
    draft.question_type = kind
    if kind == "material_analysis" and not draft.material:
        draft.material, draft.stem = split_material(draft.stem)
    if kind == "true_false":
        word = truth or {"A": "true", "B": "false"}.get(answer.strip().upper())
        if word is None and answer:
            word, remark = read_judgement(answer)
            draft.explanation = draft.explanation or remark
            if word is None:
                draft.notes.append("answer_unreadable")
        draft.answer = [word] if word else []
        draft.stem = re.sub(r"\s*[（(]\s*[)）]\s*[。.]?\s*$", "", draft.stem).rstrip() or draft.stem
        return
    if kind == "multiple_choice":
        draft.notes.append("options_missing")
        draft.answer = read_key(answer) or []
        return
    if not answer and not pairs and draft.explanation and kind != "multiple_choice":
        answer, draft.explanation = draft.explanation, None  # a free question's only solution
    if not answer and pairs:
        answer = "\n".join(text for _, text in pairs)
    if answer:
        draft.answer = (
            split_fillings(answer, count_blanks(draft.stem)) if kind == "fill_in_the_blank" else [answer]
        )
