"""Choice → true/false by template (LLMEval-Fair, A.2.2, figure 7): a variant per option."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

import polars as pl

from schemas.questions import CONTENT
from schemas.tables import get_table
from tasks.bank.augment.quarantine import build_refused_question
from tasks.bank.augment.wording import PROMPT_VERSION, choose_frame, refers_to_other_options
from tasks.questions import QuestionContent
from tasks.questions.identity import (
    close_pieces,
    compute_normal_uuid,
    fold_piece,
    join_pieces,
    normalise_for_key,
)
from tasks.questions.rules import find_broken_rules, is_sound_choice
from tasks.questions.variants import TEMPLATE, ReviewedQuestion, Variant

METHOD = "multiple_choice_to_true_false"
KEY_REFERS_TO_OTHER_OPTIONS = "key_does_not_refer_to_other_options"

_TRUTHS = pl.Series("answer", [["false"], ["true"]], dtype=pl.List(pl.String))
# Columns of the parent that its variants inherit as they are.
_INHERITED = tuple(
    column.name for column in CONTENT if column.name not in ("question_type", "stem", "options", "answer")
)


class _Choice(NamedTuple):
    """A choice as columns hold it."""

    stem: str
    language: str
    material: str
    labels: list[str]
    texts: list[str]
    answer: list[str]
    has_pictures: bool


def augment_questions(
    questions: pl.DataFrame, *, unit: str, now: datetime
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Variants by template, and what cannot be used.

    A question that breaks a format rule gets no variants (nor does the bank take it); each of its broken rules is one
    row of `quarantine`. An option such as “all of the above” gets no variant of its own, and a question
    whose key is such an option gets none at all: the truth of its other options does not follow from their labels.
    Questions that were made from others are left alone, and those with pictures.

    Args:
        questions: accepted questions: the columns of `review_decisions`, any type; only multiple choice is expanded.
        unit: the review batch they come from.
        now: when the variants are made; a question's own `decided_at` goes before, so that a repeated run is equal.

    Returns:
        Rows of `variants`, and rows of `quarantine`.
    """
    originals = questions.filter(pl.col("question_uuid") == pl.col("lineage_uuid"))
    made = _Made()
    refused: list[dict[str, object]] = []
    for place, choice in enumerate(_iterate(originals)):
        rules: list[str] = []
        if choice is None or not is_sound_choice(choice.stem, choice.labels, choice.texts, choice.answer):
            row = originals.row(place, named=True)
            rules = find_broken_rules(QuestionContent.from_row(row))
        if not rules and choice is not None:
            own = [not refers_to_other_options(text) for text in choice.texts]
            if choice.has_pictures:
                continue  # what its statements would show is not what it shows
            if all(own) or all(own[choice.labels.index(key)] for key in choice.answer):
                made.add(place, choice, own)
                continue
            rules = [KEY_REFERS_TO_OTHER_OPTIONS]
        if rules:
            row = originals.row(place, named=True)
            reviewed = ReviewedQuestion.from_row(row)
            at = reviewed.decided_at or now
            refused += [build_refused_question(unit, reviewed.question, row, rule, at) for rule in rules]
    return made.build_frame(originals, now), get_table("quarantine").frame(refused)


def build_variants_frame(variants: Sequence[Variant]) -> pl.DataFrame:
    """Rows of `variants`."""
    return get_table("variants").frame([variant.as_row() for variant in variants])


def is_expandable(content: QuestionContent) -> bool:
    """Whether options' truth follows from labels: no key speaks of the other options."""
    texts = {option.label: option.text for option in content.options}
    return not any(refers_to_other_options(texts[key]) for key in content.answer)


def state_as_true_or_false(content: QuestionContent, stem: str, *, truth: bool) -> QuestionContent:
    """A true/false question in the place of another; material, explanation and metadata stay."""
    bare = replace(content.bare, question_type="true_false", stem=stem, options=())
    return replace(content, bare=bare, answer=("true" if truth else "false",))


def _iterate(questions: pl.DataFrame) -> Iterator[_Choice | None]:
    """Each question that is a choice, null for others; by columns, for a bank has 78,009."""
    options = questions["options"].list
    columns = (
        questions["question_type"].to_list(),
        questions["stem"].to_list(),
        questions["language"].to_list(),
        questions["material"].to_list(),
        options.eval(pl.element().struct.field("label")).to_list(),
        options.eval(pl.element().struct.field("text")).to_list(),
        questions["answer"].to_list(),
        questions["pictures"].list.len().fill_null(0).to_list(),
    )
    for question_type, stem, language, material, labels, texts, answer, count in zip(*columns, strict=True):
        if question_type != "multiple_choice":
            yield None
        else:
            yield _Choice(
                stem or "",
                language,
                material or "",
                labels or [],
                [text or "" for text in texts or ()],
                [text or "" for text in answer or ()],
                bool(count),
            )


@dataclass
class _Made:
    """Columns that differ between variants; the rest is gathered from their parents."""

    uuids: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    stems: list[str] = field(default_factory=list)
    truths: list[int] = field(default_factory=list)

    def add(self, place: int, choice: _Choice, own: Sequence[bool]) -> None:
        """The variants of the choice at `place`: one per option that stands for itself (`own`)."""
        frame = choose_frame(choice.stem, choice.language, len(choice.answer))
        material = normalise_for_key(choice.material) if choice.material else ""
        # Stem and words are folded once for all options.
        stem, before, after = fold_piece(frame.stem), fold_piece(frame.before), fold_piece(frame.after)
        head = None if stem is None or before is None else join_pieces(stem, before)
        for label, text, is_own in zip(choice.labels, choice.texts, own, strict=True):
            if not is_own:
                continue
            text = text.strip()
            option = None if head is None or after is None else fold_piece(text)
            rendered = frame.render(text)
            normal = normalise_for_key(rendered) if option is None else close_pieces(f"{head}{option}{after}")
            self.uuids.append(compute_normal_uuid("true_false", normal, material, ()))
            self.parents.append(place)
            self.labels.append(label)
            self.stems.append(rendered)
            self.truths.append(label in choice.answer)

    def build_frame(self, questions: pl.DataFrame, now: datetime) -> pl.DataFrame:
        """Rows of `variants`; what they inherit is gathered from the rows of their parents."""
        table = get_table("variants")
        schema = pl.Schema({column.name: table.polars_schema[column.name] for column in table.own_columns})
        height = len(self.uuids)
        nothing = pl.Series("options", [[]], dtype=schema["options"])
        made = pl.DataFrame(
            {"question_uuid": self.uuids, "option_label": self.labels, "stem": self.stems},
            schema=dict.fromkeys(("question_uuid", "option_label", "stem"), pl.String),
        )
        gathered = questions.select(
            pl.col("question_uuid").alias("parent_uuid"),
            "lineage_uuid",
            *_INHERITED,
            pl.col("decided_at").fill_null(now).alias("created_at"),
        )[pl.Series(self.parents, dtype=pl.UInt32)]
        return (
            pl.concat([made, gathered], how="horizontal")
            .with_columns(
                _TRUTHS.gather(pl.Series(self.truths, dtype=pl.UInt32)),
                nothing.new_from_index(0, height),
                revision=pl.lit(1, pl.Int64),
                method=pl.lit(METHOD),
                generator=pl.lit(TEMPLATE),
                prompt_version=pl.lit(PROMPT_VERSION),
                support=pl.lit(None, pl.String),
                question_type=pl.lit("true_false"),
            )
            .select(*schema)
            .cast(schema)
        )
