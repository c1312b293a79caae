"""Multiple choice → true/false by template: n options give n variants (LLMEval-Fair, A.2.2 and figure 7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import polars as pl

from schemas.tables import get_table
from tasks.augment.quarantine import build_refused_question, build_refused_variant
from tasks.augment.wording import PROMPT_VERSION, render_option_question
from tasks.questions.question import Question, QuestionContent
from tasks.questions.reviewed import ReviewedQuestion
from tasks.questions.rules import find_broken_rules
from tasks.questions.variant import TEMPLATE, Variant, make_variant

METHOD = "multiple_choice_to_true_false"

# Options that only mean something together with the others: “all of the above”, “A and C”, 以上都不对, A、B都是.
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
# A longer text says something of its own, whatever it begins with.
_LONGEST_REFERENCE = 60

KEY_REFERS_TO_OTHER_OPTIONS = "key_does_not_refer_to_other_options"


def augment_questions(
    questions: pl.DataFrame, *, unit: str, now: datetime
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Variants by template, and what cannot be used.

    A question that breaks a format rule gets no variants (nor does the bank take it); each of its broken rules is one
    row of `quarantine`. An option such as “all of the above” gets no variant of its own, and a question
    whose key is such an option gets none at all: the truth of its other options does not follow from their labels.

    Args:
        questions: accepted questions: the columns of `review_decisions`, any type; only multiple choice is expanded.
        unit: the review batch they come from.
        now: when the variants are made; a question's own `decided_at` goes before, so that a repeated run is equal.

    Returns:
        Rows of `variants`, and rows of `quarantine`.
    """
    variants: list[Variant] = []
    refused: list[dict[str, object]] = []
    for row in questions.iter_rows(named=True):
        reviewed = ReviewedQuestion.from_row(row)
        parent, made_at = reviewed.question, reviewed.decided_at or now
        is_choice = parent.content.question_type == "multiple_choice"
        rules = find_broken_rules(parent.content)
        if not rules and is_choice and _key_refers_to_others(parent.content):
            rules = [KEY_REFERS_TO_OTHER_OPTIONS]
        if rules:
            refused += [build_refused_question(unit, parent, row, rule, made_at) for rule in rules]
            continue
        for variant in make_option_variants(parent, made_at) if is_choice else ():
            rules = find_broken_rules(variant.content)
            refused += [build_refused_variant(unit, variant, rule, made_at) for rule in rules]
            if not rules:
                variants.append(variant)
    return build_variants_frame(variants), get_table("quarantine").frame(refused)


def build_variants_frame(variants: Sequence[Variant]) -> pl.DataFrame:
    """Rows of `variants`."""
    return get_table("variants").frame([variant.as_row() for variant in variants])


def make_option_variants(parent: Question, made_at: datetime) -> list[Variant]:
    """One true/false variant per option that stands for itself; true exactly where the option's label is in the key."""
    content = parent.content
    return [
        make_variant(
            parent,
            state_as_true_or_false(
                content,
                render_option_question(content.stem, option.text, content.language, len(content.answer)),
                truth=option.label in content.answer,
            ),
            method=METHOD,
            option_label=option.label,
            generator=TEMPLATE,
            prompt_version=PROMPT_VERSION,
            made_at=made_at,
        )
        for option in content.options
        if not refers_to_other_options(option.text)
    ]


def state_as_true_or_false(content: QuestionContent, stem: str, *, truth: bool) -> QuestionContent:
    """A true/false question in the place of another; material, explanation and metadata stay."""
    bare = replace(content.bare, question_type="true_false", stem=stem, options=())
    return replace(content, bare=bare, answer=("true" if truth else "false",))


def refers_to_other_options(text: str) -> bool:
    """Whether an option only means something together with the others (“none of the above”, “A and C”)."""
    squeezed = " ".join(text.split()).strip(" .。()（）")
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


def _key_refers_to_others(content: QuestionContent) -> bool:
    texts = {option.label: option.text for option in content.options}
    return any(refers_to_other_options(texts[key]) for key in content.answer)
