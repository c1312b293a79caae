"""What a model is asked when it writes variants, and how its reply is read and checked. The wording is ours.

Every request ends with one JSON object whose `task` names what is wanted; the reply is one JSON object. A changed
word needs a new `PROMPT_VERSION`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tasks.questions.blanks import count_blanks, fill_blanks

PROMPT_VERSION = "augment-model/1"

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

_SYSTEM = (
    "You prepare examination questions. Keep the facts exactly as they are given: do not correct, explain, weaken or "
    "add anything, and do not say whether something is true. Write in the language of the material you are given. "
    "Answer with one JSON object and nothing else."
)
_TASKS = {
    "declarative_rewrite": (
        "Merge the question and the offered answer into one plain declarative sentence that claims the offered answer "
        'is right, whether it is or not. Reply as {"statement": "…"}.'
    ),
    "material_to_true_false": (
        "Write `count` statements about the key information of the material that can be judged true or false from it "
        "alone; make about half of them false by changing one fact. For each copy, letter for letter, the one sentence "
        "of the material that decides it. Reply as "
        '{"statements": [{"statement": "…", "answer": "true" or "false", "support": "…"}]}.'
    ),
    "paraphrase": (
        "Say the question in other words without changing what is asked. Keep every number, name, formula and blank, "
        'and every negation. Reply as {"stem": "…"}.'
    ),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """What a model states about a material; what is not text in its reply is as good as missing.

    Attributes:
        text: the statement.
        answer: `true` or `false` where the reply keeps to what was asked.
        support: the sentence of the material that decides it.
    """

    text: str = field(repr=False)
    answer: str
    support: str = field(repr=False)

    @classmethod
    def from_reply(cls, fields: Mapping[str, object]) -> Statement:
        """The statement in one object of the reply."""
        texts = [fields.get(name) for name in ("statement", "answer", "support")]
        return cls(*(text if isinstance(text, str) else "" for text in texts))

    @property
    def is_true(self) -> bool:
        """Whether the model calls it true."""
        return self.answer == "true"


def build_messages(task: str, **fields: str | int) -> list[dict[str, str]]:
    """Chat messages for a task: `declarative_rewrite` (stem, option), `material_to_true_false` (material, count) or
    `paraphrase` (stem).
    """
    request = json.dumps({"task": task, **fields}, ensure_ascii=False)
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": f"{_TASKS[task]}\n\n{request}"},
    ]


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
    """Why a statement about a material cannot be used; empty when it can. Its support must stand in the material."""
    broken = []
    text, support = statement.text.strip(), statement.support.strip()
    if not text or _ASKING.search(text) or count_blanks(text):
        broken.append("statement_is_declarative")
    if statement.answer not in ("true", "false"):
        broken.append("truth_is_true_or_false")
    if len(support) < 4 or support not in material:
        broken.append("support_stands_in_the_material")
    return broken


def _share_kept(source: str, text: str) -> float:
    """Share of the source's pairs of letters that occur in the text; 1 where the whole source does."""
    wanted, given = _keep_letters(source), _keep_letters(text)
    if wanted in given:
        return 1.0
    pairs = {wanted[start : start + 2] for start in range(len(wanted) - 1)} or {wanted}
    return sum(pair in given for pair in pairs) / len(pairs)


def _keep_letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _squeeze(text: str) -> str:
    return "".join(text.split()).casefold()
