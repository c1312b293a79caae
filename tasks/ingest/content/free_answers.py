"""Questions without options: judgements, filled blanks, written answers with a mark or none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.named_pictures import SPEAKS_OF_FIGURE
from tasks.ingest.content.printed_marks import take_marks
from tasks.ingest.layout.headings import MARKS_GROUP
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.readers.extraction import IMAGE, is_picture
from tasks.ingest.words.answers import (
    PROGRAM_ANSWER,
    TRUTH_KEY,
    corrects,
    is_count,
    match_answer,
    read_bare_truth,
    read_bracketed_key,
    read_bracketed_truth,
    read_key,
    read_truth,
    split_fillings,
)
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.grammar import asking, task, truth_words
from tasks.ingest.words.kinds import computes, infer_free_type
from tasks.ingest.words.points import BRACKETED
from tasks.ingest.words.signs import asks_by_sign
from tasks.questions import count_blanks, has_blank

_TRUTH = r"(?:True|TRUE|T|true)\s*(?:[/|]|or|\s|_+)\s*(?:False|FALSE|F|false)|对\s*/\s*错"
# what only waits for the judgement: an empty bracket, a line to write on, `True / False`, `Explain:`
# Characters at the end of a stem in which a place for the answer is looked for.
_LOOKED_AT = 1_000
_TRUTH_PLACE = re.compile(
    rf"(?:\s*(?:[（(\[]\s*+(?:{_TRUTH}|_*+)\s*+[)）\]]|_{{3,}}+|(?<=[.。!?\n\s])(?:{_TRUTH})|\n(?:Explain|Justify|Justification|Reason|Why)(?: your answer)?\s*[:.]?\s*_*+))+\s*$"
)
_ASKS_TRUTH = re.compile(r"(?i)\s*[(（\[]?(?:true\s*(?:or|/)\s*false|T\s*/\s*F)\b")
_PADDED = re.compile(r"[（(]\s+([^（()）\s][^（()）]{0,38}?)\s+[)）]")
BLANK_NUMBER = re.compile(r"\s*(?:[（(]\s*\d{1,2}\s*[)）]|[①-⑳])\s*")


def settle_free(
    draft: Draft,
    answer_text: str,
    body: list[Piece],
    kind: str | None,
    language: str | None,
    is_answered: bool,
    has_material: bool = False,
) -> None:
    """Set type, answer and material of a question without options, of a section's type."""
    asked, _, last = draft.stem.rpartition("\n")
    place = PROGRAM_ANSWER.match(last) if asked else None
    if place is not None and not last[place.end() :].strip(" _"):
        draft.stem = asked  # `运行结果：____` below a program
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
        said = first if asks_by_sign(draft.stem) else first.strip(_QUOTES)
        truth = read_truth(said) if said and len(first) < _LONGEST_TRUTH else None
        truth = truth if len(answer_text) < _LONGEST_TRUTH or _ASKS_TRUTH.match(draft.stem) else None
        is_judged = truth is not None and len(draft.stem) > 4 and not is_count(draft.stem, first)
        if judged is not None or is_judged or corrects(draft.stem, answer_text):
            kind = "true_false"
        else:
            kind = infer_free_type(draft.stem, draft.material)
    elif draft.fine is not None and draft.fine.name in _TELLS_LITTLE:
        is_filled = infer_free_type(draft.stem, None) == "fill_in_the_blank" and not _DEMANDS.search(
            draft.stem
        )
        kind = (
            "material_analysis"
            if _asks_of_material(draft.stem)
            else "fill_in_the_blank"
            if is_filled
            else kind
        )
    draft.question_type = kind
    if kind == "material_analysis" and not has_material:
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
            take_unmarked(draft, body, language)
    elif is_answered or is_written_code(body):
        take_unmarked(draft, body, language)


def settle_computed(drafts: Sequence[Draft]) -> None:
    """Call a question of which no heading says its type a calculation where its answer is one."""
    for draft in drafts:
        is_told = draft.fine is not None and draft.fine.name not in _TELLS_LITTLE
        is_open = draft.question_type == "short_answer" and not is_told and len(draft.answer) == 1
        if is_open and computes(draft.stem, draft.answer[0]):
            draft.question_type = "calculation"


# beside a blank: what is to be written is more than fills it
_DEMANDS = re.compile(
    r"求|过程|说明|理由|证明|为什么|简述|列式|计算|多少|(?i:\b(?:show|explain|find|solve|prove|why)\b)"
)
# `'False'.` is no longer
_LONGEST_TRUTH, _QUOTES = 9, " '\"‘’“”.。"
# titles such as 非选择题 and 综合题 say only that something is to be written
_TELLS_LITTLE = ("problem", "application")


def _asks_of_material(stem: str) -> bool:
    """Whether a question has a material, `阅读下列材料，回答问题。`, and asks about it."""
    return infer_free_type(stem, None) == "material_analysis" and split_material(stem)[0] is not None


def _settle_true_false(draft: Draft, answer_text: str, body: list[Piece], language: str | None) -> None:
    if answer_text and not draft.answer:
        first, _, rest = answer_text.partition("\n")
        match = re.match(
            rf"\s*[（('‘“\"]?\s*({TRUTH_KEY}|A|B)\s*[)）'’”\"]?(?:[\s。.,，;；:：]+|$)(.*)", first
        )
        if match:
            word = {"A": "true", "B": "false"}.get(match.group(1)) or read_truth(match.group(1))
            draft.answer = [word] if word else []
            remark = (match.group(2) + "\n" + rest).strip()
            draft.explanation = draft.explanation or remark or None
        else:
            draft.notes.append("answer_unreadable")
            draft.explanation = draft.explanation or answer_text
    draft.stem = _LEADING_PLACE.sub("", draft.stem)
    end = draft.stem[-_LOOKED_AT:]
    draft.stem = (draft.stem[: len(draft.stem) - len(end)] + _TRUTH_PLACE.sub("", end)).rstrip()


# `( ) Water …`, `(....) Water …`, `____ Water …`: where the judgement is to be written
_LEADING_PLACE = re.compile(r"^\s*(?:[（(\[]\s*(?:\.{2,}|…+|_+)?\s*[)）\]]|_{2,})\s*(?=\S)")
_NUMBERED_PLACE = re.compile(r"【\s*\d{1,2}\s*】")  # `当 x 为 3 的倍数时 【6】`: the place to fill in


# `（卯眼）`, `【卯眼】`, `[mortise]`: what fills a gap; `f(x)` and `Health Organization (WHO)` have none
FILLED_BRACKET = re.compile(
    r"([（【]|(?<![A-Za-z0-9_)])[(\[](?!\s*[A-Z]{2,8}s?\s*[)\]]))([^（()）【】\[\]]{1,40})([)）】\]])"
)


def _take_filled_blanks(draft: Draft, raw: str, language: str | None, is_answered: bool) -> None:
    """Read answers printed inside blanks: `是__质__的`, `是（ 质 ）的`."""
    underlined = re.compile(r"(?<!_)_{1,3}([^_\s，。；;、,.]{1,30}?)_{1,3}(?!_)")
    filled = underlined.findall(draft.stem)
    if filled and all(BLANK_NUMBER.fullmatch(text) for text in filled):
        return  # `m = ___(1)___;`: the blanks are counted, not filled
    if filled and "____" not in draft.stem:
        draft.answer = [text.strip() for text in filled]
        draft.stem = clean_text(underlined.sub("____", draft.stem), language)
        return
    if has_blank(draft.stem) or _NUMBERED_PLACE.search(draft.stem):
        return
    # the spaces before a closing bracket are gone from the cleaned stem
    padded = _PADDED.findall(raw)
    tight = [one[2] for one in FILLED_BRACKET.finditer(draft.stem)] if is_answered and not padded else []
    if tight:
        draft.answer = [text.strip() for text in tight]
        draft.stem = clean_text(FILLED_BRACKET.sub(r"\1\3", draft.stem), language)
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


_LIST_STEM = re.compile(r"(?i)following|below|[:：]\s*$|如下|下列|以下|下面|下表|下图")
_ASKING = re.compile(r"\s*(?:Questions?|Required|Requirements?|Tasks?|问题?|要求)\s*[:：]")
_SUBPART = re.compile(
    r"^\s*(?:[（(]\s*(?:[0-9]{1,2}|[ivx]{1,4}|[a-h]|[一二三四五六七八九十])\s*[)）]|\d{1,2}\s*[.、．)）]|[①-⑩]|[a-h]\s*[)）.])"
)


def take_unmarked(draft: Draft, body: list[Piece], language: str | None) -> None:
    """Cut the stem where the unmarked answer begins: after the last question."""
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
    if not WRITES_CODE.search(join_pieces(paragraphs[0])):
        # a program below the question is part of it
        while cut < len(paragraphs) and CODE.search(join_pieces(paragraphs[cut])):
            cut += 1
    while cut < len(paragraphs) and paragraphs[cut][0].kind == "table":
        cut += 1  # the data of the question, and what is asked of them
    cut = _skip_parts(paragraphs, cut)
    if draft.question_type not in ("term_explanation", "fill_in_the_blank"):
        cut = _skip_silent(paragraphs, cut)
    while cut < len(paragraphs):
        text = join_pieces(paragraphs[cut]).strip()
        before = join_pieces(paragraphs[cut - 1]).strip()
        is_broken = re.search(r"[\w\-]$", before) is not None and re.match(r"[a-z]", text) is not None
        if len(before) > 40 and (is_broken or before[-1] in ",，、"):
            cut += 1  # a sentence that a converter broke
            continue
        is_part = _SUBPART.match(text) and re.search(r"[？?]\s*(?:[（(].{0,8}[)）])?$", text)
        if (
            re.search(rf"[？?]\s*(?:{BRACKETED})?$", text)
            or is_part
            or MARKS_GROUP.fullmatch(text)
            or task().match(text)
        ):
            cut += 1
        else:
            break
    cut = _skip_named_figure(paragraphs, cut)
    if cut >= len(paragraphs):
        return
    stem = [piece for paragraph in paragraphs[:cut] for piece in paragraph]
    rest = [piece for paragraph in paragraphs[cut:] for piece in paragraph]
    draft.stem = clean_text(join_pieces(stem), language)
    take_marks(draft)
    answer = clean_text(join_pieces(rest), language)
    if answer:
        take_below(draft, answer)


def take_below(draft: Draft, answer: str) -> None:
    """Give a question the answer cut from its stem, and the type that the rest shows."""
    draft.answer = [answer]
    draft.notes.append("answer_without_mark")
    truth = _read_judged(draft, answer)
    if truth is not None:
        draft.question_type, draft.answer = "true_false", [truth]
    elif draft.fine is None and not draft.material:
        draft.question_type = infer_free_type(draft.stem, None)


_LEAST_AGAIN = 3
_NUMBERED_WORD = re.compile(r"[^\W\d_]{2,12}\s*(\d{1,3})\s*[:：.．)）]")


def keep_translations(drafts: Sequence[Draft]) -> None:
    """Keep a question that its paper prints again in another language as a remark.

    `Prashn 5: …` below `Question 5` is no answer to it.
    """
    again = [draft for draft in drafts if _prints_again(draft)]
    for draft in again if len(again) >= _LEAST_AGAIN else ():
        draft.explanation = "\n".join(filter(None, (draft.explanation, *draft.answer)))
        draft.answer = []
        draft.notes.remove("answer_without_mark")


def _prints_again(draft: Draft) -> bool:
    lines = "\n".join(draft.answer).split("\n") if "answer_without_mark" in draft.notes else []
    marks = [_NUMBERED_WORD.match(line) for line in lines if match_answer(line) is None]
    return any(mark is not None and int(mark[1]) == draft.value for mark in marks)


def _read_judged(draft: Draft, answer: str) -> str | None:
    """The judgement below a statement that ends with a place for it: `… a day. ( )`."""
    is_word = answer.casefold() in frozenset.union(*truth_words()) and (
        len(answer) > 1 or not answer.isalnum()
    )
    leaves_place = draft.fine is None and _TRUTH_PLACE.search(draft.stem[-_LOOKED_AT:]) is not None
    return read_truth(answer) if is_word and leaves_place and not _ASKS_OPENLY.search(draft.stem) else None


_ASKS_OPENLY = re.compile(r"[？?]")
_LEADS_PARTS = re.compile(
    r"(?:(?:完成|回答|解决|求解|实现|计算)(?:下列|以下|下面|如下).{0,12}|^\s*(?:试|请|要求|求).{0,40})[：:]$"
)


def _skip_parts(paragraphs: Sequence[list[Piece]], cut: int) -> int:
    """The place after the numbered parts that a line asks for, else `cut`."""
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


def _skip_silent(paragraphs: Sequence[list[Piece]], cut: int) -> int:
    """The place after the first task, where nothing before `cut` asks, else `cut`."""
    texts = [join_pieces(paragraph).strip() for paragraph in paragraphs]
    if any(asking().search(text) for text in texts[:cut]):
        return cut
    first = next((place for place, text in enumerate(texts) if place >= cut and _sets_task(text)), None)
    if first is None:
        return cut
    tasks = takewhile(_sets_task, texts[first:])
    return first + sum(1 for _ in tasks)


def _sets_task(text: str) -> bool:
    """Whether a line asks by its words, or is a part that does, or has marks before its words."""
    part = _PART_LEAD.match(text)
    if part is None:
        return task().match(text) is not None
    return bool(part["marks"]) or asking().search(text, part.end()) is not None


_PART_LEAD = re.compile(rf"[（(]?(?:\d{{1,2}}|[ivx]{{1,4}}|[a-h])[)）.、]\s*(?P<marks>{BRACKETED}\s*)?")


# `请填写下列程序空白处`; what is to be drawn or written is the answer
_SHOWN_BELOW = re.compile(
    r"下[列面题]|[如以]下|所示|空白处|\b(?:following|below|shown)\b|\bblanks\b", re.IGNORECASE
)
_TO_DRAW = re.compile(r"[画绘]|作图|作出|\b(?:draw|sketch|plot|construct|design)\b", re.IGNORECASE)


def _skip_named_figure(paragraphs: Sequence[list[Piece]], cut: int) -> int:
    """Return the place after the figures below a stem that speaks of one, else `cut`.

    Where nothing but figures follows, a stem that points at what is below and sets nothing to draw speaks of them, too.
    """
    stem = "\n".join(join_pieces(paragraph) for paragraph in paragraphs[:cut])
    shown = cut
    while shown < len(paragraphs) and is_picture(join_pieces(paragraphs[shown])):
        shown += 1
    is_all = shown == len(paragraphs) and _SHOWN_BELOW.search(stem) is not None
    if IMAGE in stem or not (
        SPEAKS_OF_FIGURE.search(stem)
        or (is_all and not _TO_DRAW.search(stem) and not WRITES_CODE.search(stem))
    ):
        return cut
    return shown


_PART_NUMBER = re.compile(r"[（(]?\s*(\d{1,2})\s*(?:[)）]|[.．、](?!\d))")


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


WRITES_CODE = re.compile(r"编写|编程|编制|写(?:出|一个)?.{0,12}(?:程序|函数|语句|代码|算法|过程)|实现|设计")
CODE = re.compile(
    r"[;{}]\s*$|^\s*[{}#]|^\s*(?:#\s*include|using\b|import\b|from\s+\w+\s+import|public\b|private\b|class\b|def\b|void\b|int\b|char\b|float\b|double\b|main\s*\(|for\s*\(|while\s*\(|if\s*\(|else\b|return\b|print\w*\s*\(|cout\b|cin\b|(?i:select|insert|update|create)\s+\w)|^\s*//|/\*.*\*/"
)
_PROOF = re.compile(r"\s*证明?\s*[:：]\s*")


def match_program(piece: Piece, pieces: Sequence[Piece], body: Sequence[Piece]) -> re.Match[str] | None:
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
    asks_to_write = WRITES_CODE.search(body[0].text) is not None
    return match if not is_last and (asks_to_write or "参考" in match.group(0)) else None


def is_written_code(body: Sequence[Piece]) -> bool:
    """Whether nothing but the program that the question asks for stands below it."""
    first = body[0].text.strip() if body else ""
    code = [piece.text for piece in body[1:]]
    return (
        len(code) >= 3
        and first.endswith(("。", "."))
        and WRITES_CODE.search(first) is not None
        and re.search(r"[如以]下|下列|下面|补充|完成|填|改", first) is None
        and all(CODE.search(line) or len(line.strip()) < 60 for line in code)
        and sum(1 for line in code if CODE.search(line)) >= 0.6 * len(code)
    )


_INSTRUCTS = re.compile(
    r"(?i)^\s*(?:请?(?:认真|仔细)?(?:阅读|根据|结合)|read\b|study\b|based on).{0,60}(?:回答|完成|分析|作答|answer|questions?)"
)
_FIRST_PART = re.compile(
    r"^\s*(?:(?:问题?|请问|请回答|试问)\s*[:：]\s*)?(?:[（(]\s*(?:1|一|i|a)\s*[)）]|1\s*[.、．)）]|①|(?:问题|Question)\s*(?:1|一)?\s*[:：.])"
)
_ASKING_LEAD = re.compile(
    r"\s*[【\[]?(?:请(?:根据(?:以上|上述)(?:材料|资料|案例))?(?:回答|思考|分析)?(?:以下|下列|上述)?(?:问题)?|(?:思考)?问题?|试问|回答(?:下列|以下)?问题)[】\]]?\s*[:：]?\s*"
)
_REQUEST = re.compile(
    r"(?i)^\s*(?:请|试|结合|根据|运用|谈谈|说明|分析|简述|论述|explain|discuss|analy[sz]e|describe)"
)


_SHORTEST_MATERIAL = 40


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
    if not opening and len(joined) < _SHORTEST_MATERIAL and joined.endswith((":", "：")):
        return None, text  # `On the shortest path:` above its parts is no text to read
    if not asking and not opening:
        return None, text
    if len(re.findall(r"(?m)^\s*【?(?:材料|案例|史料|资料|Material|Case|Passage)", joined)) == 1:
        joined = re.sub(r"^\s*【?(?:背景)?(?:材料|案例|资料|Material|Case|Passage)】?\s*[:：]\s*", "", joined)
    return joined or None, "\n".join([*opening, *asking]).strip()


def drop_asking_lead(material: str) -> str:
    """Drop the last line of a material where it only says that questions follow (`请回答：`)."""
    lines = material.split("\n")
    return "\n".join(lines[:-1]) if len(lines) > 1 and _ASKING_LEAD.fullmatch(lines[-1]) else material
