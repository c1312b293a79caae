"""One line read as a heading: its number, type, marks, and where content begins on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas import patterns as re
from tasks.ingest.layout.announcements import read_each
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.pieces import PASSAGE, Piece
from tasks.ingest.words.answers import match_answer
from tasks.ingest.words.grammar import task
from tasks.ingest.words.labels import HEADING, Label, parse_label, read_number
from tasks.ingest.words.lexicon import (
    FineType,
    find_type_by_pattern,
    find_type_in_title,
    match_exactly,
    may_match_pattern,
    may_name,
    simplify,
)
from tasks.ingest.words.once import once_a_paper
from tasks.ingest.words.points import COUNTS, EACH, OPENING, POINT, SUM, TOTAL, WORTH
from tasks.ingest.words.signs import ends_asking
from tasks.questions import has_blank

_CN = "一二三四五六七八九十百"
MARKS_GROUP = re.compile(rf"\s*{OPENING}\s*")
INSTRUCTION = re.compile(
    r"在?(?:每|下列)(?:小)?题?(?:各题|列出|给出|的|中|只有|有|至少)|下列各题|请将|将(?:正确|所选|答案)|(?:错选|多选|少选|漏选)|每(?:小)?题\d|判断下列|只有一(?:个|项)|答在|写在答题|答题纸|"
    r"本(?:大|小)?题(?:共|满分)|共\d+(?:小)?题|填(?:入|写|在|上)|正确的(?:打|划|画|填|写)|用[“\"]?√|"
    r"(?i:write your answers?|each (?:question|item|statement|correct)|there (?:is|are) (?:only|one|four)|for each (?:question|of)|directions?:|instructions?:|mark (?:each|the)|"
    rf"choose the|{POINT} (?:for )?{EACH}|"
    r"\bof the following (?:questions|problems|terms|items|concepts)\b|identify (?:any |each |all )?(?:\w+ )?of the following|match (?:each|the|every) |word (?:bank|box|list)|circle (?:the|one|all)|\boptions are (?:given|provided)|write (?:only )?(?:the letter|[\"“'‘]?T\b)|on the answer sheet|questions \d+\s*[-–~]\s*\d+ (?:carry|are worth))"
)
# what may tell how to answer, in the words of school books
TELLS_HOW = re.compile(
    r"请|根据|选择|选出|填|写出|读一读|阅读|判断|连线|连一连|翻译|找出|用.{0,12}(?:填空|造句)|完成|补充|改写|排序|序号|(?i:choose|fill|complete|circle|match|rewrite|translate|answer|put|write|correct)"
)
# what says that several questions share the options, or the text, below it
SHARES = re.compile(r"\s*[（(【\[]?\s*\d+\s*[～~\-—–至]\s*\d+\s*题共用(?:备选|(?P<text>材料))")
CHAPTER = re.compile(
    rf"^\s*(?:#*\s*)(?:第\s*[{_CN}\d]{{1,4}}\s*[章节单元讲课编篇]|第[一二三四五六七八九十]部分\s+(?!.*题)|(?:Chapter|CHAPTER|Unit|Lesson|Lecture|Module|Topic)\s+[\dIVX]+\b|(?:Variante?|Вариант)\s+[\dIVX]+\s*[.:]?\s*$|"
    rf"(?:模拟|试卷|试题|真题|练习|测试|习题)[题试卷集]?\s*[（(]?[{_CN}\d]{{1,3}}[)）]?\s*$|导论|绪论|(?:.{{0,12}})(?:练习题|习题|测试题|试卷|复习题)[（(]?[{_CN}\dA-Da-d]{{0,3}}卷?[)）]?\s*$)"
)
# what a chapter begins with; a further paper has 题 or 卷 in its title
_CHAPTER_STARTS = frozenset("#第CULMTVВ模试真练测习导绪")
_KEY_START = "0123456789第（("
_CAPITALS = "(（ABCDEFGHIVX"
_CAPITAL = re.compile(r"(?:\(([A-H])\)|([A-H])\s?[.)\-–:])\s+(?=[A-Z])")
_CAPITAL_SECONDS = frozenset("ABCDEFGH.)-–:") | frozenset(filter(str.isspace, map(chr, range(0x3001))))
_ROMAN_WORD = re.compile(r"(I{1,3}|IV|VI{0,3}|IX|X)\s+(?=[A-Z][a-z])")
_CAPITAL_TITLE = re.compile(r"(?:[（(]([A-H])[)）]|([A-H])\s?[.．、])\s*(?=[\u4e00-\u9fff]{2,8}\s*$)")
# what the pattern below may begin with, in either script
_LEADS = "本大题題型:：以下"
_TITLE_LEAD = re.compile(r"^(?:本|大)?题?型?[:：]?|^(?:以下|下列)(?:为|是)?")
_TITLE_TAIL = re.compile(r"(?:题|题型|部分|类|解释|问答|填空|判断|选择|作文)$")
_ENGLISH_TAIL = re.compile(r"(?i)(?:questions?|section|problems?|items?)$")
_SPACED_STARTS = frozenset(f"{_CN}IVXⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫ")
_REQUEST = re.compile(
    r"(?i)(?:design|prove|proof of|write|compute|calculate|derive|discuss|explain|define|program|analy[sz]e|match|complete|compare|describe|draw|find|give|show|state|translate)\s+(?:a|an|the|that|how|why|what|whether|your|two|three|any|in|\w+['’]s)\b"
)
GLUED_TITLE = re.compile(r"([\u4e00-\u9fff]{2,10})\s*[:：]?\s*(?=\d{1,3}\s*[.．、:：)）\-—~～至到\s])")

LEADING_MARKS = re.compile(rf"\s*{COUNTS}\s*[:：.]?\s*")
# nothing but what a heading is worth: `10 marks`, `: [6 x 2 = 12 marks]`
ONLY_WORTH = re.compile(
    rf"[\s:：.\-–—]*+(?:Answer\s++(?:any|all)\s++\w++\s*+)?[(\[（【]?\s*+(?:{SUM}%?)?[\s)\]）】]*+[.:]?\s*+",
    re.IGNORECASE,
)
# begins with any of the characters that may end a title and looks back at it: a search skips to them
_TITLE_END = re.compile(
    r"[（(：:。．;；\[【\s.,，—–+×*-](?:(?<=[（(：:。．;；\[【])|(?<=[+×*])(?=\s*\d{1,3}\s*[分题題]?\s*$)|(?<=\s)\s{2}|(?<=\.)(?=\s|$)|(?<=[—–-])[—–-]|"
    r"(?<=[,，])(?=\s*(?:每|共|本|对的|正确的|请|将|把|用|在|从|先|要求|下列|根据|选出|each|\d))|"
    rf"(?<=\s)(?={WORTH}|共?\d+\s*小?题))"
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_ASKS = re.compile("[?？]")
_TWO_LANGUAGES = re.compile(
    r"(?P<first>[\u4e00-\u9fff]{2,12})\s*[/／]?\s*[A-Za-z][A-Za-z/ &'’-]{2,60}|(?P<latin>[A-Za-z][A-Za-z/ &'’-]{2,60}?)\s*[/／]?\s*(?:[甲乙丙丁戊己]部\s+)?(?P<second>[\u4e00-\u9fff]{2,12})"
)
_LATIN = re.compile("[A-Za-z]")
_REMARK_GAP = re.compile(r"[\s：:。．.;；、,，—–-]+")
_REMARK = re.compile(
    r"[（(\[【][^（()）]*(?:[（(][^()（）]*[)）][^（()）]*)*[)）\]】]|"
    rf"{WORTH}|(?:共|每小?题|本大?题)?\s*\d+\s*(?:小?题|{POINT})"
)
_NO_CHAPTER = re.compile(r"[？?。；;，,：]")
INSTRUCTED = ("true_false", "multiple_choice", "fill_in_the_blank")
STRONG_STYLES = (*HEADING, "cnp")
_LABELS = (*STRONG_STYLES, "num", "word", "nump")
_ENGLISH_LIMIT = 110
# the longest title in Chinese, with a number before it and without
_TITLE_LIMIT, _BARE_TITLE_LIMIT = 18, 12
_PROSE = re.compile(rf"[\u4e00-\u9fff、“”‘’]{{{_TITLE_LIMIT + 1}}}")


@dataclass(frozen=True)
class Heading:
    """A line read as a section heading.

    `rest` is the index at which content begins on the same line. `is_question` says whether the heading is one question
    by itself, None where what stands below it is to show that.
    """

    label: Label | None
    title: str
    fine: FineType | None
    marks: float | None
    rest: int
    is_question: bool | None = None


@once_a_paper
def is_chapter(text: str) -> bool:
    """True for a line that only names a chapter or a further paper."""
    folded = text.strip()
    if len(folded) > 40 or not (folded[:1] in _CHAPTER_STARTS or "题" in folded or "卷" in folded):
        return False
    if not CHAPTER.match(folded):
        return False
    return not _NO_CHAPTER.search(folded) and not has_blank(folded)


_LONGEST_NAMED = 24


@once_a_paper
def read_heading(text: str) -> Heading | None:
    """Read one line as a heading that names a question type; None when it is not one."""
    stripped = text.lstrip("#* \t").strip()
    label = parse_label(stripped)
    if label is not None and label.style not in _LABELS:
        label = None
    if label is None:
        label = read_capital(stripped)
    body = stripped[label.end :] if label else stripped
    if len(body) <= _LONGEST_NAMED and body[-1:] in ("?", "？"):  # `True or false?`
        fine = match_exactly(body.rstrip("?？ "))
        if fine is not None:
            return Heading(label, body, fine, None, len(text))
    if _PROSE.match(body) is not None and (
        label is None or label.style not in ("word", "num") or not may_match_pattern(body)
    ):
        return None  # most lines: a title ends before that, or is told by English words
    offset = text.find(stripped) if stripped else 0
    shift = offset + (label.end if label else 0)
    lead = LEADING_MARKS.match(body) if label is not None and label.style in ("word", "num") else None
    if lead:  # `Q1 [12 marks] Circle the best answer.`
        body, shift = body[lead.end() :], shift + lead.end()
    elif label is not None and label.style in STRONG_STYLES:
        lead = LEADING_MARKS.match(body)  # `一、（每小题5分，共30分）简答题`
        named = body[lead.end() :].strip(" 。.:：") if lead else ""
        fine = match_exactly(named) if named else None
        if fine is not None:
            return Heading(label, named, fine, read_each(body), len(text))
    title, end = _cut_title(body)
    if not title:
        return None
    glued = GLUED_TITLE.match(body)
    if glued and glued.end() < end and match_exactly(glued.group(1)):
        title, end = glued.group(1), glued.end(1)  # `单选题 1.A 2.C`
    is_strong = label is not None and label.style in (*STRONG_STYLES, "capital", "word")
    fine = _match_title(title, is_strong)
    if fine is None and label is not None and label.style in ("word", "num") and len(body) <= _ENGLISH_LIMIT:
        fine = None if "？" in body or "?" in body else find_type_by_pattern(body, INSTRUCTED)
        return Heading(label, body, fine, read_each(body), len(text)) if fine is not None else None
    if fine is None and is_strong and _SAID.search(body) is not None:
        # `Write T (true) or F (false) on the line.`
        plain = _SAID.sub("", body).strip()
        fine = _match_title(plain.rstrip(" .:。："), is_strong)
        return Heading(label, plain, fine, read_each(body), len(text)) if fine is not None else None
    if fine is None:
        return None
    tail = body[end:]
    if label is not None and label.style in ("num", "word") and _FORMULA.match(tail) is not None:
        return None  # `2. 计算 (-2)×5。` asks
    if fine.name == "short_answer" and may_match_pattern(tail):
        # `Answer all questions. Each has four options; choose the correct one.`
        fine = find_type_by_pattern(tail, INSTRUCTED) or fine
    marks = read_each(body)
    rest = _skip_remarks(tail)
    remainder = tail[rest:].strip()
    has_keys = bool(remainder) and (
        (remainder[0] in _KEY_START and (read_key_line(remainder) or _FIRST.match(remainder) is not None))
        or (RUN_OF_KEYS.fullmatch(remainder) is not None)
    )
    if remainder and not has_keys and (INSTRUCTION.search(remainder[:80]) or len(remainder) < 6):
        remainder = ""
    if remainder and not has_keys and _TOTAL.search(remainder):
        remainder = ""
    if remainder and not is_strong and not has_keys:
        return None
    if remainder and label is not None and label.style in ("word", "capital"):
        remainder = "" if len(remainder) <= 60 else remainder
    if label is not None and label.style == "word" and len(remainder) > 60:
        return None  # `Problem 1: True/False` heads a list, `Question 1. Essay on …` is a question
    return Heading(label, title, fine, marks, shift + end + rest if remainder else len(text))


# `判断：√×√`, `单项选择题：B A B`: the keys of a section in a row
RUN_OF_KEYS = re.compile(
    r"(?:[A-J][\s,，、;；]*){2,}|(?:[√×✓✗][\s,，、;；]*){2,}|(?:[对错][\s,，、;；]*){2,}"
)
# `填空题：1. 主视图`: the first of its answers, or of its questions
_FIRST = re.compile(r"1\s*[.、．)）]\s*\D")
_SAID = re.compile(r"(?<=[^\W_])\s?[（(](?:[^\W\d_]{2,12}|[√✓✔×✗✘])[)）](?=\s*\w)")
# `代码题：要求代码完整……（总分40分）` tells how to answer
_TOTAL = re.compile(rf"[（(,，]\s*(?:{TOTAL}|每小?题)[^（()）]{{0,12}}{POINT}\s*[)）]?\s*$")


_FORMULA = re.compile(
    r"[\s:：]*[（(][^（()）\u3400-\u9fff]{1,24}[)）]\s*(?:[-+−×*/÷=^²³⁴]|[（(]\s*[-+−]?[\da-z])"
)


def read_capital(text: str) -> Label | None:
    """Read `B. True/False` or `(B) Essay`: a section's letter."""
    if not text or text[0] not in _CAPITALS:
        return None
    match = _CAPITAL.match(text) if text[1:2] in _CAPITAL_SECONDS else None
    if match is None:
        # `II Short answer questions`: a numeral without a stop
        roman = _ROMAN_WORD.match(text) if text[0] in "IVX" else None
        value = read_number(roman.group(1)) if roman else None
        if roman and value:
            return Label("roman", value, roman.end(), roman.group(1))
        match = _CAPITAL_TITLE.match(text)
        if match is None or match_exactly(text[match.end() :].strip()) is None:
            return None
    letter = match.group(1) or match.group(2)
    return Label("capital", ord(letter) - ord("A") + 1, match.end(), match.group(0).strip())


def may_open_title(text: str) -> bool:
    """Whether a line without a label may have a numeral: `二 简答题`, `## 一、简答题`."""
    first = text.lstrip()[:1]
    return first in _SPACED_STARTS or (first != "" and first in "#*")


def _cut_title(body: str) -> tuple[str, int]:
    """The title at the start of a heading, and where it ends."""
    match = _TITLE_END.search(body)
    end = match.start() if match else len(body)
    return body[:end].strip().rstrip("–—- "), end


def _match_title(title: str, is_strong: bool) -> FineType | None:
    if len(title) > _ENGLISH_LIMIT:
        return None
    if "？" in title or "?" in title:
        # `Vrai ou faux ? Corrige les phrases fausses`
        return match_exactly(_ASKS.split(title, maxsplit=1)[0].strip()) if is_strong else None
    if _HAN.search(title):
        mixed = _TWO_LANGUAGES.fullmatch(title) if _LATIN.search(title) else None
        if mixed:  # `判断题 True/False`, `Short answers 简答题`
            fine = match_exactly(simplify(mixed.group("first") or mixed.group("second")))
            fine = fine or (match_exactly(mixed.group("latin")) if mixed.group("latin") else None)
            if fine is not None:
                return fine
        if len(title) > (_TITLE_LIMIT if is_strong else _BARE_TITLE_LIMIT):
            return None
        if (
            not is_strong
            and title[0] not in _LEADS
            and title[-1] not in "题題"
            and not may_name(title[0], title[-1])
        ):
            return None
        folded = simplify(title).replace(" ", "")
        if is_strong and folded.endswith("》"):  # `课外阅读《小河边的灯》`
            folded = folded.partition("《")[0] or folded
        if folded[:1] in _LEADS:
            folded = _TITLE_LEAD.sub("", folded)
        fine = match_exactly(folded)
        if fine is not None:
            return fine
        if not is_strong:
            return find_type_in_title(folded) if len(folded) <= 8 and folded.endswith("题") else None
        return find_type_in_title(folded) if _TITLE_TAIL.search(folded) else None
    words = title.split()
    if _REQUEST.match(title) and match_exactly(title) is None and not title.endswith("following"):
        return find_type_by_pattern(title) if is_strong else None  # `V. Design a cache` asks
    # `True / False` without a numeral is a place to answer
    fine = match_exactly(title.replace(" / ", "/") if is_strong else title)
    if fine is not None:
        return fine
    if not is_strong:
        # `solve the problem` is the end of a sentence
        may_head = len(words) <= 4 and not title[0].islower() and _ENGLISH_TAIL.search(title) is not None
        return find_type_in_title(title) if may_head else None
    if len(words) <= 5:
        return find_type_in_title(title)
    return find_type_by_pattern(title)


def _skip_remarks(tail: str) -> int:
    """Return the index after the bracketed remarks, colons and mark counts that follow a title."""
    position = 0
    while position < len(tail):
        match = _REMARK_GAP.match(tail, position)
        if match:
            position = match.end()
            continue
        match = _REMARK.match(tail, position)
        if not match:
            break
        position = match.end()
    return position


FORM = re.compile(
    r"(?:姓\s*名|学\s*号|班\s*[级别]|准考证号|座位号|考试时间|考试形式|考试方式|考试科目|任课教师|出卷|命题人|审核|得\s*分|评卷人|阅卷人|总\s*分|Name|Student\s*(?:ID|No)|Score)\s*[:：_]"
)
CASE = re.compile(
    r"^\s*【?(?:案例|材料|史料|资料|Case|CASE|Passage|PASSAGE|Text)\s*(?:[一二三四五六七八九]|\d|[IVX]+|[A-D])\s*】?\s*(?:[:：.、]|$)"
)


def opens_case(text: str) -> bool:
    """Whether a line is the title of a case or a passage."""
    return CASE.match(text) is not None or text.startswith(PASSAGE)


_OPTION_STARTS = frozenset("（(Aa")
FIRST_OPTION = re.compile(r"\s*[（(]?[Aa]\s*[)）.．、]")


def has_options_ahead(pieces: Sequence[Piece]) -> bool:
    """Whether one of these lines begins with the first option."""
    return any(
        text.lstrip()[:1] in _OPTION_STARTS and FIRST_OPTION.match(text)
        for text in [piece.text for piece in pieces]
    )


def tells_how(piece: Piece) -> bool:
    """Whether a line sets a task for what is below it, and neither asks nor answers."""
    text = piece.text.strip()
    if len(text) > _LONGEST_TASK or text[:1].islower() or ends_asking(text) or text[-1:] in ":：":
        return False
    if _TITLES_ANSWERS.match(text) is not None:
        return False
    tells = INSTRUCTION.search(text) or TELLS_HOW.match(text) or task().match(text)
    return tells is not None and match_answer(text) is None


_LONGEST_TASK = 120
# `Correct responses`, `Answer guide`; and `Choose all that apply.` of the question above
_TITLES_ANSWERS = re.compile(
    r"(?i)answers\b|answer (?:guide|scheme|sheet|section)\b|correct (?:responses?|choices?|options?|answers?)\b|"
    r"(?:choose|circle) (?:all that apply|one(?: answer)?)\W*$"
)


# `1. Attempt any three of the following:  7 x 3 = 21`
_SETS_SEVERAL = re.compile(
    r"(?i)\s*(?:attempt|answer|solve|do)\s+(?:all|any|both|either|the following)\b[^?？]{0,60}"
)


def sets_several(text: str) -> bool:
    """Whether a line, numbered or not, only tells how many questions below it to answer."""
    label = parse_label(text)
    return _SETS_SEVERAL.fullmatch(text[label.end if label is not None else 0 :]) is not None


def is_instruction(piece: Piece) -> bool:
    """Whether a line only tells how to answer."""
    text = piece.text.strip()
    return len(text) < 120 and (
        INSTRUCTION.search(text) is not None
        or (len(text) < 30 and re.search(r"回答|作答|要求写出|(?i:answer|choose)", text) is not None)
    )
