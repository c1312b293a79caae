"""Banks of any size, made from real questions by recombination.

They hold planted copies and edits whose truth is known.
"""

from __future__ import annotations

import json
import os
import random
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from schemas.tables import get_table
from schemas.vocabulary import DISCIPLINES

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", "../shared/data"))
DECIDED = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
# Of every hundred questions: copies in another spelling or order, and copies with a small edit.
COPIES, EDITS = 5, 5
_DOCUMENTS = 2_000
_TYPES = {
    "single_choice": "multiple_choice",
    "multiple_choice": "multiple_choice",
    "判断题": "true_false",
    "填空题": "fill_in_the_blank",
    "名词解释": "term_explanation",
}


@dataclass(frozen=True)
class LargeBank:
    """Rows of `review_decisions`, and which of them were planted.

    The planted ones are place of the copy → place of what it was made from.
    """

    decisions: pl.DataFrame = field(repr=False)
    copies: dict[int, int] = field(repr=False)
    edits: dict[int, int] = field(repr=False)


def make_large_bank(count: int, seed: int = 7, batch_id: str = "b1") -> LargeBank:
    """So many accepted questions; the same seed gives the same ones."""
    draw = random.Random(seed)
    source = pl.read_parquet(SHARED / "bank" / "question_bank.parquet")
    pool = [
        (
            kind if kind != "multiple_choice" or options else "short_answer",
            language or "zh",
            stem,
            [str(text) for text in json.loads(options)] if options else [],
            answer,
        )
        for kind, language, stem, options, answer in source.select(
            pl.col("type").replace_strict(_TYPES, default="multiple_choice"),
            "lang",
            "question",
            "options",
            "answer",
        ).iter_rows()
        if len(stem) >= 12
    ]
    rows: list[tuple[str, str, str, list[str], list[str]]] = []
    copies: dict[int, int] = {}
    edits: dict[int, int] = {}
    for place in range(count):
        chance = draw.random() * 100
        if place and chance < COPIES + EDITS:
            of = draw.randrange(place)
            kind, language, stem, options, answer = rows[of]
            if chance < COPIES:
                rows.append(_respell(draw, kind, language, stem, options, answer))
                copies[place] = of
            else:
                rows.append((kind, language, _edit(draw, stem), options, answer))
                edits[place] = of
            continue
        # The beginning of one question and the end of another, with the options of a third.
        first, second = draw.choice(pool)[2], draw.choice(pool)[2]
        kind, language, _, options, answer = draw.choice(pool)
        joined = first[: 1 + draw.randrange(len(first))] + second[draw.randrange(len(second)) :]
        keys = [letter for letter in answer or "" if letter in "ABCDEFGH"[: len(options)]] if options else []
        given = list(dict.fromkeys(keys)) or (["A"] if options else [answer or "–"])
        rows.append((kind, language, joined, draw.sample(options, len(options)), given))
    return LargeBank(_frame(draw, rows, batch_id), copies, edits)


def _respell(
    draw: random.Random, kind: str, language: str, stem: str, options: list[str], answer: list[str]
) -> tuple[str, str, str, list[str], list[str]]:
    """The same question as another paper prints it.

    It differs in spaces, in the width of stops, or in the order of options.
    """
    stem = stem.replace("，", ", ").replace("（", " (").replace("）", ")") + draw.choice(
        ("", " ", "。", "：")
    )
    order = draw.sample(range(len(options)), len(options))
    moved = {chr(65 + old): chr(65 + new) for new, old in enumerate(order)}
    return kind, language, stem, [options[old] for old in order], [moved.get(key, key) for key in answer]


def _edit(draw: random.Random, stem: str) -> str:
    """One letter lost, or a lead-in: what makes a near-duplicate of all but the shortest stems."""
    if draw.random() < 0.5:
        return ("请问：" if "的" in stem else "Note: ") + stem
    letters = [
        place for place, letter in enumerate(stem) if letter.isalpha() and letter not in "不非未无没否错误"
    ]
    place = draw.choice(letters) if letters else 0
    return stem[:place] + stem[place + 1 :]


def _frame(
    draw: random.Random, rows: list[tuple[str, str, str, list[str], list[str]]], batch_id: str
) -> pl.DataFrame:
    table = get_table("review_decisions")
    names = [str(uuid.UUID(int=draw.getrandbits(128), version=5)) for _ in rows]
    documents = [str(uuid.UUID(int=draw.getrandbits(128), version=5)) for _ in range(_DOCUMENTS)]
    kinds, languages, stems, options, answers = zip(*rows, strict=True)
    disciplines = list(DISCIPLINES)
    count = len(rows)
    frame = pl.DataFrame(
        {
            "question_uuid": names,
            "lineage_uuid": names,
            "document_id": [documents[place % _DOCUMENTS] for place in range(count)],
            "question_type": kinds,
            "language": languages,
            "stem": stems,
            "options": [
                [{"label": chr(65 + place), "text": text} for place, text in enumerate(texts)]
                for texts in options
            ],
            "answer": answers,
            "discipline": [disciplines[place % len(disciplines)] for place in range(count)],
        },
        schema_overrides={"options": table.polars_schema["options"], "answer": pl.List(pl.String)},
    )
    fixed = {
        "batch_id": batch_id,
        "revision": 1,
        "outcome": "accepted",
        "reject_reason": None,
        "accept_count": 2,
        "reject_count": 0,
        "was_edited": False,
        "was_adjudicated": False,
        "sub_discipline": None,
        "source_kind": "other",
        "material": None,
        "explanation": None,
        "pictures": [],
        "decided_at": DECIDED,
    }
    return frame.with_columns(
        pl.lit(value, table.polars_schema[name]).alias(name) for name, value in fixed.items()
    ).select(column.name for column in table.own_columns)
