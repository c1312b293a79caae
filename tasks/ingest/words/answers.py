"""Reading keys and answers: in brackets, on lines of their own, after `答案：`, in tables."""

from __future__ import annotations

from dataclasses import dataclass

from schemas import patterns as re
from tasks.ingest.words.grammar import asking, truth_word, truth_words
from tasks.ingest.words.points import BRACKETED, POINTS

# a judgement where nothing else is expected; letters count there, too
TRUTH_KEY = rf"(?:{truth_word()}|[TFtfYNyn](?![A-Za-z])|[VvXxХх](?![A-Za-z])|[正误誤是否真假])"
_KEY = r"(?:[①-⑩](?:[\s,，、]*[①-⑩])*|[A-Ja-j](?:[\s,，、;；/.和]*[A-J]){0,9})"
ANSWER_MARK = re.compile(
    r"^\s*(?:【\s*(?:(?:参考|正确|标准)?(?:答案|解答)|[解证答]|证明)\s*】|\[\s*(?:答案|Answers?|ANSWERS?|Solutions?|SOLUTIONS?|Key|KEY)\s*\]|【\s*(?:Answers?|Solutions?)\s*】|[（(]?(?:参考答案|正确答案|标准答案|本题答案|我的答案|你的答案|您的答案|学生答案|考生答案|答案要点|答题要点|参考要点|评分要点|试题答案|答案|参考解答|解答|答|解|证)(?:及解析|与解析|要点)?"
    r"(?:\s*(?:为|是)?\s*[:：]|\s*(?=[A-J√×][\sA-J,，、.。）)]*$)|\s*$|(?=\s*[(（][1１一])|(?<=[解证])\s+(?=[A-Z]\w{0,3}\s*[=＝]|[由设令因根]))|"
    r"(?:(?:Correct|Reference|Suggested|Model|Sample|Right)\s+)?(?:(?:Answers?|ANSWERS?|Solutions?|SOLUTIONS?|Key|KEY)(?:\s+is)?\s*(?:[:：]|$)|"
    r"(?:Answers?|ANSWERS?|Solutions?|SOLUTIONS?|Proof)[^\S\n]*\d{0,2}[^\S\n]*(?:[(][a-h\d][)])?[^\S\n]*[.:：](?=\s|$)|(?:Solution|Answer)\s+(?:to|for|of)\s+(?:the\s+)?(?:problem|question|exercise|part)?\s*\w{1,3}\s*[.:：]|"
    r"(?:Ans|ANS)\s*(?:[.:：]|$)|(?:Sol|SOL|Soln)\s*[.:：]|Information for graders\s*[:：]|(?:answer|solution|ans|key)\s*[:：])\s*)\s*[:：]?\s*"
)
# what the mark of an answer may begin with
ANSWER_STARTS = frozenset("【[（(参正标本我你您学考答试解证CRSMAKPIask")
_ANSWER_OPENS = ANSWER_STARTS | {"评"}
# `运行结果：24`, `参考程序：`: marks of an answer only behind a question about a program
PROGRAM_ANSWER = re.compile(
    r"^\s*(?:【?(?:参考(?:程序|代码|实现|语句)|程序(?:代码|如下|清单)|源程序|源代码|实现代码|代码如下|(?:程序)?(?:的)?(?:运行|输出|执行|打印)(?:的)?结果)(?:为|是)?】?\s*[:：])\s*"
)
EXPLANATION_MARK = re.compile(
    r"(?:\[解析\]|【\s*(?:试题|答案|题目|考点)?(?:解析|分析|详解|点评|解释|说明|评分标准|评分细则|评分参考|得分点|采分点)\s*】|(?:答案|试题|题目)?(?:解析|详解|点评|分析|解题思路|解释|理由|评分标准|评分细则|得分点|采分点)\s*[:：]|"
    r"(?:Begründung|Erklärung|Explication|Explicación|Пояснение|Объяснение|Обяснение|Spiegazione|解説|Explanation|EXPLANATION|Rationale|RATIONALE|Analysis|Reason|Reasoning|Feedback|FEEDBACK|Justification|Grading(?: notes?| scheme| rubric)?|(?:Marking |Grading )?Rubric|Marking(?: scheme| guide)?)\s*[:：])\s*[:：]?\s*"
)
INLINE_ANSWER = re.compile(
    r"[（(\[【]?\s*(?:(?:参考|正确|标准|本题|我的|你的|您的|学生|考生)?答案(?:为|是)?\s*[:：】]|【答案】|(?:Correct\s+)?(?:Answer|Ans)\.?\s*[:：])\s*[:：]?\s*"
)
IGNORED_MARK = re.compile(
    r"^\s*(?:【\s*)?(?:难度|难易度|难易程度|考点|知识点|章节|来源|出处|分值|题型|Difficulty|Topic|Level|Points?|Diff|DIF|REF|NAT|TOP|MSC|OBJ|PTS|STA|LOC|BLM|KEY|Page\s*Ref|Skill|Objective|AACSB|Bloom['’]?s?(?: \w+)?|Learning Objectives?|Learning Outcome)\s*(?:】|[:：])"
)
CORRECT_MARK = re.compile(r"(?:正确|标准|参考)答案为?\s*[:：]\s*|(?i:correct answer\s*[:：]\s*)")
STUDENT_MARK = re.compile(r"(?:我的|你的|您的|学生|考生)(?:答案|回答)\s*[:：]")
METADATA = re.compile(
    r"\s*(?:[【\[（(]?(?:难度|难易度|难易程度|难度系数|考点|知识点|所属章节|章节|出处|来源|分值|得分|题型|Difficulty|Topic|Diff|DIF|REF|NAT|TOP|MSC|OBJ|PTS|Page\s*Ref|AACSB|Learning Objective)\s*[】\]）)]?\s*[:：]).*$",
    re.DOTALL,
)
_WORD_BETWEEN = re.compile(r"(?i)\b(?:and|or|und|et|y|и)\b|[\s,，、;；/.。&+|和与]+")
# what is neither a letter nor stands between letters: most texts that are asked hold it
_NO_KEY = re.compile(r"[^A-Za-z①-⑩甲乙丙丁戊己选项和与\s,，、;；/.。&+|]")
_ONE_BRACKETED = re.compile(r"[（(]([A-Ja-j])[)）]")
_KEY_WORDS = re.compile(r"\s*(?:[应故]?选择?项?\s*(?=[A-J①-⑩])|(?i:both|options?|choices?)\s+(?=[A-Ja-j]\b))")
_CIRCLED = re.compile(r"[①-⑩]+")
_LETTERS_ONLY = re.compile(r"[A-Ja-j]{1,10}")
_BRACKET_KEY = re.compile(rf"([（(\[【])\s*({_KEY})\s*[.。]?\s*([)）\]】])")
_OPENING = re.compile(r"[（(\[【]")
_BRACKET_TF = re.compile(rf"[（(\[【]\s*({TRUTH_KEY})\s*[)）\]】]")
_BARE_KEY = re.compile(rf"^\s*({_KEY})\s*[.。]?\s*$")
# `维生素  C。` ends a sentence
_TRAILING_KEY = re.compile(
    rf"(?:(?:_{{2,}}|[（(]\s*[)）]|[？?。:：]\s*)({_KEY})\s*[。．]?|(?:\s{{2,}}|\t)({_KEY}))\s*$"
)
_BARE_TF = re.compile(rf"^\s*[（(\[【]?\s*({TRUTH_KEY})\s*[)）\]】]?\s*[.。]?\s*$")


def match_answer(text: str) -> re.Match[str] | None:
    """What `ANSWER_MARK` matches where a line begins; of most the first character tells."""
    return ANSWER_MARK.match(text) if text.lstrip()[:1] in _ANSWER_OPENS else None


def has_colon(text: str) -> bool:
    """Whether a colon stands in the text: without one most marks of answers match nothing."""
    return ":" in text or "：" in text


def find_explanation(text: str) -> re.Match[str] | None:
    """Return the first mark of an explanation: `解析：`, `【解析】`, `Explanation:`."""
    return EXPLANATION_MARK.search(text) if has_colon(text) or "【" in text or "[" in text else None


@dataclass(frozen=True)
class Found:
    """An answer read from a text, the text without it, and the remark behind it."""

    answer: list[str]
    text: str
    remark: str | None = None


def read_key(text: str, labels: str | None = None) -> list[str] | None:
    """Read `C`, `ABD`, `A、C`, `A and C` as option labels in alphabetical order.

    None when it is no key. With `labels` (the offered ones) every letter must be among them.
    """
    if text[:1] in "（(":
        text = _ONE_BRACKETED.sub(r"\1", text)  # `(A) and (C)`
    folded = text.strip().strip("（()）[]【】")
    if len(folded) > 1:
        folded = _KEY_WORDS.sub("", folded)
    if not (folded.isalpha() and folded.isascii()) or folded.casefold() in ("and", "or"):
        if _NO_KEY.search(folded) is not None:
            return None
        folded = _WORD_BETWEEN.sub("", folded)
    if not folded.isascii() and _CIRCLED.fullmatch(folded):
        folded = "".join(chr(ord(character) - 0x2460 + 65) for character in folded)
    if len(folded) > 1 or not folded.isascii():
        folded = folded.removeprefix("选项").removeprefix("选").removeprefix("option").removeprefix("Option")
        if folded and not folded.strip("甲乙丙丁戊己"):
            folded = "".join("ABCDEF"["甲乙丙丁戊己".index(character)] for character in folded)
    if not folded or not _LETTERS_ONLY.fullmatch(folded):
        return None
    letters = folded.upper()
    if len(set(letters)) != len(letters) or (labels is not None and not set(letters) <= set(labels)):
        return None
    return sorted(letters)


# `选B。`, `Option B –`, `答案为B。`, `【B】`: what stands before and around a key that a reason follows
_KEY_LEAD = re.compile(
    r"\s*(?:(?:正确)?答案[为是选]?\s*[:：]?|[应故]?选择?|(?i:(?:the )?(?:correct )?(?:answer|ans|option|choice)(?: is)?)\s*[.:：]?)?\s*"
    r"[（(【\[]?\s*([A-J]{1,6}|(?<=[（(【\[])[a-j](?=[)）】\]]))\s*[)）】\]]?\s*(?=$|[\n.。,，;；:：]|[-–—]\s|(?<=[】)）\]]))"
)


def cut_key_lead(text: str) -> str:
    """`选B。鲜奶易变质。` as `B。鲜奶易变质。`."""
    lead = _KEY_LEAD.match(text)
    if lead is None or not text[: lead.start(1)].strip(" （("):
        return text
    return f"{lead[1].upper()}。{text[lead.end() :].lstrip(' .。,，;；:：–—-')}"


def is_between_keys(text: str) -> bool:
    """Whether nothing is said but what stands between keys: `and`, `；`."""
    return _WORD_BETWEEN.sub("", text) == ""


def read_truth(text: str) -> str | None:
    """Read √, ×, 对, 错, T, False … as 'true' or 'false'; None when it is neither."""
    folded = text.strip().strip("（()）[]【】.。 ")
    both = folded.split()
    if len(both) == 2 and all(map(str.isalpha, both)) and both[0].isascii() != both[1].isascii():
        # `True 是`: the same in two languages
        first, second = map(read_truth, both)
        return first if first == second else None
    true, false = truth_words()
    word = folded.casefold()
    if word in true or folded in _TRUE_LETTERS:
        return "true"
    return "false" if word in false or folded in _FALSE_LETTERS else None


def read_judgement(text: str) -> tuple[str | None, str | None]:
    """Read `对，因为……` as the judgement and the remark on it; None for what is not there.

    Option A is true, B false.
    """
    text = text.strip()
    whole = read_truth(text)
    if whole is not None:
        return whole, None
    bracketed = _BRACKETED_FIRST.match(text)
    first = bracketed[0] if bracketed is not None else _AFTER_JUDGEMENT.split(text, maxsplit=1)[0]
    truth = read_truth(first) or {"A": "true", "B": "false"}.get(text.strip("（()）[]【】.。 "))
    return truth, (text[len(first) :].strip(" !！,，。.;；:：–—→-") or None) if truth else None


# `False. Drones gather nothing.`, `错误，雄蜂不采蜜`: a judgement and what corrects the statement; `T. S. Eliot` is none
_JUDGES = re.compile(
    r"【\s*(?:[√×✓✗✔✘对错正误誤]|正确|错误)\s*】|(?:(?i:true|false|(?:in)?correct)|[TF](?=[^\n]*(?:\s[a-z]|[\u4e00-\u9fff]))|[√×✓✗✔✘]|正确|错误?|对)\s*(?:[.。,，;；（]|(?<!rrect)(?<!rrect\s)\(|(?<!rrect)(?<![正对错确])[:：]|[-–—]\s)"
)


def corrects(stem: str, text: str) -> bool:
    """Whether an answer judges a statement: `Is it flat?` is none."""
    return _JUDGES.match(text) is not None and asking().search(stem) is None


def is_count(stem: str, text: str) -> bool:
    """Whether `1` or `0` answers a question, and judges no statement."""
    return text.strip(" .。") in ("0", "1") and asking().search(stem) is not None


# `【×】雨の日は…`
_BRACKETED_FIRST = re.compile(rf"[【\[〔]\s*{TRUTH_KEY}\s*[】\]〕]")
_AFTER_JUDGEMENT = re.compile(r"[!！\s,，。.;；:：（(–—→-]")
_TRUE_LETTERS = frozenset([*"TtYyVv1正是真"])
_FALSE_LETTERS = frozenset([*"FfNnXxХх0误誤否假"])


def read_bracketed_key(stem: str, labels: str) -> Found | None:
    """Take the key out of the brackets of a stem: `…是（ B ）` → `…是（）`."""
    if "_" in stem:
        stem = _BLANK_KEY.sub(
            lambda match: f"____ （{match[1].upper()}）" if read_key(match[1], labels) else match[0], stem
        )
    if not _OPENING.search(stem):
        return None
    has_place = _EMPTY.search(stem) is not None
    answer: list[str] = []
    kept: list[str] = []
    position = 0
    for match in _BRACKET_KEY.finditer(stem):
        letters = read_key(match.group(2), labels)
        if letters is None or not _is_key_bracket(stem, match):
            continue
        if has_place and stem[match.start() - 1 : match.start()].isalpha():
            continue  # the place is empty, this stands for the word before it: `the data base（DB）is（）`
        answer.extend([letter for letter in letters if letter not in answer])
        kept += (stem[position : match.end(1)], match.group(3))
        position = match.end()
    if not answer:
        return None
    text = "".join([*kept, stem[position:]])
    return Found(sorted(answer), _FILLED_BLANK.sub("", text) if "____ （）" in text else text)


_EMPTY = re.compile(r"[（(]\s*[)）]")
_FILLED_BLANK = re.compile(r"(?<=____) （）")
# `_B___`, `____C____`, `__ab`: the key on the line where it is to be written
_BLANK_KEY = re.compile(
    r"(?<![A-Za-z\d_])_+\s*([A-J]{1,6}|(?<=_)[a-j]{1,6}(?![A-Za-z]))\s*(?:_+(?![A-Za-z\d_])|$)"
)


_LOUD_WORD, _CLOSES_LOUD = re.compile(r"(?<![^\s])[A-Z]{3,}$"), re.compile(r"\s*[.。:：]?\s*$")
_NAMES = re.compile(r"\s*[:：]\s*\w")


def _is_key_bracket(stem: str, match: re.Match[str]) -> bool:
    """A key is in capitals, and its bracket no argument list: `R(A, B)` is none."""
    before = stem[match.start() - 1 : match.start()]
    if _NAMES.match(stem, match.end()) is not None:
        return False  # `Assertion (A): Soil holds water.`
    if _CLOSES_LOUD.match(stem, match.end()) and _LOUD_WORD.search(stem[: match.start()]):
        return True  # `… EXCEPT（ D ）`
    return not match.group(2).islower() and not (
        before.isascii()
        and (before.isupper() or (before in "_0123456789" and before))
        and not stem.endswith("___", 0, match.start())
    )


def read_trailing_key(stem: str, labels: str) -> Found | None:
    """Take a key after blanks or wide space at the end of a stem (`… is ____ B`)."""
    match = (
        _TRAILING_KEY.search(stem)
        if stem.rstrip(" \n\t。．")[-1:] in "ABCDEFGHIJabcdefghij①②③④⑤⑥⑦⑧⑨⑩"
        else None
    )
    if not match:
        return None
    held = match.lastindex or 0
    letters = read_key(match.group(held), labels)
    if letters is None:
        return None
    return Found(letters, stem[: match.start(held)].rstrip())


def read_bracketed_truth(stem: str, is_judgement: bool = True) -> Found | None:
    """Take √ or × out of the last bracket of a statement.

    What follows it is a remark (the correction). Where no heading says that it is a judgement, only a short statement
    on one line counts.
    """
    if not is_judgement and ("\n" in stem.strip() or len(stem) > 300 or re.search(r"[？?]", stem)):
        return None
    matches = list(_BRACKET_TF.finditer(stem))
    for match in reversed(matches):
        before, after = stem[: match.start()].rstrip(), stem[match.end() :].strip()
        if (
            stem[match.start() - 1 : match.start()].isascii()
            and stem[match.start() - 1 : match.start()].isalnum()
        ):
            continue  # `f(x)`
        if not is_judgement and match.group(1) in "xXvVyYnNtf":
            continue
        truth = read_truth(match.group(1))
        if truth is None or (before and match.group(1) in "是否对错" and len(after) > 40):
            continue  # `系统是（否）稳定……`
        if not before:
            return Found([truth], after)
        remark = after.strip("（()） 。.；;") or None
        return Found([truth], before, remark)
    match_end = re.search(rf"(?:[。.？?！!]|\s{{2,}}|_{{2,}})\s*({truth_word()}|T|F)\s*[.。]?\s*$", stem)
    if match_end:
        truth = read_truth(match_end.group(1))
        if truth is not None:
            return Found([truth], stem[: match_end.start(1)].rstrip(" _"))
    return None


def read_bare_key(line: str, labels: str) -> list[str] | None:
    """Read a line that holds a key and nothing else."""
    match = _BARE_KEY.match(line)
    if not match or match.group(1).islower():
        return None
    return read_key(match.group(1), labels)


def read_bare_truth(line: str) -> str | None:
    """Read a line that holds a judgement (√, ( F ), 错) and nothing else."""
    match = _BARE_TF.match(line)
    return read_truth(match.group(1)) if match else None


_ALTERNATIVES = re.compile(r"\s*([A-J]{1,8})\s*[（(]\s*([A-J]{1,8})\s*[)）]\s*")


def split_alternatives(text: str) -> tuple[str, str | None]:
    """Separate a printed alternative: `C(D)` → `C` and `D`; `44（=30+…）` stays as it is."""
    match = _ALTERNATIVES.fullmatch(text) if len(text) > 1 else None
    return (match.group(1), match.group(2)) if match else (text, None)


def split_fillings(text: str, blank_count: int = 0) -> list[str]:
    """Split the answers of several blanks at semicolons, bars, wide gaps or numbers in brackets.

    With `blank_count` a weaker separator (、 ， / or a single space) counts where it gives exactly so many answers.
    """
    text = _WORTH.sub(" ", text).strip() or text  # `north (1 mark)  dry (1 mark)`
    parts = _split_plainly(text)
    if blank_count > 1 and len(parts) != blank_count:
        for separator in _WEAKER:
            if separator is _SLASH and _JOINS.search(text):
                continue  # `km/h和J`
            weaker = [
                part for one in separator.split(text.strip(" 。.")) if (part := _AND.sub("", one).strip())
            ]
            if len(weaker) == blank_count:
                return weaker
    return parts


_WORTH = re.compile(rf"\s*(?:{BRACKETED}|[（(]每[空格个处]\s*{POINTS}[)）])\s*")
_AND = re.compile(r"^\s*and\s")
_SLASH = re.compile(r"(?<!\d)[/／]|[/／](?!\d)")
# of `和平与发展` and `温和湿润` the first sign joins nothing
_JOINS = re.compile(r"\band\b|(?<![温饱参普以涉缓柔共])[和与及](?![平谐睦蔼解声弦其时格])")
# `a) north b) dry`, `north ... dry`, `north, dry and wet`
_WEAKER = [
    re.compile("、"),
    re.compile("[,，]"),
    re.compile(r"\s[/／]\s*|[/／]\s"),
    re.compile(r"(?:^|[\s,，])[（(]?[a-h][)）]\s*"),
    re.compile(r"\.{3,}|…+"),
    re.compile(r"\s+"),
    # `SQL 语言 关系代数语言`: beside letters of another script a space is one of print
    re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])"),
    re.compile(r"[、,，\s]+"),
    _SLASH,
    re.compile(rf"[,，]|{_JOINS.pattern}"),
]


def _split_plainly(text: str) -> list[str]:
    numbered = re.split(r"[（(]\s*\d{1,2}\s*[)）]|[①-⑳]", text)
    if len(numbered) > 2 and not numbered[0].strip():
        parts = numbered[1:]
    else:
        parts = re.split(r"[；;|]|\s{2,}|\t|\n", text)
    cleaned = [re.sub(r"^[\s、,，.。]+|[\s、,，。;；]+$", "", part) for part in parts]
    # `①②③` fills one blank
    return [part for part in cleaned if part] or [
        part for part in [_FIRST_POINT.sub("", text).strip()] if part
    ]


_FIRST_POINT = re.compile(r"^\s*(?:[（(]\s*1\s*[)）]|①(?=[^①-⑳]+$))\s*(?=\S)")
