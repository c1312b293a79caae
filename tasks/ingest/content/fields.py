"""From the lines of one question to its fields: stem, options, answer, explanation, marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.ingest.layout.options import OptionSplit, option_text, split_options, strip_separators
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.layout.sections import MARKS_GROUP
from tasks.ingest.readers.extraction import IMAGE
from tasks.ingest.words.answers import (
    ANSWER_MARK,
    CORRECT_MARK,
    EXPLANATION_MARK,
    IGNORED_MARK,
    INLINE_ANSWER,
    METADATA,
    PROGRAM_ANSWER,
    STUDENT_MARK,
    TYPE_TAG,
    find_explanation,
    has_colon,
    read_bare_key,
    read_bare_truth,
    read_bracketed_key,
    read_bracketed_truth,
    read_key,
    read_trailing_key,
    read_truth,
    split_alternatives,
    split_fillings,
)
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.kinds import are_truth_options, infer_free_type
from tasks.ingest.words.lexicon import FineType, match_type_name
from tasks.questions.blanks import count_blanks, has_blank

_MARKS_TAIL = re.compile(
    r"\s*[（(\[【]\s*(?:本[大小]?题\s*|共\s*|满分\s*)?(\d+(?:\.\d+)?)\s*(?:分|pts?\.?|points?|marks?|mks?\.?)\s*(?:total)?[)）\]】]()\s*$",
    re.IGNORECASE,
)
_PART_MARKS = re.compile(
    r"[（(\[]\s*\d+(?:\.\d+)?\s*(?:分|pts?\.?|points?|marks?|mks?\.?)\s*[)）\]]|(?:[.?!:)\]]|\s{2})\s*\[\d{1,2}(?:\s*\+\s*\d{1,2})*\]",
    re.IGNORECASE,
)
_AFTER_LETTER = re.compile(r"[\s.．、)）:：]")
_MARGIN = re.compile(r"(?<=[.?!)])(?:\s{3,}|\t\s*)(\d{1,2})\s*$")
_BARE_MARKS_TAIL = re.compile(
    r"(?<=[.?!:)\]。？])\s*(?:(?:[-–—]\s*)?(\d+(?:\.\d+)?)\s*(?:pts?|points?|marks?|mks?)\s*\.?|\[(\d{1,2})\])\s*$",
    re.IGNORECASE,
)
_TRUTH = r"(?:True|TRUE|T|true)\s*(?:[/|]|or|\s|_+)\s*(?:False|FALSE|F|false)|对\s*/\s*错"
# what only waits for the judgement: an empty bracket, a line to write on, `True / False`, `Explain:`
_TRUTH_PLACE = re.compile(
    rf"(?:\s*(?:[（(\[]\s*(?:{_TRUTH}|_*)\s*[)）\]]|_{{3,}}|(?<=[.。!?\n\s])(?:{_TRUTH})|\n(?:Explain|Justify|Justification|Reason|Why)(?: your answer)?\s*[:.]?\s*_*))+\s*$"
)
_TAIL_TAG = re.compile(r"\s*[\[【]\s*([\u4e00-\u9fff]{1,6}题)\s*[】\]]\s*[*＊]?\s*$")
_LIST_STEM = re.compile(r"(?i)following|below|[:：]\s*$|如下|下列|以下|下面|下表|下图")
_INSTRUCTS = re.compile(
    r"(?i)^\s*(?:请?(?:认真|仔细)?(?:阅读|根据|结合)|read\b|study\b|based on).{0,60}(?:回答|完成|分析|作答|answer|questions?)"
)
_FIRST_PART = re.compile(
    r"^\s*(?:(?:问题?|请问|请回答|试问)\s*[:：]\s*)?(?:[（(]\s*(?:1|一|i|a)\s*[)）]|1\s*[.、．)）]|①|(?:问题|Question)\s*(?:1|一)?\s*[:：.])"
)
_ASKING_LEAD = re.compile(
    r"\s*(?:请(?:根据(?:以上|上述)(?:材料|资料|案例))?(?:回答|思考|分析)?(?:以下|下列|上述)?(?:问题)?|(?:思考)?问题?|试问|回答(?:下列|以下)?问题)\s*[:：]?\s*"
)
_ASKING = re.compile(r"\s*(?:Questions?|Required|Requirements?|Tasks?|问题?|要求)\s*[:：]")
_ASKS_TRUTH = re.compile(r"(?i)\s*[(（\[]?(?:true\s*(?:or|/)\s*false|T\s*/\s*F)\b")
_REQUEST = re.compile(
    r"(?i)^\s*(?:请|试|结合|根据|运用|谈谈|说明|分析|简述|论述|explain|discuss|analy[sz]e|describe)"
)
_WRITES_CODE = re.compile(r"编写|编程|编制|写(?:出|一个)?.{0,12}(?:程序|函数|语句|代码|算法|过程)|实现|设计")
_CODE = re.compile(
    r"[;{}]\s*$|^\s*[{}#]|^\s*(?:#\s*include|using\b|import\b|from\s+\w+\s+import|public\b|private\b|class\b|def\b|void\b|int\b|char\b|float\b|double\b|main\s*\(|for\s*\(|while\s*\(|if\s*\(|else\b|return\b|print\w*\s*\(|cout\b|cin\b|(?i:select|insert|update|create)\s+\w)|^\s*//|/\*.*\*/"
)
_PADDED = re.compile(r"[（(]\s+([^（()）\s][^（()）]{0,38}?)\s+[)）]")
_PROOF = re.compile(r"\s*证明?\s*[:：]\s*")
_OPTION_A = re.compile(r"^\s*[（(]?A\s*[)）.．、:：]")
_SUBPART = re.compile(
    r"^\s*(?:[（(]\s*(?:[0-9]{1,2}|[ivx]{1,4}|[a-h]|[一二三四五六七八九十])\s*[)）]|\d{1,2}\s*[.、．)）]|[①-⑩]|[a-h]\s*[)）.])"
)


# a part that asks, `(2) Draw the graph`, `（1）求……`; answers in parts seldom begin with a demand
_ASKED_PART = re.compile(
    r"^\s*(?:[（(]\s*(?:\d{1,2}|[ivx]{1,4}|[a-h])\s*[)）]|[a-h]\s*[).])\s*(?:(?i:(?:construct|convert|compute|calculate|find|give|draw|write|prove|eliminate|"
    r"minimi[sz]e|explain|describe|design|determine|derive|discuss|estimate|evaluate|translate|sketch|solve|what|why|how|which|is|are|does)\b)|"
    r"求|画出|写出|计算|证明|试|请|结合|运用|说明|简述|论述|谈谈|归纳|概括|给出|指出|列出|[^（()）]*[？?]\s*(?:[（(][^（()）]{1,12}[)）])?\s*$)"
)


BLANK_NUMBER = re.compile(r"\s*(?:[（(]\s*\d{1,2}\s*[)）]|[①-⑳])\s*")
_KEY_TAIL = re.compile(r"(?:\s{3,}|\t)[（(]?\s*([A-J]{1,6})\s*[)）]?\s*$")
_KEY_PLACE = re.compile(r"\s*[（(［\[]\s*[)）］\]]\s*$")


@dataclass
class Draft:
    """A question as split from its paper, not yet given an id. Offsets are into the raw text."""

    number_label: str = ""
    value: int | None = None
    section: int = 0
    section_number: int | None = None
    fine: FineType | None = None
    question_type: str = ""
    stem: str = ""
    material: str | None = None
    options: list[tuple[str, str]] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    explanation: str | None = None
    marks: float | None = None
    start: int = 0
    end: int = 0
    notes: list[str] = field(default_factory=list)
    discipline: str | None = None
    sub_discipline: str | None = None
    unmarked: list[Piece] = field(default_factory=list)
    number_keys: list[int] = field(default_factory=list)
    starred: list[str] = field(default_factory=list)
    # where the letters of every option stand in the raw text
    option_places: list[tuple[str, list[int]]] = field(default_factory=list)


def read_content(
    pieces: Sequence[Piece], fine: FineType | None, language: str | None, is_answered: bool
) -> Draft:
    """Read the lines of one question, its label already removed.

    `is_answered` says that this paper prints answers right behind its questions: then the unmarked
    paragraphs behind a free-response question are its answer.
    """
    draft = Draft(fine=fine)
    pieces = [piece for piece in pieces if piece.text.strip()]
    if not pieces:
        return draft
    pieces = _take_tags(list(pieces), draft)
    body, answers, explanation = _separate_answers(pieces)
    if any("答案" in piece.text and STUDENT_MARK.search(piece.text) for piece in pieces):
        draft.notes.append("student")
    kind = draft.fine.question_type if draft.fine else None
    may_choose = draft.fine is not None and draft.fine.name in ("matching", "cloze")
    is_choice = kind == "multiple_choice" or may_choose
    split = (
        split_options(body, is_choice)
        if kind in (None, "multiple_choice", "true_false", "material_analysis") or may_choose
        else None
    )
    if split is None and kind in ("fill_in_the_blank", "short_answer", "term_explanation"):
        split = _strict_options(body)
        if split is not None and draft.fine is not None and draft.fine.name != "cloze":
            draft.notes.append("options_under_other_heading")
    if split is None and kind is None and _is_letter(answers.strip()):
        split = split_options(
            body, True
        )  # the answer is one letter: then `a)` `b)` at line starts are options
    raw_stem = ""
    if split is not None:
        _fill_choice(draft, split, language)
        body = split.stem
        raw_stem = join_pieces(body)
    if answers:
        answers = _prefer_correct(answers, draft)
    answer_text = clean_text(answers, language) if answers else ""
    draft.explanation = clean_text(explanation, language) if explanation else None
    body = _take_margin_marks(body, draft)
    draft.stem = clean_text(join_pieces(body), language)
    _take_marks(draft)
    if draft.options:
        _settle_choice(draft, answer_text, language, raw_stem)
    else:
        _settle_free(draft, answer_text, body, kind, language, is_answered)
    return draft


def _is_letter(answer: str) -> bool:
    return (
        0 < len(answer) <= 60
        and "\n" not in answer
        and read_key(_AFTER_LETTER.split(answer, maxsplit=1)[0]) is not None
    )


def _take_tags(pieces: list[Piece], draft: Draft) -> list[Piece]:
    """Read `【单选题】`, `(多选)` and `（10分）` at the start of a question."""
    while len(pieces) > 1 and (outcome := _OUTCOME.fullmatch(pieces[0].text)):
        total = outcome.group("marks")
        draft.marks = float(total) if total and draft.marks is None else draft.marks
        pieces = pieces[1:]
    for _ in range(3):
        first = pieces[0]
        marks = MARKS_GROUP.match(first.text)
        tag = TYPE_TAG.match(first.text)
        if marks and (len(first.text) > marks.end() or len(pieces) > 1):
            draft.marks = float(marks.group(1))
            lead = re.match(r"\s*[:：.]?\s*", first.text[marks.end() :])
            pieces[0] = first.cut(marks.end() + (lead.end() if lead else 0))
            if not pieces[0].text.strip():
                pieces = pieces[1:]
        elif tag and match_type_name(tag.group(1)) is not None and len(first.text) > tag.end():
            draft.fine = match_type_name(tag.group(1))
            pieces[0] = first.cut(tag.end())
        else:
            break
    # `… [单选题]` behind the stem, as survey programs print it
    tail = _TAIL_TAG.search(pieces[0].text) if pieces[0].text.rstrip()[-1:] in "】]*＊" else None
    fine = match_type_name(tail.group(1)) if tail is not None else None
    if tail is not None and fine is not None and tail.start() > 0:
        draft.fine = draft.fine or fine
        pieces[0] = pieces[0].cut(0, tail.start())
    return pieces


# `CLO: <2>; Bloom Taxonomy Level: <Applying>   Marks: 9`, `[3+5=8]`: what a form says of a question
_OUTCOME = re.compile(
    r"\s*(?:(?:C\.?L\.?O|P\.?L\.?O|CO|LO|SO|BL|BT|Bloom['’]?s?(?:\s+Taxonomy)?(?:\s+Level)?|Difficulty|Topic|Time)\b\s*[-:：#]+\s*[<(\[]?[\w ,&/+-]{1,24}[>)\]]?\s*[:;,.|]*\s*|"
    r"(?:Marks|Points|Total Marks)\s*[-:：=]\s*\[?(?P<marks>\d{1,3})\]?\s*[;,.]?\s*|[\[(]\s*\d{1,2}(?:\s*\+\s*\d{1,2})*\s*=\s*\d{1,3}\s*[\])]\s*|\[\d{1,3}\]\s*)+",
    re.IGNORECASE,
)


def _strict_options(body: Sequence[Piece]) -> OptionSplit | None:
    """Options under a heading that announces none count only when there are four and each is plainly marked."""
    split = split_options(body, is_choice=False)
    if split is None or len(split.options) < 4 or split.notes:
        return None
    return split


def _separate_answers(pieces: list[Piece]) -> tuple[list[Piece], str, str]:
    """Return the lines of stem and options, the text of the answer and of the explanation.

    Answers after each part of a question (`(i) … Answer: … (ii) … Answer: …`) are taken out one by one.
    """
    body: list[Piece] = []
    answers: list[list[Piece]] = []
    explanations: list[Piece] = []
    mode = "body"
    part_style, last_part = "", 0
    runs_on = False
    for piece in pieces:
        text = piece.text
        # without a colon or a thick bracket only ANSWER_MARK matches anything
        is_marked = has_colon(text) or "【" in text or "】" in text
        if is_marked and IGNORED_MARK.match(text) and (mode != "body" or body):
            continue
        # a line that only continues the sentence before it opens nothing
        answer_mark = ANSWER_MARK.fullmatch(text) if runs_on else ANSWER_MARK.match(text)
        if answer_mark is None and is_marked and not runs_on:
            answer_mark = _match_program(piece, pieces, body)
        explanation_mark = EXPLANATION_MARK.match(text.lstrip()) if is_marked and not runs_on else None
        runs_on = piece.wraps
        if answer_mark and (body or mode == "body"):
            mode = "answer"
            answers.append([])
            rest = piece.cut(answer_mark.end())
            inner = find_explanation(rest.text)
            if inner:
                answers[-1].append(rest.cut(0, inner.start()))
                mode = "explanation"
                explanations.append(rest.cut(inner.end()))
            elif rest.text.strip():
                answers[-1].append(rest)
            continue
        if explanation_mark and (body or answers):
            mode = "explanation"
            lead = len(text) - len(text.lstrip())
            explanations.append(piece.cut(lead + explanation_mark.end()))
            continue
        label = piece.label
        if mode != "body" and label is not None and label.style == part_style and label.value > last_part:
            mode = "body"
        if (
            mode != "body"
            and _OPTION_A.match(text)
            and not any(_OPTION_A.match(other.text) for other in body)
        ):
            mode = "body"  # the key stood on the stem's line, the options follow
        if mode == "body":
            if label is not None and label.style in (
                "romanp",
                "romanl",
                "letterp",
                "letter",
                "nump",
                "paren",
                "cnp",
            ):
                if not part_style and label.value == 1:
                    part_style = label.style
                last_part = label.value if label.style == part_style else last_part
            inline = INLINE_ANSWER.search(text) if "答案" in text or "Ans" in text else None
            if inline and inline.start() > 0:
                head = piece.cut(0, inline.start())
                if head.text.strip():
                    body.append(head)
                rest = piece.cut(inline.end())
                inner = find_explanation(rest.text)
                answers.append([rest.cut(0, inner.start()) if inner else rest])
                mode = "answer"
                if inner:
                    mode = "explanation"
                    explanations.append(rest.cut(inner.end()))
                continue
            inner = EXPLANATION_MARK.search(text) if "【" in text else None
            if inner and inner.group(0).startswith("【"):
                body.append(piece.cut(0, inner.start()))
                explanations.append(piece.cut(inner.end()))
                mode = "explanation"
                continue
            body.append(piece)
        elif mode == "answer":
            answers[-1].append(piece)
        else:
            explanations.append(piece)
    texts = [join_pieces([piece for piece in answer if piece.text.strip()]) for answer in answers]
    answer_text = "\n".join(text for text in texts if text.strip())
    if not body and answers:
        return pieces, "", ""
    return body, answer_text.strip(), join_pieces(explanations).strip()


def _match_program(piece: Piece, pieces: Sequence[Piece], body: Sequence[Piece]) -> re.Match[str] | None:
    """Match `运行结果：24` or `参考程序：` where the answer follows it and a question precedes it."""
    if body and _PROOF.match(piece.text) and any("证" in line.text for line in body):
        return _PROOF.match(piece.text)
    match = PROGRAM_ANSWER.match(piece.text)
    if match is None or not body:
        return None
    rest = piece.text[match.end() :].strip(" _")
    if rest:
        return match
    is_last = pieces[-1] is piece
    asks_to_write = _WRITES_CODE.search(body[0].text) is not None
    return match if not is_last and (asks_to_write or "参考" in match.group(0)) else None


def _fill_choice(draft: Draft, split: OptionSplit, language: str | None) -> None:
    draft.notes.extend(split.notes)
    last_by_place = max(split.options, key=lambda option: option[1][0].start)
    kept, trailing = _cut_trailing(last_by_place[1], "".join(label for label, _ in split.options))
    split.options[:] = [
        (label, kept if label == last_by_place[0] else pieces) for label, pieces in split.options
    ]
    draft.unmarked = trailing
    # a picture on a line of its own behind the last option belongs to the question
    pictures = [piece for piece in kept[1:] if piece.text.strip() == IMAGE]
    if pictures and kept[-1] in pictures:
        split.stem.extend(pictures)
        split.options[:] = [
            (label, [piece for piece in pieces if piece not in pictures]) for label, pieces in split.options
        ]
    texts = strip_separators([clean_text(option_text(pieces), language) for _, pieces in split.options])
    draft.options = [(label, text) for (label, _), text in zip(split.options, texts, strict=True)]
    place = next(index for index, (label, _) in enumerate(split.options) if label == last_by_place[0])
    # the closing bracket first: few options have one
    bare = _KEY_PLACE.sub("", texts[place]) if texts[place].rstrip()[-1:] in ")）］]" else texts[place]
    if bare != texts[place] and bare and not any(_KEY_PLACE.search(text) for text in texts[:place]):
        draft.options[place] = (
            last_by_place[0],
            bare,
        )  # `D. 自身调节   （   ）`: where the letter is to be written
    draft.starred = sorted(split.starred)
    draft.option_places = [
        (
            label,
            [source for piece in pieces for source in _place_letters(piece)],
        )
        for label, pieces in split.options
    ]


def _place_letters(piece: Piece) -> Sequence[int]:
    if piece.text.isalnum():
        return piece.sources[: len(piece.text)]
    pairs = zip(piece.text, piece.sources, strict=False)
    return [source for character, source in pairs if character.isalnum()]


def _cut_trailing(pieces: list[Piece], labels: str) -> tuple[list[Piece], list[Piece]]:
    """Separate a bare key behind the last option from that option's own (wrapped) lines."""
    for index, piece in enumerate(pieces):
        if index and (
            read_bare_key(piece.text, labels) is not None or read_bare_truth(piece.text) is not None
        ):
            return list(pieces[:index]), list(pieces[index:])
    if pieces:
        tail = _KEY_TAIL.search(pieces[-1].text) if pieces[-1].text.rstrip()[-1:] in "ABCDEFGHIJ)）" else None
        if tail and read_key(tail.group(1), labels) is not None and pieces[-1].text[: tail.start()].strip():
            last = pieces[-1]
            return [*pieces[:-1], last.cut(0, tail.start())], [last.cut(tail.start(1), tail.end(1))]
    return list(pieces), []


def _take_margin_marks(body: list[Piece], draft: Draft) -> list[Piece]:
    """Take `… of the Otto cycle.      10`: marks in the right margin of a question, behind a wide gap."""
    if not body or draft.options or not body[-1].text.rstrip()[-1:].isdecimal():
        return body
    if sum(1 for piece in body if _MARGIN.search(piece.text)) != 1:
        return body
    tail = _MARGIN.search(body[-1].text)
    if tail is None:
        return body
    draft.marks = draft.marks if draft.marks is not None else float(tail.group(1))
    return [*body[:-1], body[-1].cut(0, tail.start())]


def _take_marks(draft: Draft) -> None:
    last = draft.stem.rstrip()[-1:]
    if last not in ")）]】.tTsSkKſ\u212a":
        return  # neither of the two marks below ends so
    if len(_PART_MARKS.findall(draft.stem)) > 1:
        return  # marks of the parts stay where they are
    tail = _MARKS_TAIL.search(draft.stem) if last in ")）]】" else None
    tail = tail or _BARE_MARKS_TAIL.search(draft.stem)
    if tail and tail.start() > 0:
        draft.marks = draft.marks if draft.marks is not None else float(tail.group(1) or tail.group(2))
        draft.stem = draft.stem[: tail.start()].rstrip()


def _prefer_correct(text: str, draft: Draft) -> str:
    """Of `我的答案：A 正确答案：B` take B; drop remarks on difficulty and topic behind the answer."""
    is_marked = has_colon(text)
    marks = list(CORRECT_MARK.finditer(text)) if is_marked else []
    if marks:
        text = text[marks[-1].end() :]
    elif "student" in draft.notes:
        draft.notes.append("answer_is_a_students")
    if "student" in draft.notes:
        draft.notes.remove("student")
    return METADATA.sub("", text).strip() if is_marked else text.strip()


def _settle_choice(draft: Draft, answer_text: str, language: str | None, raw_stem: str) -> None:
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
        if trailing is not None:
            draft.answer, draft.stem = trailing.answer, clean_text(trailing.text, language)
    if not draft.answer and draft.starred:
        draft.answer = list(draft.starred)
    elif draft.starred and draft.starred != draft.answer:
        draft.notes.append("keys_disagree")
    draft.unmarked = []
    if are_truth_options([text for _, text in draft.options]):
        make_true_false(draft)


def make_true_false(draft: Draft) -> None:
    """Turn the options 正确/错误 and their key into a true/false question."""
    truths = {label: read_truth(text) for label, text in draft.options}
    answers = [truths.get(label) or read_truth(label) for label in draft.answer]
    draft.question_type = "true_false"
    draft.answer = [answer for answer in answers[:1] if answer]
    draft.options = []


def set_choice_answer(draft: Draft, text: str) -> None:
    """Set the key of a choice question from a printed answer: letters, or the text of an option."""
    labels = "".join(label for label, _ in draft.options)
    text, alternative = split_alternatives(text.strip())
    if alternative is not None:
        draft.notes.append("alternative_key_printed")
    first, _, rest = text.partition("\n")
    letters = read_key(first, labels)
    if letters is None and len(first) > 2:
        # `A mill wheel` is the text of an option, not option A with a remark
        folded = _fold_option(first)
        letters = [label for label, option in draft.options if _fold_option(option) == folded][:1] or None
    if letters is None:
        match = re.match(
            rf"\s*[（(]?\s*([{labels}](?:[\s,，、;；]*[{labels}])*|[{labels.lower()}](?=[.)）]))\s*[)）]?(?:\s*[.．、。:：,，;；]\s*|\s+(?=\S)|$)(.*)",
            first,
        )
        if match:
            letters = read_key(match.group(1), labels)
            rest = (match.group(2) + "\n" + rest).strip()
            option = dict(draft.options).get(letters[0], "") if letters and len(letters) == 1 else ""
            if rest.strip(" 。.") == option.strip(" 。."):
                rest = ""
    if letters is None:
        folded = re.sub(r"\s+|[。.；;]$", "", first)
        letters = [
            label for label, option in draft.options if re.sub(r"\s+|[。.；;]$", "", option) == folded
        ] or None
    if letters is None:
        letters = _read_named(first, draft.options) or _read_ordinals(first, labels)
    if letters is None and len(draft.options) == 2:
        truth = read_truth(first)
        if truth is not None:
            letters = [label for label, option in draft.options if read_truth(option) == truth] or None
    if letters is None:
        stray = read_key(first)
        draft.notes.append("key_not_among_options" if stray is not None else "answer_unreadable")
        if stray is None and text:
            draft.explanation = draft.explanation or text
        return
    draft.answer = letters
    rest = rest.strip()
    if rest:
        draft.explanation = f"{rest}\n{draft.explanation}" if draft.explanation else rest


_ORDINALS = re.compile(
    r"\s*[（(]?\s*\d{1,2}(?:\s*[,，、;；&/]\s*\d{1,2}|\s+and\s+\d{1,2})*\s*[)）]?\s*[.。]?\s*"
)


def _read_ordinals(text: str, labels: str) -> list[str] | None:
    """Read `2`, `1, 3`: the second option, the first and the third; None where a number has no option."""
    if not _ORDINALS.fullmatch(text):
        return None
    places = [int(number) for number in re.findall(r"\d+", text)]
    if not all(0 < place <= len(labels) for place in places) or len(set(places)) < len(places):
        return None
    return sorted(labels[place - 1] for place in places)


def _read_named(text: str, options: Sequence[tuple[str, str]]) -> list[str] | None:
    """Read an answer that is printed as the text of one option, or of several in a row; None where none fits."""
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
    covered = sum(len(option) for _, option, _ in found)
    is_whole = covered >= len(wanted) - len(found) and len({place for place, _, _ in found}) == len(found)
    return sorted(label for _, _, label in found) if found and is_whole else None


def _fold_option(text: str) -> str:
    """An option without white space, its own label, closing stops and signs of private fonts."""
    text = re.sub(r"[\ue000-\uf8ff\s]+", "", text)
    text = re.sub(r"^[（(]?[A-Ja-j][)）.．、:：]", "", text)
    return text.strip("。.；;，, ").casefold()


def _settle_free(
    draft: Draft,
    answer_text: str,
    body: list[Piece],
    kind: str | None,
    language: str | None,
    is_answered: bool,
) -> None:
    judged = None
    if kind in (None, "true_false"):
        judged = read_bracketed_truth(draft.stem, kind == "true_false")
        if judged is None and kind == "true_false" and len(body) > 1:
            truth = read_bare_truth(body[-1].text)
            if truth is not None:
                draft.answer = [truth]
                draft.stem = clean_text(join_pieces(body[:-1]), language)
    if judged is not None:
        draft.answer, draft.stem = judged.answer, clean_text(judged.text, language)
        draft.explanation = draft.explanation or judged.remark
    if kind is None:
        first = answer_text.split("\n")[0]
        if _ASKS_TRUTH.match(draft.stem):
            first = re.split(r"[\s.,;:。，；]", first.strip())[0]
        truth = read_truth(first) if first and len(first) < 8 else None
        truth = truth if len(answer_text) < 8 or _ASKS_TRUTH.match(draft.stem) else None
        if judged is not None or (truth is not None and len(draft.stem) > 4):
            kind = "true_false"
        else:
            kind = infer_free_type(draft.stem, draft.material)
    draft.question_type = kind
    if kind == "material_analysis":
        draft.material, draft.stem = split_material(draft.stem)
    if kind == "true_false":
        _settle_true_false(draft, answer_text, body, language)
        return
    if kind == "multiple_choice":
        draft.notes.append("options_missing")
        found = read_bracketed_key(draft.stem, "ABCDEFGHIJ")
        letters = read_key(answer_text) if answer_text else None
        draft.answer = letters or (found.answer if found else [])
        if found:
            draft.stem = clean_text(found.text, language)
        return
    if kind == "term_explanation" and not answer_text:
        defined = re.match(r"([^：:，。,\n]{1,24})[：:]\s*(\S[\s\S]{7,})$", draft.stem)
        if defined:
            draft.stem, draft.answer = defined.group(1).strip(), [defined.group(2).strip()]
            return
    if answer_text:
        draft.answer = (
            split_fillings(answer_text, count_blanks(draft.stem))
            if kind == "fill_in_the_blank"
            else [answer_text]
        )
    elif kind == "fill_in_the_blank":
        _take_filled_blanks(draft, join_pieces(body), language, is_answered)
        if not draft.answer and is_answered and len(body) > 1:
            _take_unmarked(draft, body, language)
    elif is_answered or _is_written_code(body):
        _take_unmarked(draft, body, language)


def _is_written_code(body: Sequence[Piece]) -> bool:
    """Whether the program that the question asks for stands below it: nothing but code, and the question is complete."""
    first = body[0].text.strip() if body else ""
    code = [piece.text for piece in body[1:]]
    return (
        len(code) >= 3
        and first.endswith(("。", "."))
        and _WRITES_CODE.search(first) is not None
        and re.search(r"[如以]下|下列|下面|补充|完成|填|改", first) is None
        and all(_CODE.search(line) or len(line.strip()) < 60 for line in code)
        and sum(1 for line in code if _CODE.search(line)) >= 0.6 * len(code)
    )


def split_material(text: str) -> tuple[str | None, str]:
    """Separate a question's material from what is asked: `阅读材料，回答问题。` 材料：… （1）… （2）….

    The asking part is the opening instruction and everything from the first numbered part on; without parts,
    the closing questions. Returns (None, text) where nothing can be told apart.
    """
    lines = text.split("\n")
    opening = [lines[0]] if _INSTRUCTS.match(lines[0]) and len(lines[0]) < 80 and len(lines) > 1 else []
    rest = lines[len(opening) :]
    first = next((index for index, line in enumerate(rest) if _FIRST_PART.match(line)), None)
    if first is None:
        first = len(rest)
        while first > 0 and re.search(r"[？?]\s*(?:[（(][^（()）]{1,8}[)）])?$", rest[first - 1]):
            first -= 1
        if first == len(rest) and len(rest) > 1 and _REQUEST.match(rest[-1]):
            first = len(rest) - 1
    material, asking = rest[:first], rest[first:]
    # a line that only says that questions follow belongs to neither
    if material and asking and _ASKING_LEAD.fullmatch(material[-1]):
        material = material[:-1]
    if len(asking) > 1 and _ASKING_LEAD.fullmatch(asking[0]):
        asking = asking[1:]
    if not material or not (asking or opening):
        return None, text
    joined = "\n".join(material).strip()
    if not asking and not opening:
        return None, text
    if len(re.findall(r"(?m)^\s*【?(?:材料|案例|史料|资料|Material|Case|Passage)", joined)) == 1:
        joined = re.sub(r"^\s*【?(?:背景)?(?:材料|案例|资料|Material|Case|Passage)】?\s*[:：]\s*", "", joined)
    return joined or None, "\n".join([*opening, *asking]).strip()


def drop_asking_lead(material: str) -> str:
    """Drop the last line of a material where it only says that questions follow (`请回答：`)."""
    lines = material.split("\n")
    return "\n".join(lines[:-1]) if len(lines) > 1 and _ASKING_LEAD.fullmatch(lines[-1]) else material


def _settle_true_false(draft: Draft, answer_text: str, body: list[Piece], language: str | None) -> None:
    if answer_text and not draft.answer:
        first, _, rest = answer_text.partition("\n")
        match = re.match(
            r"\s*[（(]?\s*(√|×|✓|✗|✔|✘|对|错误|正确|错|True|False|TRUE|FALSE|true|false|T|F|Y|N|A|B)\s*[)）]?(?:[\s。.,，;；:：]+|$)(.*)",
            first,
        )
        if match:
            word = {"A": "true", "B": "false"}.get(match.group(1)) or read_truth(match.group(1))
            draft.answer = [word] if word else []
            remark = (match.group(2) + "\n" + rest).strip()
            draft.explanation = draft.explanation or remark or None
        else:
            draft.notes.append("answer_unreadable")
            draft.explanation = draft.explanation or answer_text
    draft.stem = _TRUTH_PLACE.sub("", draft.stem).rstrip()


def _take_filled_blanks(draft: Draft, raw: str, language: str | None, is_answered: bool) -> None:
    """Read answers printed inside the blanks: `是__质__的`, `是（ 质 ）的`; in an answered paper also `是（质）的`."""
    underlined = re.compile(r"(?<!_)_{1,3}([^_\s，。；;、,.]{1,30}?)_{1,3}(?!_)")
    filled = underlined.findall(draft.stem)
    if filled and all(BLANK_NUMBER.fullmatch(text) for text in filled):
        return  # `m = ___(1)___;`: the blanks are counted, not filled
    if filled and "____" not in draft.stem:
        draft.answer = [text.strip() for text in filled]
        draft.stem = clean_text(underlined.sub("____", draft.stem), language)
        return
    if has_blank(draft.stem):
        return
    # the spaces before a closing bracket are gone from the cleaned stem
    padded = _PADDED.findall(raw)
    tight = re.findall(r"（([^（()）]{1,40})）", draft.stem) if is_answered and not padded else []
    if tight:
        draft.answer = [text.strip() for text in tight]
        draft.stem = clean_text(re.sub(r"（[^（()）]{1,40}）", "（）", draft.stem), language)
        draft.notes.append("answer_without_mark")
        return
    if padded:
        draft.answer = [text.strip() for text in padded]
        draft.stem = clean_text(_PADDED.sub("（）", raw), language)
        return
    # `宗旨是 为人民服务 。`: an underline lost in conversion leaves the answer between spaces
    spaced = re.compile(
        r"(?<=[\u4e00-\u9fff：=、，]) +((?![和与及或] )[\u4e00-\u9fff\d][^\s，。；：]{0,29}) +(?=[\u4e00-\u9fff，。；、．])"
    )
    found = spaced.findall(raw)
    if found:
        draft.answer = [text.strip() for text in found]
        draft.stem = clean_text(spaced.sub("____", raw), language)
        draft.notes.append("answer_without_mark")
        return
    # `分为      和      。`: a place to write in that is nothing but white space
    gaps = re.compile(r"(?<=[\u4e00-\u9fff：:=≥≤>＝、，]) {3,}(?=[\u4e00-\u9fff，。；、．.,]|$)")
    if gaps.search(raw):
        draft.stem = clean_text(gaps.sub("____", raw), language)


def _take_unmarked(draft: Draft, body: list[Piece], language: str | None) -> None:
    """Cut the stem where the unmarked answer begins: behind its first sentence and any further question."""
    paragraphs = _paragraphs(body)
    if len(paragraphs) < 2:
        return
    cut = 1
    if _LIST_STEM.search(join_pieces(paragraphs[0])) and not re.search(
        r"[？?]\s*$", join_pieces(paragraphs[0])
    ):
        cut = 2
    asked = [place for place, paragraph in enumerate(paragraphs) if _ASKING.match(paragraph[0].text)]
    cut = max(cut, asked[0] + 1 if asked else 0)
    if not _WRITES_CODE.search(join_pieces(paragraphs[0])):
        # a program below the question is part of it
        while cut < len(paragraphs) and _CODE.search(join_pieces(paragraphs[cut])):
            cut += 1
        if _CODE.search(join_pieces(paragraphs[0])):
            cut = max(
                (place + 1 for place, lines in enumerate(paragraphs) if _CODE.search(join_pieces(lines))),
                default=cut,
            )
    while cut < len(paragraphs) and paragraphs[cut][0].kind == "table":
        cut += 1  # the data of the question, and what is asked of them
        if cut < len(paragraphs) and re.search(r"求|计算|试|请|要求", join_pieces(paragraphs[cut])):
            cut += 1
    cut = _skip_shown(paragraphs, _skip_parts(paragraphs, cut))
    while cut < len(paragraphs):
        text = join_pieces(paragraphs[cut]).strip()
        before = join_pieces(paragraphs[cut - 1]).strip()
        if len(before) > 40 and re.search(r"[\w,，、\-]$", before) and re.match(r"[a-z]", text):
            cut += 1  # a sentence that a converter broke
            continue
        is_part = _SUBPART.match(text) and re.search(r"[？?]\s*(?:[（(].{0,8}[)）])?$", text)
        if (
            re.search(r"[？?]\s*(?:[（(]\s*\d+\s*(?:分|points?|pts?|marks?)\s*[)）])?$", text)
            or is_part
            or MARKS_GROUP.fullmatch(text)
        ):
            cut += 1
        else:
            break
    if cut >= len(paragraphs):
        return
    stem = [piece for paragraph in paragraphs[:cut] for piece in paragraph]
    rest = [piece for paragraph in paragraphs[cut:] for piece in paragraph]
    draft.stem = clean_text(join_pieces(stem), language)
    _take_marks(draft)
    answer = clean_text(join_pieces(rest), language)
    if answer:
        draft.answer = [answer]
        draft.notes.append("answer_without_mark")


_LEADS_PARTS = re.compile(
    r"(?:(?:完成|回答|解决|求解|实现|计算)(?:下列|以下|下面|如下).{0,12}|^\s*(?:试|请|要求|求).{0,40})[：:]$"
)


def _skip_parts(paragraphs: Sequence[list[Piece]], cut: int) -> int:
    """Return the place behind the numbered parts that a line like `试用 SQL 完成下列查询：` asks for, else `cut`.

    Where numbers run on from 1 behind such a line, everything up to the last of them is the question.
    """
    texts = [join_pieces(paragraph).strip() for paragraph in paragraphs]
    for place, text in enumerate(texts[:-1]):
        if not _LEADS_PARTS.search(text):
            continue
        last = place + 1
        while last < len(texts) and (number := _PART_NUMBER.match(texts[last])) is not None:
            if int(number.group(1)) != last - place:
                break
            last += 1
        if last > place + 2:
            return max(cut, last)
    return cut


_PART_NUMBER = re.compile(r"[（(]?\s*(\d{1,2})\s*(?:[)）]|[.．、](?!\d))")


def _skip_shown(paragraphs: Sequence[list[Piece]], cut: int) -> int:
    """Return where an unmarked answer may begin: behind the code or grammar that a stem shows, and the parts it asks."""
    texts = [join_pieces(paragraph).strip() for paragraph in paragraphs]
    place = cut
    if any(text.endswith((":", "：", "{")) for text in texts[:cut]):
        while place < len(texts) and _is_shown(texts[place], paragraphs[place]):
            place += 1
    parts = place
    while parts < len(texts) and (
        _ASKED_PART.match(texts[parts]) or _is_shown(texts[parts], paragraphs[parts])
    ):
        parts += 1
    has_parts = any(_ASKED_PART.match(text) for text in texts[place:parts])
    return parts if has_parts else place


def _is_shown(text: str, pieces: Sequence[Piece]) -> bool:
    """A line of code, grammar, formulas or a table rather than of prose."""
    if pieces[0].kind == "table" or text in ("{", "}"):
        return True
    return not re.search(r"[\u4e00-\u9fff]", text) and re.search(r"[={}→|;]|->", text) is not None


def _paragraphs(body: Sequence[Piece]) -> list[list[Piece]]:
    found: list[list[Piece]] = []
    runs_on = False
    for piece in body:
        if runs_on and found:
            found[-1].append(piece)
        else:
            found.append([piece])
        runs_on = piece.wraps
    return found
