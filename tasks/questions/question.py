"""A question and its content: the shapes in which every stage hands questions on.

Three types, each made of the one before: `BareQuestion` is all that a candidate may see, `QuestionContent` adds what
only the examiners know, `Question` adds who it is and what it was made from. They hold each other instead of
inheriting, so that a function which takes a bare question can never be given an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ORIGINAL = "original"


@dataclass(frozen=True, slots=True)
class Option:
    """One offered answer: its letter and its text."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionPicture:
    """A picture that a text of a question names.

    Attributes:
        number: by which `[picture:1]` names it.
        sha256: of its bytes.
        place: stem, option, material, answer or explanation; of the last two a candidate sees nothing.
        alt_text: what it shows, in words, for who does not see it; null where nobody said it, or it was not asked for.
    """

    number: int
    sha256: str
    place: str
    alt_text: str | None = field(default=None, repr=False)


# Where a candidate sees a picture.
SHOWN_PLACES = ("material", "stem", "option")


@dataclass(frozen=True, slots=True)
class BareQuestion:
    """What a candidate may see of a question, and nothing else.

    Attributes:
        question_type: one of `schemas.vocabulary.QUESTION_TYPES`.
        language: `zh` or `en`.
        stem: the asking text.
        material: the text that the question is about; null without one.
        options: the offered answers in order; empty for other types than multiple choice.
        pictures: those that stand in these texts, never one of an answer.
    """

    question_type: str
    language: str
    stem: str = field(repr=False)
    material: str | None = field(default=None, repr=False)
    options: tuple[Option, ...] = field(default=(), repr=False)
    pictures: tuple[QuestionPicture, ...] = ()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> BareQuestion:
        """The bare part of a row or JSON object with these fields; others are left out."""
        return cls(
            row["question_type"],
            row["language"],
            row["stem"] or "",
            row.get("material"),
            read_options(row.get("options")),
            _read_pictures(row, is_shown=True),
        )

    def as_row(self) -> dict[str, Any]:
        """Plain values as stored for a sitting and sent; without pictures nothing of them."""
        return {
            "question_type": self.question_type,
            "language": self.language,
            "stem": self.stem,
            "material": self.material,
            "options": write_options(self.options),
        } | ({"pictures": write_pictures(self.pictures)} if self.pictures else {})


@dataclass(frozen=True, slots=True)
class Question:
    """One item of the bank, or on its way there.

    Attributes:
        question_uuid: UUIDv5 of the normalised content (`tasks.questions.identity.normal_form`).
        revision: 1 as parsed; each accepted edit adds one.
        lineage_uuid: the original that this one descends from.
        parent_uuid: the question it was made from; null for an original.
        method: how it was made from its parent; `original` for an original.
        content: everything that is asked and known.
    """

    question_uuid: str
    revision: int
    lineage_uuid: str
    parent_uuid: str | None
    method: str
    content: QuestionContent

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Question:
        """The question in a row of any table that holds identity and content."""
        return cls(
            row["question_uuid"],
            row["revision"],
            row["lineage_uuid"],
            row.get("parent_uuid"),
            row.get("method") or ORIGINAL,
            QuestionContent.from_row(row),
        )

    @property
    def is_original(self) -> bool:
        """Whether it was found in a paper rather than made from another question."""
        return self.question_uuid == self.lineage_uuid

    def identity_row(self) -> dict[str, Any]:
        """The columns `schemas.questions.IDENTITY`."""
        return {
            "question_uuid": self.question_uuid,
            "revision": self.revision,
            "lineage_uuid": self.lineage_uuid,
            "parent_uuid": self.parent_uuid,
        }

    def as_row(self) -> dict[str, Any]:
        """Identity and content with plain values, without `method`, which some tables lack."""
        return self.identity_row() | self.content.as_row()


@dataclass(frozen=True, slots=True)
class QuestionContent:
    """Everything that is asked and known of a question, without its identity.

    These are the columns `schemas.questions.CONTENT`.

    Attributes:
        bare: what a candidate may see.
        answer: keys of a choice, `true` or `false`, else the reference answers; empty when none is known.
        explanation: why the answer is right; null where the source gives none.
        discipline: primary discipline; null until known.
        sub_discipline: null where unknown.
        source_kind: kind of exam it comes from; null where unknown.
        hidden_pictures: those that stand in answer or explanation alone.
    """

    bare: BareQuestion
    answer: tuple[str, ...] = field(default=(), repr=False)
    explanation: str | None = field(default=None, repr=False)
    discipline: str | None = None
    sub_discipline: str | None = None
    source_kind: str | None = None
    hidden_pictures: tuple[QuestionPicture, ...] = ()

    @property
    def question_type(self) -> str:
        """Type of the question."""
        return self.bare.question_type

    @property
    def language(self) -> str:
        """Language of the question."""
        return self.bare.language

    @property
    def stem(self) -> str:
        """The asking text."""
        return self.bare.stem

    @property
    def material(self) -> str | None:
        """The text that the question is about."""
        return self.bare.material

    @property
    def options(self) -> tuple[Option, ...]:
        """The offered answers in order."""
        return self.bare.options

    @property
    def pictures(self) -> tuple[QuestionPicture, ...]:
        """All its pictures, those of answer and explanation last."""
        return (*self.bare.pictures, *self.hidden_pictures)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> QuestionContent:
        """The content in a stored object or row of `questions variants bank review_decisions`."""
        return cls(
            BareQuestion.from_row(row),
            tuple(text or "" for text in row.get("answer") or ()),
            row.get("explanation"),
            row.get("discipline"),
            row.get("sub_discipline"),
            row.get("source_kind"),
            _read_pictures(row, is_shown=False),
        )

    def as_row(self) -> dict[str, Any]:
        """The columns `schemas.questions.CONTENT` with plain values."""
        return self.bare.as_row() | {
            "answer": list(self.answer),
            "explanation": self.explanation,
            "discipline": self.discipline,
            "sub_discipline": self.sub_discipline,
            "source_kind": self.source_kind,
            "pictures": write_pictures(self.pictures) or None,
        }


def read_options(options: Iterable[Mapping[str, str]] | None) -> tuple[Option, ...]:
    """Offered answers from a stored list of label and text; a null text becomes empty."""
    return tuple(Option(option["label"], option["text"] or "") for option in options or ())


def write_options(options: Iterable[Option]) -> list[dict[str, str]]:
    """Offered answers in their stored form."""
    return [{"label": option.label, "text": option.text} for option in options]


def _read_pictures(row: Mapping[str, Any], *, is_shown: bool) -> tuple[QuestionPicture, ...]:
    """The pictures of a row that a candidate sees, or those that it does not."""
    return tuple(
        QuestionPicture(int(one["number"]), one["sha256"], one["place"], one.get("alt_text"))
        for one in row.get("pictures") or ()
        if (one["place"] in SHOWN_PLACES) is is_shown
    )


def write_pictures(pictures: Iterable[QuestionPicture]) -> list[dict[str, Any]]:
    """Pictures in their stored form."""
    return [
        {"number": one.number, "sha256": one.sha256, "place": one.place}
        | ({"alt_text": one.alt_text} if one.alt_text else {})
        for one in pictures
    ]
