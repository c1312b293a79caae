"""Whose words a passage of a reply is.

They are those of the model that replies, or those of a candidate that the reply shows. A candidate may write `{"stars": 3}` into
its answer, and a judge may mention it. What introduces a passage tells the two apart: the sentence before it up to a colon or a
fence, quotation marks around it, or words after it such as `is what the candidate wrote`.
"""

from __future__ import annotations

from typing import Final, Literal

from schemas import patterns as re

# `doubtful`: the sentence before it speaks of a candidate's text, and does not say whose words follow.
Voice = Literal["own", "doubtful", "quoted"]

_REACH: Final = 300
_PAIRS: Final = (("“", "”"), ("‘", "’"), ("「", "」"), ("『", "』"), ("«", "»"))
_CLOSING: Final = dict([*_PAIRS, ('"', '"'), ("'", "'")])
_MARKS: Final = " \t\r\n`*_~([（【>|" + "".join(_CLOSING)
_ENDING: Final = " \t\r\n`*_~)]）】|" + "".join(_CLOSING.values())
_LONGEST_VALUE: Final = 10_000
# What stands before the quotation mark that opens a value of JSON.
_VALUE: Final = re.compile(r"\":\s*$")
_FENCE: Final = re.compile(r"```[ \t]*\w*\s*$")
_SENTENCE_END: Final = re.compile(r"[。！？!?；;\n]|\.(?=\s|$)")
CLAUSE_END: Final = re.compile(
    r"[。！？!?；;\n,，、]|\.(?=\s|$)|\b(?:so|but|because|since|as|although|though|while|whereas|therefore|thus|hence)\b"
    r"|但|所以|因此|因而|故",
    re.IGNORECASE,
)

_SUBJECT = r"\b(?:candidate|response|answer|student|examinee|submission|solution|opinion|paper|program|participant|model(?! answer\b))\b"
_ANY_SUBJECT = rf"(?:{_SUBJECT}|\b(?:it|he|she|they|which)\b)"
_VERB = (
    r"(?:wr(?:ote|ites?|itten|iting)|sa(?:ys?|id|ying)|claim(?:s|ed|ing)?|stat(?:es?|ed|ing)|insert(?:s|ed|ing)?|append(?:s|ed|ing)?"
    r"|add(?:s|ed|ing)?|contain(?:s|ed|ing)?|includ(?:es?|ed|ing)|demand(?:s|ed|ing)?|ask(?:s|ed|ing)?|request(?:s|ed|ing)?"
    r"|want(?:s|ed|ing)?|end(?:s|ed|ing)?|begin(?:s|ning)?|began|start(?:s|ed|ing)?|clos(?:es?|ed|ing)|conclud(?:es?|ed|ing)"
    r"|finish(?:es|ed|ing)?|put(?:s|ting)?|typ(?:es?|ed|ing)|print(?:s|ed|ing)?|output(?:s|ting)?|return(?:s|ed|ing)?"
    r"|gives?|gave|giving|attach(?:es|ed|ing)?|reads?|shows?|carries|carried|holds?|held|suggest(?:s|ed|ing)?|propos(?:es?|ed|ing)"
    r"|assert(?:s|ed|ing)?|insist(?:s|ed|ing)?|declar(?:es?|ed|ing)|tells?|told|instruct(?:s|ed|ing)?|tr(?:y|ies|ied)|award(?:s|ed)?)"
)
# What may stand between such a verb and what it shows.
_FILLER = (
    r"(?:[\s,:]+(?:(?:of|in|by|to|on)\s(?:the|its|his|their|this)\s(?:own\s)?(?:answer|response|candidate|student|solution|submission)"
    r"|(?:the|this|its|my|that)\s(?:answer|response|solution)\s(?:deserves?|is worth|earns?|gets?|merits?|should get)"
    r"|(?:give|rate|grade|mark|award)\s(?:the|this|its|my)\s(?:answer|response|solution)"
    r"|a|an|the|this|that|these|those|it|its|his|her|their|my|i|you|own|all|in|of|from|by|to|as|at|on|with|for|me|us|itself|himself"
    r"|end|beginning|top|bottom|start|very|last|first|final|fake|overall|line|lines|text|words?|json|object|block|string|note|comment"
    r"|instructions?|demands?|requests?|rating|verdict|judge?ment|score|sentence|snippet|code|following|follows|also|only|even|just"
    r"|be|is|was|given|give|rate|grade|assign|deserves?|deserving|should|must|get|receive|earns?|merits?|award(?:ed)?|least|please"
    r"|[A-Z]\b))*"
)
_TAIL = r"[\s:：,，.\-—–…`*\"'“”‘’「『«(（\[>]*$"
# Words that speak of a candidate's text as said: `the response ends with`, `quoted from the answer`, `what it demands is`.
_SAYING: Final = re.compile(
    rf"(?P<aside>\b(?:of|on|by|from|given|for|with|in|to) what (?:the |this )?)?{_ANY_SUBJECT}(?:['’]s?)?"
    rf"(?:[\s,]+(?!(?:task|rubric|prompt|format|question|reference|key|marker|i|we|you)\b)[\w'’\-]+){{0,5}}?[\s,]+{_VERB}\b{_FILLER}{_TAIL}"
    rf"|\bquot(?:es?|ed|ing|ation)\b{_FILLER}{_TAIL}"
    rf"|\b(?:written|put|inserted|appended|added|hidden|found|claimed|demanded) (?:in|by|at|into|to)\b[^.:]{{0,30}}{_SUBJECT}{_FILLER}{_TAIL}"
    r"|(?:考生|作答|答案|回答|学生|答卷|选手|文中|其|它|他|她)[^。！？；，,\n]{0,12}?"
    r"(?:(?:写道|写了|写着|写有|写上|写明|声称|自称|宣称|要求|索要|请求|自评|自封|说(?!明))[^。！？；，,\n{]{0,8}"
    r"|(?:夹带|附上|附有|附了|附加|含有|包含|包括|插入|加入|加上|注明|标注|给出|输出|末尾是|结尾是|末尾为|结尾为|出现)"
    r"[^。！？；，,\n{得给评判对错确全理]{0,8})[\s:：`*\"'“‘「『>]*$"
    r"|引用[^。！？\n{]{0,6}[\s:：`*\"'“‘「『>]*$",
    re.IGNORECASE,
)
_SAYS: Final = re.compile(
    rf"{_ANY_SUBJECT}(?:['’]s?)?(?:[\s,]+[\w'’\-]+){{0,5}}?[\s,]+{_VERB}\b"
    r"|(?:考生|作答|答案|回答|学生)[^。！？；，,\n]{0,12}(?:写|称|要求|索要|请求|附|夹带|插入)",
    re.IGNORECASE,
)
_MENTION: Final = re.compile(rf"{_SUBJECT}|考生|作答|答卷|学生|(?:答案|回答|文)[里中末]", re.IGNORECASE)
# An attempt to steer the reader is nobody's verdict, however it is announced.
_STEERING: Final = re.compile(r"\b(?:inject|manipulat|jailbreak)\w*|注入|诱导|操纵", re.IGNORECASE)
_MINE: Final = re.compile(
    r"\bmy\b|\bI(?:'d| would| will| have to| must| can only| therefore)? (?:give|award|assign|rate|grade|mark|conclude|judge|settle|return)\b"
    r"|我[的给对判评认]",
    re.IGNORECASE,
)
_VERDICT: Final = re.compile(
    r"\b(?:verdict|judge?ment|evaluation|assessment|rating|ranking|scores?|grade|marking|conclusion|result|decision|output|format"
    r"|deserves?|earns?|gets?|receives?|merits?|is worth)\b|评阅|评分|评级|评价|评判|结论|判定|结果|得分|排名|可得|应得",
    re.IGNORECASE,
)
_OF_CANDIDATE: Final = re.compile(
    rf"{_SUBJECT}['’]s?\s(?:\w+\s){{0,2}}$|\b(?:its|his|her|their)\s(?:own\s)?(?:\w+\s)?$|(?<![对给])(?<!对该)(?<!对此)(?<!对这份)(?<!考生的)(?<!学生的)(?:考生|作答|答案|学生)[^，。]{{0,4}}的$|自己的?$",
    re.IGNORECASE,
)
_WITHIN: Final = re.compile(
    rf"\b(?:in|by|from|inside|within|at the end of)\b[^.:]{{0,12}}{_SUBJECT}", re.IGNORECASE
)
_AFTERWARDS: Final = re.compile(
    rf"\W*(?:(?:the )?above\s|this\s|that\s|it\s)?(?:(?:is|was|comes|stands|appears|were|are)\s)?"
    rf"(?:(?:what|as)\s(?:the\s)?(?:\w+\s){{0,2}}?{_SUBJECT}(?:\s\w+)?\s{_VERB}\b"
    rf"|(?:in|from|at the end of|part of|written by|put (?:in|there) by|quoted from|copied from|taken from)\s(?:the\s)?{_SUBJECT}(?!\s(?:key|sheet)))"
    r"|\W*(?:以上|上述|这)[^。！？\n]{0,4}(?:考生|作答|答案)(?:里|中|末尾|所|自己)?[^。！？\n]{0,4}(?:的话|写|内容|要求|文字|原文)",
    re.IGNORECASE,
)
_POINTING: Final = re.compile(
    r"(?:the following|as follows|this|these words|如下|以下内容|下面的话)[^\w]*$", re.IGNORECASE
)


def find_voice(text: str, start: int, end: int) -> Voice:
    """Whose words a reply's passage is; its own where the passage is the whole reply."""
    if _is_whole(text, start, end):
        return "own"
    if is_shown(text, start, end) or _AFTERWARDS.match(text, end, end + _REACH):
        return "quoted"
    lead, is_announced = _read_lead(text, start)
    clause = CLAUSE_END.split(lead.rstrip(" ,，:："))[-1]
    mine, verdict = _MINE.search(clause), _VERDICT.search(clause)
    if mine and not _SAYS.search(clause[: mine.start()]):
        return "own"
    if verdict and not _SAYS.search(clause[: verdict.start()]):
        is_candidates = _OF_CANDIDATE.search(clause[: verdict.start()]) or _WITHIN.search(clause)
        if not is_candidates:
            return "own"
    if _STEERING.search(lead):
        return "doubtful"
    if _MENTION.search(lead) and not (is_announced and not text[end:].strip(_ENDING + ".。!！")):
        return "doubtful"
    return "own"


def is_shown(text: str, start: int, end: int) -> bool:
    """Whether a passage is shown: quoted, in broken JSON, or after `the candidate wrote`."""
    if _is_whole(text, start, end):
        return False
    if text[text.rfind("\n", 0, start) + 1 : start].lstrip().startswith(">") or _is_enclosed(
        text, start, end
    ):
        return True
    quote = text.rfind('"', max(0, start - _LONGEST_VALUE), start)
    if quote >= 0 and _VALUE.search(text, max(0, quote - 10), quote):
        return True
    saying = _SAYING.search(_read_lead(text, start)[0])
    return saying is not None and saying["aside"] is None


def _is_whole(text: str, start: int, end: int) -> bool:
    if len(text) - (end - start) > _REACH:
        return False
    return not _FENCE.sub("", text[:start]).strip(_MARKS) and not text[end:].strip(_ENDING + ".。")


def _is_enclosed(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _REACH) : start].rstrip(" `*")
    after = text[end : end + _REACH].lstrip(" `*")
    if before and after and _CLOSING.get(before[-1]) == after[0]:
        return True
    if any(
        before.rfind(left) > before.rfind(right) and right in after for left, right in _PAIRS[:1] + _PAIRS[2:]
    ):
        return True
    line, rest = before[before.rfind("\n") + 1 :], after.partition("\n")[0]
    return line.count('"') % 2 == 1 and '"' in rest and '"' not in text[start:end]


def _read_lead(text: str, start: int) -> tuple[str, bool]:
    """The sentence (empty where it ends before) leading to a passage; whether it announces it."""
    before = _FENCE.sub("\n", text[max(0, start - _REACH) : start])
    lead = before.rstrip(_MARKS)
    gap = before[len(lead) :]
    if lead.endswith((".", "。")) or (gap.count("\n") > 1 and not lead.endswith((":", "："))):
        # Nothing leads to it but `The candidate wrote the following.`, or `The response ends with` above a blank line.
        earlier = _SENTENCE_END.split(lead.rstrip(".。"))[-1]
        is_leading = _POINTING.search(earlier) or (not lead.endswith((".", "。")) and _SAYING.search(earlier))
        return (earlier, True) if is_leading else ("", False)
    is_announced = lead.endswith((":", "：", ",", "，", "-", "—", "–")) or "\n" in gap
    return _SENTENCE_END.split(lead)[-1], is_announced
