"""Telling a question's type from its own text, where no heading or column names one."""

from __future__ import annotations

from schemas import patterns as re
from tasks.ingest.words.answers import read_truth
from tasks.ingest.words.once import once_a_paper
from tasks.ingest.words.points import BRACKETED_SUM, POINTS
from tasks.questions import has_blank

_CALCULATE = re.compile(
    r"计算|(?<![要需请追寻诉征谋渴力])求(?:出|解|得|[：:]|[A-Za-z\u4e00-\u9fff])|多少|解方程|证明|推导|试证|积分|导出|(?i:\b(?:calculate|compute|evaluate|derive|prove|solve|find the (?:value|number|probability|sum|area)|how (?:many|much)|determine the (?:value|number))\b)"
)
_NUMERIC = re.compile(r"\d+(?:\.\d+)?")
# `(1+2+2 = 5)`, `（10分）`, `2019年`: numbers that measure nothing
_MARKS = re.compile(rf"{BRACKETED_SUM}|{POINTS}|(?<!\d)\d++\s*(?:年|世纪|字)|(?m:^\s*[（(]?\d+[)）.、])")
_QUANTITY = re.compile(
    r"\d\s*(?:[KMGT]i?B|[KMG]?Hz|[kKmM]?bps|m/s|km|cm|mm|nm|kg|mg|mol|kPa|Pa|℃|K\b|V\b|mA|A\b|Ω|[kM]?W\b|J\b|N\b|元|万元|千米|公里|米|秒|吨|位(?!同|置|于)|个字)"
)
_GIVEN = re.compile(r"假设|假定|已知|设(?!计)|若|(?i:\b(?:given|assume|suppose|consider|let)\b)")
_ESSAY = re.compile(
    r"论述|试论|谈谈|评述|评析|结合.{0,20}(?:谈|论|阐述)|写一篇|作文|不少于\d+字|(?i:\b(?:discuss|essay|critically|to what extent|write an? (?:essay|composition))\b)"
)
# `Define framing. Explain …` asks for more than a term
_TERM = re.compile(
    r"^(?:名词)?解释(?:名词|概念|术语|下列)?[:：]?|(?i:^(?:define|explain the term|definition of)\b[^.?!;\n]*[.?!]?\s*$)"
)
_MATERIAL = re.compile(
    r"阅读(?:下列|以下|下面|上述)?.{0,12}(?:材料|史料|短文|案例|资料|文章|说明)|材料[一二三1-3]?\s*[:：]|根据(?:以上|上述|下列|以下|下面)?.{0,6}(?:材料|案例|资料)|【材料】|【案例】|(?i:read the following (?:passage|text|case|material)|based on the (?:passage|case|material))"
)


# a text to be filled in, `56 ____ (go)`, is no material to answer questions from
_NUMBERED_GAP, _MANY_GAPS = re.compile(r"\d _{4}"), 5
# `默写。` above lines that each have a blank among words
_WORDS, _LONGEST_TITLE = re.compile(r"[^\W\d_]{2}"), 16


def are_truth_options(texts: list[str]) -> bool:
    """True for the two options 正确/错误, True/False and the like."""
    return len(texts) == 2 and {read_truth(text) for text in texts if text.strip() not in "01"} == {
        "true",
        "false",
    }


@once_a_paper
def infer_free_type(stem: str, material: str | None) -> str:
    """Return the type of a question without options and without a judgement, from its wording."""
    first = stem[:200]
    if len(_NUMBERED_GAP.findall(stem)) >= _MANY_GAPS:
        return "fill_in_the_blank"
    if material or _MATERIAL.search(first):
        return "material_analysis"
    if _TERM.search(first) and len(stem) < 60:
        return "term_explanation"
    title, *parts = stem.split("\n")
    title = re.sub(r"[（(][^（()）]*[)）]", "", title)
    if (
        len(title) <= _LONGEST_TITLE
        and len(parts) > 1
        and all(has_blank(part) and _WORDS.search(part) and "？" not in part for part in parts)
    ):
        return "fill_in_the_blank"
    numbers = len(_NUMERIC.findall(_MARKS.sub("", stem[:1500])))
    if has_blank(stem) and "\n" not in stem[:400] and not re.search(r"[^_\s）)][\s]*[？?]\s*$", stem):
        return "fill_in_the_blank"
    if len(_QUANTITY.findall(stem)) >= 2 and _GIVEN.search(stem):
        return "calculation"
    if _CALCULATE.search(stem) and (
        numbers >= 2 or stem.count("=") > 1 or re.search(r"证明|推导|导出|derive|prove|积分", stem)
    ):
        return "calculation"
    if numbers >= 8 and re.search(r"算法|系统|algorithm|system|table|表", stem):
        return "calculation"
    if _ESSAY.search(first):
        return "essay"
    return "short_answer"


# `70 + 1.28(10) = 82.8`, `60/15 = 4 m/s`, `√400 = 20`: a sum of numbers, and what it comes to
_SUM = re.compile(
    r"(?:[\d)²³π]\s*[-−+×x*·∙/÷^]\s*(?:sqrt|√)?\(?\d|\d\s*\(\d|√\(?\d)[^=≈\n;]{0,60}[=≈]\s*[-−]?\s*[\d(√]"
)
# So long a text may be for each sum in it: code and prose hold one by chance.
_LETTERS_A_SUM = 250
# `125 mL/hr`: one number with its unit; a year and a day are none
_ONE_QUANTITY = re.compile(
    r"[-−+≈~$€£¥]?\s*\d[\d.,]*\s*(?:%|°|(?![年月日号届])[^\W\d_]{1,6}(?:\s?[/·]\s?[^\W\d_]{1,6}[²³]?)?)\.?"
)
_LEAST_NUMBERS = 2


def computes(stem: str, answer: str) -> bool:
    """Whether an answer comes of numbers: it shows a sum, or is a measure as others are given."""
    sums = len(_SUM.findall(answer))
    if sums and len(answer) <= _LETTERS_A_SUM * sums:
        return True
    is_measure = _ONE_QUANTITY.fullmatch(answer.strip()) is not None
    return is_measure and len(_NUMERIC.findall(_MARKS.sub("", stem))) >= _LEAST_NUMBERS
