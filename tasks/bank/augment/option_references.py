"""Options that only mean something together with the others.

Examples are “all of the above”, “A and C”, 以上都不对, A、B都是.
"""

from __future__ import annotations

import re

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


def refers_to_other_options(text: str) -> bool:
    """Whether an option only means something together with the others.

    Examples are “none of the above” and “A and C”.
    """
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
    """Whether a text names an option by its letter (“故选C”, “B follows from A”).

    “A tree” names none.
    """
    return _NAMED_LETTER.search(text) is not None
