"""Closed questions for free answers, no options or truths to guess (LLMEval-Fair, A.1.2).

A choice becomes its stem with the text of the key as reference answer; a statement is to be judged with its reason. The
original stays. By template, no model.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from schemas import patterns as re
from tasks.bank.augment.wording import is_unfinished, names_an_option, refers_to_other_options
from tasks.questions import Question, QuestionContent, count_blanks
from tasks.questions.variants import TEMPLATE, Variant, VariantOrigin, make_variant

METHOD = "free_response"
PROMPT_VERSION = "free-response/1"

# A stem that cannot be answered without its options: they are what it speaks of.
_NEEDS_OPTIONS = {
    "zh": re.compile(
        r"下列|以下|下面|如下|选项|上述|哪一?[项个种句组类些幅]|哪几|最[^，。]{0,6}的(?:是|一项)|(?:正确|错误|不当|恰当|合适|符合|不同|相同)的(?:一项|是)"
        r"|不(?:属于|包括|是|正确|符合|可能|会|能)的|除[^，。]{0,12}外"
    ),
    "en": re.compile(
        r"\b(?:following|below|above|except|options?|choices?|alternatives?|statements?|which one|which of|least|most likely"
        r"|best|not|true|false|correct|incorrect|select|choose|pick|both|all)\b",
        re.IGNORECASE,
    ),
}
_BLANK = {"zh": "____", "en": " ____"}
_JUDGE = {
    "zh": ("判断下面的说法是否成立，并说明理由。\n", {"true": "成立。", "false": "不成立。"}),
    "en": (
        "Say whether the following holds, and why.\n",
        {"true": "It holds. ", "false": "It does not hold. "},
    ),
}


def make_free_response(question: Question, made_at: datetime) -> Variant | None:
    """The question as one to be answered freely; null where that would be another question.

    A choice whose stem speaks of its options (“which of the following”, 下列) or names one by its letter stays as it is, and so
    does a statement without an explanation: its reference answer would be one word. One with pictures stays, too. Other types are answered freely already.
    """
    content = question.content
    language = "zh" if content.language == "zh" else "en"
    if content.pictures:
        freed = None
    elif content.question_type == "multiple_choice":
        freed = _free_choice(content, language)
    elif content.question_type == "true_false":
        freed = _free_statement(content, language)
    else:
        freed = None
    if freed is None:
        return None
    return make_variant(
        question,
        freed,
        VariantOrigin(method=METHOD, generator=TEMPLATE, prompt_version=PROMPT_VERSION, made_at=made_at),
    )


def _free_choice(content: QuestionContent, language: str) -> QuestionContent | None:
    stem = content.stem.rstrip()
    texts = {option.label: option.text.strip() for option in content.options}
    blanks = count_blanks(stem)
    if (
        not content.answer
        or any(key not in texts for key in content.answer)
        or any(refers_to_other_options(text) for text in texts.values())
        or _NEEDS_OPTIONS[language].search(stem)
        or names_an_option(stem)
    ):
        return None
    if not blanks and is_unfinished(stem, language):
        stem, blanks = f"{stem.rstrip('：:，,—–- ')}{_BLANK[language]}", 1
    # One text per blank: several keys in one blank would be one answer too many.
    if blanks and blanks != len(content.answer):
        return None
    explanation = content.explanation
    return replace(
        content,
        bare=replace(
            content.bare,
            question_type="fill_in_the_blank" if blanks else "short_answer",
            stem=stem,
            options=(),
        ),
        answer=tuple(texts[key] for key in content.answer),
        explanation=None if explanation and names_an_option(explanation) else explanation,
    )


def _free_statement(content: QuestionContent, language: str) -> QuestionContent | None:
    request, verdicts = _JUDGE[language]
    if not content.explanation or len(content.answer) != 1 or content.answer[0] not in verdicts:
        return None
    return replace(
        content,
        bare=replace(content.bare, question_type="short_answer", stem=f"{request}{content.stem.strip()}"),
        answer=(f"{verdicts[content.answer[0]]}{content.explanation.strip()}",),
    )
