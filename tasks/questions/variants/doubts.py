"""What an editor should look at, though people may have accepted it for good reasons.

One function per doubt, named for what should hold, as in `tasks.questions.rules`. A variant that a model wrote is refused when it
raises a doubt that its parent does not.
"""

from __future__ import annotations

from schemas import patterns as re
from tasks.questions.question import QuestionContent
from tasks.questions.rules import Rule

# A lost character, a control character, a letter of a font that no other computer has, and the common forms of UTF-8 read as
# Latin-1 or GBK.
_DAMAGE = re.compile(
    "\ufffd|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\ue000-\uf8ff]|锟斤拷|烫烫|屯屯|[ÃÂ][\xa0-\xbf]|â€|ï¼|鈥"
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
# A word or two in the other language says nothing.
_LEAST_WORDS = 6

SHORTEST_STEM = {"zh": 4, "en": 8}
LONGEST_STEM = 10_000
LONGEST_OPTION = 600
LONGEST_ANSWER = 6_000

_ABSENT = {
    "zh": re.compile(
        r"如[上下左右附]?[图表](?!\w{0,2}[文软标片])|[上下左右附][图表](?:所示|中|是|为|反映|显示|给出)|(?<![地制绘作])图中|图\s?[0-9一二三四五]|表\s?[0-9一二三四五](?!\d)"
        r"|(?:阅读|根据|结合|依据)(?:下列|上述|以上|下面|所给)?(?:材料|短文|图表|资料)|画线|划线|加点"
    ),
    "en": re.compile(
        r"\b(?:figure|diagram|graph|chart|table|picture|map|image|passage|excerpt|extract)s?\s+"
        r"(?:above|below|shown|provided|given|opposite)\b"
        r"|\b(?:above|accompanying|attached)\s+(?:figure|diagram|graph|chart|table|picture|map|image|passage|excerpt|extract)\b"
        r"|\b(?:see|in|shown in)\s+(?:figure|fig\.|table)\s+\d",
        re.IGNORECASE,
    ),
}
# What is spoken of may stand in the stem itself: a table in Markdown or LaTeX, or a text before the question.
_OWN_TABLE = re.compile(r"\|.*\|.*\||\\begin\{|\t.*\t")
_LONG_ENOUGH_FOR_A_TEXT = 200
_SHORTEST_QUOTE = {"zh": 4, "en": 8}


def find_doubts(content: QuestionContent) -> list[str]:
    """Names of all doubts about `content`, in the order of `DOUBTS`; empty where there is none."""
    return [name for name, rule in DOUBTS.items() if not rule(content)]


def text_is_not_damaged(content: QuestionContent) -> bool:
    """No character was lost or read in the wrong encoding."""
    return not any(_DAMAGE.search(text) for text in _list_texts(content))


def text_is_in_its_language(content: QuestionContent) -> bool:
    """The stem, with the material, is written in the language that the question is said to have."""
    text = f"{content.stem}\n{content.material or ''}"
    han, words = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    if content.language == "zh":
        return han > 0 or words < _LEAST_WORDS
    return words > 0 or han < _LEAST_WORDS


def texts_are_of_usual_length(content: QuestionContent) -> bool:
    """Stem, options and answers are neither a fragment nor half a paper; a term may be short."""
    stem = "".join(content.stem.split())
    shortest = 1 if content.question_type == "term_explanation" else SHORTEST_STEM.get(content.language, 4)
    return (
        # An equation or a pair of terms to compare is short and whole.
        (len(stem) >= shortest or content.question_type == "calculation")
        and len(stem) <= LONGEST_STEM
        and all(len(option.text) <= LONGEST_OPTION for option in content.options)
        and all(len(text) <= LONGEST_ANSWER for text in content.answer)
    )


def nothing_absent_is_referred_to(content: QuestionContent) -> bool:
    """A figure, table or text that the stem speaks of is there, in it or as material."""
    if content.material and content.material.strip():
        return True
    stem = content.stem
    found = _ABSENT["zh" if content.language == "zh" else "en"].search(stem)
    if found is None or _OWN_TABLE.search(stem):
        return True
    return found.start() >= _LONG_ENOUGH_FOR_A_TEXT


def key_alone_is_not_quoted(content: QuestionContent) -> bool:
    """The text of the key is not the only option that stands in the stem."""
    if content.question_type != "multiple_choice" or len(content.answer) != 1:
        return True
    stem = _squeeze(content.stem)
    quoted = {
        option.label
        for option in content.options
        if len(text := _squeeze(option.text)) >= _SHORTEST_QUOTE.get(content.language, 4) and text in stem
    }
    return quoted != set(content.answer)


DOUBTS: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        text_is_not_damaged,
        text_is_in_its_language,
        texts_are_of_usual_length,
        nothing_absent_is_referred_to,
        key_alone_is_not_quoted,
    )
}


def _list_texts(content: QuestionContent) -> list[str]:
    texts = [content.stem, *(option.text for option in content.options), *content.answer]
    return texts + [text for text in (content.material, content.explanation) if text]


def _squeeze(text: str) -> str:
    return "".join(text.split()).casefold()
