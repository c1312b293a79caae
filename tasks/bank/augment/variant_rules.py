"""What a model's variant must keep of what it was made from, by the names of the quarantine.

The rules of its own content, which hold for every question, are those of `tasks.questions.rules`. What each rule means, with
an example that breaks it, stands in `schemas/data/question_rules.yaml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from schemas import patterns as re
from tasks.bank.augment.requests import Statement
from tasks.questions import count_blanks, fill_blanks

_NEGATIONS = re.compile(
    r"不|非|未|无|没|否|错误|\b(?:not|no|never|none|except|incorrect|false|cannot|without)\b|n't\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ASKING = re.compile(
    r"[?？]\s*$|^(?:which|what|who|when|where|why|how)\b|哪[一个些项种]|什么|是否", re.IGNORECASE
)
# Of the letters of stem and option, so many must come back: a statement about something else keeps fewer.
LEAST_KEPT = 0.6

# A statement of which so much stands in the material in one run says nothing of its own.
MOST_COPIED = 0.9
REPLY_IS_READABLE = "reply_is_readable"
BOTH_TRUTHS_ARE_STATED = "both_truths_are_stated"
SAMPLE_PASSES_REVIEW = "sample_passes_review"


def find_broken_statement_rules(stem: str, option: str, statement: str) -> list[str]:
    """Why a rewritten statement cannot stand for stem and option; empty when it can.

    The statement must claim what the option claims: same numbers, same negations, most of the words, and no question.
    """
    source = fill_blanks(stem, " ") + " " + option
    broken = []
    if not statement.strip() or _ASKING.search(statement.strip()) or count_blanks(statement):
        broken.append("statement_is_declarative")
    if sorted(_NUMBER.findall(statement)) != sorted(_NUMBER.findall(source)):
        broken.append("statement_keeps_the_numbers")
    if len(_NEGATIONS.findall(statement)) != len(_NEGATIONS.findall(source)):
        broken.append("statement_keeps_the_negations")
    if _share_kept(option, statement) < LEAST_KEPT or _share_kept(source, statement) < LEAST_KEPT / 2:
        broken.append("statement_keeps_the_option")
    return broken


def find_broken_paraphrase_rules(stem: str, paraphrase: str) -> list[str]:
    """Why a paraphrase cannot stand for the stem; empty when it can."""
    broken = []
    if _squeeze(paraphrase) in ("", _squeeze(stem)):
        broken.append("paraphrase_differs")
    if sorted(_NUMBER.findall(paraphrase)) != sorted(_NUMBER.findall(stem)):
        broken.append("paraphrase_keeps_the_numbers")
    if len(_NEGATIONS.findall(paraphrase)) != len(_NEGATIONS.findall(stem)):
        broken.append("paraphrase_keeps_the_negations")
    if count_blanks(paraphrase) != count_blanks(stem):
        broken.append("paraphrase_keeps_the_blanks")
    if not 0.4 <= len(paraphrase) / max(1, len(stem)) <= 3:
        broken.append("paraphrase_is_of_like_length")
    return broken


def find_broken_support_rules(material: str, statement: Statement) -> list[str]:
    """Why a statement about a material cannot be used, as without support in it; else empty."""
    broken = []
    text, support = statement.text.strip(), statement.support.strip()
    if not text or _ASKING.search(text) or count_blanks(text):
        broken.append("statement_is_declarative")
    if statement.answer not in ("true", "false"):
        broken.append("truth_is_true_or_false")
    if len(support) < 4 or support not in material:
        broken.append("support_stands_in_the_material")
    if is_copied(text, material):
        broken.append("statement_is_not_copied")
    return broken


def has_both_truths(statements: Sequence[Statement]) -> bool:
    """Whether a material has true and false statements: of one kind, nobody need read it."""
    return {statement.answer for statement in statements} >= {"true", "false"}


def is_copied(statement: str, material: str) -> bool:
    """Whether a tenth at most is not the material's own words: copying shows that it is true."""
    wanted, given = _keep_letters(statement), _keep_letters(material)
    if not wanted:
        return False
    if wanted in given:
        return True
    run = SequenceMatcher(None, wanted, given, autojunk=False).find_longest_match()
    return run.size > MOST_COPIED * len(wanted)


def _share_kept(source: str, text: str) -> float:
    """Share of the source's pairs of letters that occur in the text; 1 where all of it does."""
    wanted, given = _keep_letters(source), _keep_letters(text)
    if wanted in given:
        return 1.0
    pairs = {wanted[start : start + 2] for start in range(len(wanted) - 1)} or {wanted}
    return sum(pair in given for pair in pairs) / len(pairs)


def _keep_letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _squeeze(text: str) -> str:
    return "".join(text.split()).casefold()
