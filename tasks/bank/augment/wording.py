"""Options as true/false questions, our words (LLMEval-Fair, figure 7): each stands alone.

Changing a sentence changes what is asked: it needs a new `PROMPT_VERSION`. “All of the above”, “A and C”, 以上都不对 and A、B都是 mean
something only together with other options.
"""

from __future__ import annotations

from dataclasses import dataclass

from schemas import patterns as re
from tasks.questions import has_blank

PROMPT_VERSION = "option-truth/2"

_WORDING = {
    ("en", "blank"): ("Would the blank above be filled in correctly with “", "”?"),
    ("en", "question"): ("Would “", "” be a correct answer to the question above?"),
    ("en", "unfinished"): ("Would the sentence above be completed correctly with “", "”?"),
    ("en", "several"): ("More than one choice may be right here. Is “", "” one of the right ones?"),
    ("zh", "blank"): ("上文空缺处若填“", "”，是否正确？"),
    ("zh", "question"): ("以“", "”回答上面的问题，是否正确？"),
    ("zh", "unfinished"): ("上面的话若以“", "”补充完整，是否正确？"),
    ("zh", "several"): ("上面的问题可能有不止一个正确选项，“", "”是否是其中之一？"),
}
# What may open a blank: the pattern of blanks is asked only where one of these stands.
_MAY_OPEN_A_BLANK = re.compile(r"[（(_＿﹍【\[…]")
# A stem that its options continue (“下列属于质数的是”, “The capital of France is:”): its last sentence ends without a stop,
# asks no question and makes no request (“Choose the odd one out”), which no option continues.
_LAST_WORDS = 120
_LAST_SENTENCE = re.compile(r"(?<![^.。!！?？;；\n])[^.。!！?？;；\n]*$")
_BREAKS_OFF = re.compile(r"[\w:：,，—–-]\s*$")
_ASKS = {
    "zh": re.compile(
        r"什么|哪|谁|几|多少|怎|如何|何|吗|呢|是否|^\W*(?:\d+\W*)?(?:请|试|求|计算|选出|找出|指出|判断|写出)"
    ),
    "en": re.compile(
        r"\b(?:which|what|who|whom|whose|how|when|where|why)\b(?=[^,:]*$)"
        r"|^\W*(?:\d+\W*)?(?:choose|select|find|identify|name|give|state|calculate|compute|evaluate|solve|simplify|determine"
        r"|write|pick|decide|is|are|was|were|do|does|did|can|could|would|will|should)\b",
        re.IGNORECASE,
    ),
}
_ABOVE = re.compile(
    r"^(it could be )?(all|none|neither|both|any|each|either)( one)?( of)?( the)?"
    r" (above|these|those|options|choices|others|other options|two above)\b"
    r"|^(以上|上述|前述|前面|其余|其它|其他)[二两三四五几]?[项者个种]?"
    r"(所有|全部|各项|选项|答案|说法|观点|情况|叙述|表述|解释|内容|所述|做法|几种|几项|[二两三四五])*"
    r"(都|均|皆|全|没有|不是|无|兼)"
    r"|^(都|均|皆|全|全都|全部)(不|不是|没)?(正确|对|错误|错|是|选|有)$",
    re.IGNORECASE,
)
_LABELS_ONLY = re.compile(
    r"^(only|both|either|neither|仅|只有|选项)?\s*(?P<labels>[A-H]((\s*[，,、;；&和与及或]\s*|\s+(and|or|nor)\s+)[A-H])+)"
    r"\s*(都|均|皆|全|是|不|对|错|正确|错误|are|is|correct|true|wrong|false|\s)*$",
    re.IGNORECASE,
)
_NAMED_LETTER = re.compile(r"(?<![A-Za-z])(?:[B-H]|A(?!\s+[a-z]))(?![A-Za-z])")
# A longer text says something of its own, whatever it begins with.
_LONGEST_REFERENCE = 60
_AROUND = " .。()（）"
_WHITE_OR_AROUND = "".join(chr(code) for code in range(0x3001) if chr(code).isspace()) + _AROUND
# What a reference can begin with: anything else needs no pattern.
_BEGINNINGS = frozenset("abcdefghinoABCDEFGHINO以上述前其都均皆全仅只选")


@dataclass(frozen=True, slots=True)
class OptionFrame:
    """What stands around an option in the true/false questions of one choice.

    Attributes:
        stem: the stem of the choice, without white space at its end.
        before: the words between stem and option.
        after: the words after the option.
    """

    stem: str
    before: str
    after: str

    def render(self, option_text: str) -> str:
        """The stem of the true/false question about an option."""
        return f"{self.stem}\n{self.before}{option_text.strip()}{self.after}"


def choose_frame(stem: str, language: str, key_count: int) -> OptionFrame:
    """The words in which the options of a choice are asked about.

    With several keys the question says that there may be several: “correct” alone would suggest a complete answer.
    """
    known = "zh" if language == "zh" else "en"
    stem = stem.rstrip()
    if key_count > 1:
        shape = "several"
    elif _MAY_OPEN_A_BLANK.search(stem) and has_blank(stem):
        shape = "blank"
    else:
        shape = "unfinished" if is_unfinished(stem, known) else "question"
    return OptionFrame(stem, *_WORDING[known, shape])


def is_unfinished(stem: str, language: str) -> bool:
    """Whether a stem without a blank breaks off where its options continue."""
    tail = stem[-_LAST_WORDS:]
    if not _BREAKS_OFF.search(tail[-2:]):
        return False
    sentence = _LAST_SENTENCE.search(tail)
    return sentence is not None and not _ASKS[language].search(sentence.group())


def refers_to_other_options(text: str) -> bool:
    """Whether an option means something only with others: “none of the above”, “A and C”."""
    if text.lstrip(_WHITE_OR_AROUND)[:1] not in _BEGINNINGS:
        return False
    squeezed = " ".join(text.split()).strip(_AROUND)
    if len(squeezed) > _LONGEST_REFERENCE:
        return False
    if _ABOVE.search(squeezed):
        return True
    match = _LABELS_ONLY.match(squeezed)
    if match is None:
        return False
    # “A、C” names options; “C、B、E、D” is an answer of its own, an order.
    labels = re.sub(r"and|nor|or|[^A-H]", "", match["labels"], flags=re.IGNORECASE).upper()
    return list(labels) == sorted(set(labels))


def names_an_option(text: str) -> bool:
    """Whether a text names an option by its letter: “故选C”, “B follows from A”, not “A tree”."""
    return _NAMED_LETTER.search(text) is not None
