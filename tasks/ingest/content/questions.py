"""From drafts to rows of `questions`: ids, confidence with its reasons, status."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.named_pictures import SPEAKS_OF_FIGURE, KeptPictures, name_pictures
from tasks.ingest.readers.extraction import FORMULA, IMAGE, find_marks, read_picture_number
from tasks.ingest.words.cleaning import detect_language
from tasks.ingest.words.disciplines import name_discipline
from tasks.ingest.words.points import EACH, POINTS, TOTAL
from tasks.questions import (
    ORIGINAL,
    SHOWN_PLACES,
    BareQuestion,
    Option,
    Question,
    QuestionContent,
    QuestionPicture,
    count_blanks,
    has_blank,
)
from tasks.questions.identity import compute_question_uuid, normalise_for_key

# `(1) 0.22 (2) 0.11 (3) 0.43 (4) 2.2`: short numbered values on one line are rather options than parts
_NUMBERED_OPTIONS = re.compile(
    r"(?:^|\n)\s*\(1\)\s*[^()\n?]{1,24}\(2\)\s*[^()\n?]{1,24}\(3\)\s*[^()\n?]{1,24}(?:\(4\)|\n|$)"
)

# the first A, the first B behind it, a C behind that: where one of them is missing, none further on helps
_LETTERED_OPTIONS = re.compile(
    r"\A(?>.*?(?<!\S)A\s*+[.．、])(?>.+?\sB\s*+[.．、]).+?\sC\s*+[.．、]", re.DOTALL
)


def make_questions(
    drafts: Sequence[Draft],
    document: dict[str, Any],
    language: str | None,
    page_notes: Sequence[str] = (),
    kept: KeptPictures | None = None,
) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of a document's questions and how many drafts were left out.

    `kept` are the pictures that were loaded for them.

    Left out are drafts that repeat another one. How sure each is, is judged once the paper is known as a whole
    (tasks/ingest/confidence): until then it is sure, with its reasons for doubt.
    """
    rows: list[dict[str, Any]] = []
    seen: dict[str, dict[str, Any]] = {}
    repeated = 0
    kept = kept or KeptPictures()
    for draft in drafts:
        row = _make_row(draft, document, language, page_notes, kept)
        known = seen.get(row["question_uuid"])
        if known is not None:
            repeated += 1
            if row["answer"] and not known["answer"]:
                known |= {name: row[name] for name in _OF_ANSWER}  # printed again with its key
            elif row["answer"] and row["answer"] != known["answer"]:
                known["parse_notes"] = list(dict.fromkeys([*known["parse_notes"], "keys_disagree"]))
            continue
        seen[row["question_uuid"]] = row
        row["position"] = len(rows) + 1
        rows.append(row)
    return rows, repeated


_OF_ANSWER = ("answer", "explanation", "parse_confidence", "parse_notes", "status", "pictures")


def _make_row(
    draft: Draft,
    document: dict[str, Any],
    language: str | None,
    page_notes: Sequence[str],
    kept: KeptPictures,
) -> dict[str, Any]:
    question = _make_question(draft, document, language, kept)
    doubts = _find_doubts(draft, _list_lost(draft, kept))
    notes = list(dict.fromkeys([*draft.notes, *doubts, *page_notes]))
    return {
        **question.as_row(),
        "document_id": document["document_id"],
        "document_name": document["document_name"],
        "position": 0,
        "number_label": draft.number_label,
        "section": draft.section,
        "marks": draft.marks,
        "text_start": draft.start,
        "text_end": draft.end,
        "parse_confidence": 1.0,
        "parse_notes": notes,
        "status": "parsed" if draft.answer else "no_answer",
    }


def _list_lost(draft: Draft, kept: KeptPictures) -> set[str]:
    """The signs (of pictures, of formulas) of which a candidate would miss what they show."""
    shown = "\n".join([draft.stem, draft.material or "", *(text for _, text in draft.options)])
    lost: set[str] = set()
    has_picture = False
    for mark in find_marks(shown):
        number = read_picture_number(mark)
        is_picture = mark["sign"] == IMAGE
        if number in kept.rows:
            has_picture = has_picture or is_picture
        elif not (is_picture and number in kept.empty):
            lost.add(mark["sign"])
    if not has_picture and SPEAKS_OF_FIGURE.search(draft.stem):
        lost.add(IMAGE)
    return lost


def _make_question(
    draft: Draft, document: dict[str, Any], language: str | None, kept: KeptPictures
) -> Question:
    # A picture that was not kept has its place in the text of the document; the question says by its note that there is one.
    own = detect_language(" ".join([draft.stem, *(text for _, text in draft.options)]))
    (material, stem, explanation), options, answer, pictures = _name_pictures(draft, kept)
    bare = BareQuestion(
        question_type=draft.question_type,
        language=own or language or ("zh" if re.search("[\u4e00-\u9fff]", draft.stem) else "en"),
        stem=_leave_out_pictures(stem),
        material=_leave_out_pictures(material) if draft.material else draft.material,
        options=tuple(
            Option(label, _leave_out_pictures(text))
            for (label, _), text in zip(draft.options, options, strict=True)
        ),
        pictures=tuple(one for one in pictures if one.place in SHOWN_PLACES),
    )
    discipline, sub_discipline = _name_discipline(draft, document)
    content = QuestionContent(
        bare,
        tuple(_leave_out_pictures(text) for text in answer),
        explanation if draft.explanation is not None else None,
        discipline,
        sub_discipline,
        document["source_kind"],
        tuple(one for one in pictures if one.place not in SHOWN_PLACES),
    )
    identity = compute_question_uuid(bare)
    return Question(identity, 1, identity, None, ORIGINAL, content)


def _name_pictures(
    draft: Draft, kept: KeptPictures
) -> tuple[tuple[str, str, str], list[str], list[str], list[QuestionPicture]]:
    """The texts of a draft with their pictures named, and these pictures."""
    offered, answered = len(draft.options), len(draft.answer)
    texts = [
        ("material", draft.material or ""),
        ("stem", draft.stem),
        *(("option", text) for _, text in draft.options),
        *(("answer", text) for text in draft.answer),
        ("explanation", draft.explanation or ""),
    ]
    written, pictures = name_pictures(texts, kept)
    options, answers = written[2 : 2 + offered], written[2 + offered : 2 + offered + answered]
    found = [QuestionPicture(one["number"], one["sha256"], one["place"]) for one in pictures]
    return (written[0], written[1], written[-1]), options, answers, found


def _leave_out_pictures(text: str) -> str:
    """The text without the signs for pictures; what consists of pictures alone keeps them."""
    if IMAGE not in text:
        return text
    mark = rf"[ \t]*{re.escape(IMAGE)}[ \t]*"
    wide = r"[\u3000-\u9fff\uff00-\uffef]"
    rest = re.sub(rf"(?<={wide}){mark}|{mark}(?={wide})", "", text)
    return re.sub(r"(?<![ \t])[ \t]*+\n\s*+", "\n", re.sub(mark, " ", rest)).strip() or text


def _name_discipline(draft: Draft, document: dict[str, Any]) -> tuple[str | None, str | None]:
    """The discipline that the question's own cells name, else the document's."""
    for cell in (draft.discipline, draft.sub_discipline):
        named = name_discipline(cell) if cell else None
        if named is not None:
            return named[0], draft.sub_discipline or named[1]
    return document["discipline"], draft.sub_discipline or document["sub_discipline"]


# `Ⅳ 判断（10分，每题2分）`, `Part C (20 points, 2 each)`: no line of a question
_HELD_HEADING = re.compile(
    r"[ \n][ⅠⅡⅢⅣⅤⅥⅦⅧIVX一二三四五六七八九十]{1,3}\s?[、.．]?\s?[^\s（(]{2,10}\s?[（(][^（()）\n]{0,12}"
    rf"(?:{EACH}[^（()）\n]{{0,8}}|{TOTAL}\s?){POINTS}|"
    rf"\n(?:Part|Section|PART|SECTION) [IVXA-H\d]{{1,4}}\b[^\n]{{0,60}}{POINTS}"
)
# No question is longer; patterns that look for several marks in a row stay within it.
_LOOKED_AT = 3_000
# Told apart by wording alone: options and judgements show what they are, these do not.
_FREE_TYPES = ("short_answer", "calculation", "essay")
# what opens an answer, and signs that begin or end no sentence: `[x] B. git log`, `石羊河 ##a##`
_HELD_ANSWER = re.compile(
    r"(?:参考|正确|标准)答案|答案\s*[:：]|【(?:答案|解析)|解析\s*[:：]|\b(?:Answer|Explanation|Ans)\s*[:：]|\|\s*(?:答案|Answer)"
)
_ANSWER_WORDS = ("答案", "解析", "Answer", "Explanation", "Ans")
_ODD_START = re.compile(r"\s*(?:\[[ xX√]?\]|[#@~^|=&%]{2,}|[□☐☑☒✓✔■◆]|[)）\]】:：,，])")
_ODD_END = re.compile(
    r"(?:(?<![#@~^|=&%])[#@~^|=&%]{2,}+|[□☐☑☒✓✔]|[#@~^|]{1,2}[A-Za-z]{1,6}[#@~^|]{1,2}|\|\s*[A-J])\s*$"
)
# what the pattern above ends with
_ODD_ENDS = frozenset("#@~^|=&%□☐☑☒✓✔ABCDEFGHIJ")
_LONE_LETTER = re.compile(r"[A-H]\s+[\u4e00-\u9fff]")
_MIN_SCRAPS = 5


def _find_residue(draft: Draft) -> list[str]:
    """What is left of marks that were not read, in the stem and the options."""
    notes: list[str] = []
    texts = [draft.stem[:_LOOKED_AT], *(text[:_LOOKED_AT] for _, text in draft.options)]
    if any(word in text for text in texts for word in _ANSWER_WORDS) and any(
        _HELD_ANSWER.search(text) for text in texts
    ):
        notes.append("text_holds_answer")
    if any(
        _ODD_START.match(text) or (text.rstrip()[-1:] in _ODD_ENDS and _ODD_END.search(text[-40:]))
        for text in texts
    ):
        notes.append("odd_signs")
    if _LONE_LETTER.match(draft.stem):
        notes.append("stem_begins_with_letter")
    lines = draft.stem[:_LOOKED_AT].split("\n")
    scraps = [line for line in lines if 0 < len(line.strip()) <= 5 and not re.search(r"[{};()=]", line)]
    if len(scraps) >= _MIN_SCRAPS:
        notes.append("scattered_text")
    return notes


def _find_doubts(draft: Draft, lost: AbstractSet[str]) -> list[str]:
    """Why a draft may be read wrongly; `lost` has the signs of what it does not show."""
    notes: list[str] = []
    stem = draft.stem
    visible = len(re.sub(r"\s|[（()）_]", "", stem))
    is_blank_of_material = bool(draft.material and draft.options)
    is_term = draft.question_type in ("term_explanation", "calculation") or (
        draft.fine is not None and draft.fine.name == "matching"
    )
    if is_blank_of_material and not visible:
        pass  # a blank of the passage: its options are all that is printed
    elif visible < 2 or (visible < 4 and not (is_term or is_blank_of_material)):
        notes.append("stem_too_short")
    if len(stem) > 6000 or (draft.question_type in ("multiple_choice", "true_false") and len(stem) > 1200):
        notes.append("stem_too_long")
    if "\ufffd" in stem or any("\ufffd" in text for _, text in draft.options):
        notes.append("garbled_characters")
    shown = "\n".join([stem, draft.material or "", *(text for _, text in draft.options)])
    if FORMULA in lost:
        notes.append("embedded_formula_lost")
    if IMAGE in lost:
        notes.append("needs_figure")
    notes.extend(_find_residue(draft))
    if draft.fine is None:
        notes.append("type_inferred")
        if draft.question_type in _FREE_TYPES:
            notes.append("free_type_inferred")
    if draft.question_type == "multiple_choice":
        notes.extend(_find_option_doubts(draft))
    elif ("B" in stem and _LETTERED_OPTIONS.search(stem[:_LOOKED_AT])) or (
        "(2)" in stem and _NUMBERED_OPTIONS.search(stem[:_LOOKED_AT])
    ):
        notes.append("options_in_stem")
    if draft.question_type == "fill_in_the_blank" and draft.answer:
        blanks = count_blanks(stem)
        if blanks and len(draft.answer) != blanks:
            notes.append("blanks_and_answers_differ")
    if _HELD_HEADING.search(shown[: 4 * _LOOKED_AT]):
        notes.append("stem_holds_heading")
    is_gap = draft.question_type == "fill_in_the_blank" and (draft.fine is None or draft.fine.name != "cloze")
    if is_gap and len(draft.answer) != 1 and not has_blank(stem) and "_" not in stem:
        notes.append("blank_missing")
    if draft.value is None and draft.number_label == "":
        notes.append("number_missing")
    following_number = str(draft.value + 1) if draft.value is not None else ""
    if (
        draft.question_type in ("multiple_choice", "true_false")
        and following_number
        and following_number in stem
    ):
        following = re.search(
            rf"(?:^|\n|(?<=[。.？?！!；;）)：:])\s)\s*{following_number}\s*[.．、]\s*\D", stem
        )
        if following and following.start() > 10:
            notes.append("stem_holds_next_question")
    return notes


def _find_option_doubts(draft: Draft) -> list[str]:
    notes: list[str] = []
    texts = [text for _, text in draft.options]
    if any(not text for text in texts):
        notes.append("option_empty")
    folded = [normalise_for_key(text) or text for text in texts]
    if len(set(folded)) < len(folded):
        notes.append("options_equal")
    if draft.fine is not None and draft.fine.name == "single_choice" and len(draft.answer) > 1:
        notes.append("single_choice_with_several_keys")
    longest = max((len(text) for text in texts), default=0)
    if longest > 400 and longest > 8 * (sum(len(text) for text in texts) - longest + 1):
        notes.append("option_too_long")
    labels = [label for label, _ in draft.options]
    if not set(draft.answer) <= set(labels) and draft.options:
        notes.append("key_not_among_options")
    return notes
