"""Real questions, copies with small edits, and what brute force finds among them.

This is the truth for duplicates.

Truth is an exact join: every pair with a Jaccard of character 3-grams of at least 0.8.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import polars as pl

from tasks.bank.dedupe.near import Text

THRESHOLD = 0.8
SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", "../shared/data"))
TYPES = {
    "single_choice": "multiple_choice",
    "multiple_choice": "multiple_choice",
    "判断题": "true_false",
    "填空题": "fill_in_the_blank",
    "名词解释": "term_explanation",
}


def read_rows(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """A repeatable sample of the question bank as rows of content."""
    bank = pl.read_parquet(SHARED / "bank" / "question_bank.parquet").sample(count, seed=seed)
    rows = []
    for source in bank.iter_rows(named=True):
        options = json.loads(source["options"]) if source["options"] else []
        rows.append(
            {
                "language": source["lang"] or "zh",
                "question_type": TYPES.get(source["type"], "multiple_choice" if options else "short_answer"),
                "stem": source["question"] or "",
                "options": [
                    {"label": chr(65 + place), "text": str(text)} for place, text in enumerate(options)
                ],
                "answer": [source["answer"]] if source["answer"] else [],
            }
        )
    return rows


def plant_copies(rows: list[dict[str, Any]], count: int, seed: int = 11) -> list[dict[str, Any]]:
    """Copies with the edits that two papers show.

    The edits are spacing, stops, a lead-in, one letter lost, and options in another order.
    """
    draw = random.Random(seed)
    copies = []
    for row in draw.sample([row for row in rows if len(row["stem"]) >= 25], count):
        copy = json.loads(json.dumps(row, ensure_ascii=False))
        kind = draw.randrange(4)
        stem = copy["stem"]
        if kind == 0:
            copy["stem"] = stem.replace("，", ", ").replace("。", " . ") + " "
        elif kind == 1:
            copy["stem"] = ("请问" if "的" in stem else "Please: ") + stem
        elif kind == 2:
            letters = [
                place
                for place, letter in enumerate(stem)
                if letter.isalpha() and letter not in "不非未无没否"
            ]
            place = draw.choice(letters)
            copy["stem"] = stem[:place] + stem[place + 1 :]
        else:
            texts = {option["label"]: option["text"] for option in copy["options"]}
            draw.shuffle(copy["options"])
            labels = [chr(65 + place) for place in range(len(copy["options"]))]
            moved = {option["label"]: label for option, label in zip(copy["options"], labels, strict=True)}
            copy["options"] = [
                {"label": label, "text": texts[option["label"]]}
                for option, label in zip(copy["options"], labels, strict=True)
            ]
            copy["answer"] = [moved.get(key, key) for key in copy["answer"]]
        copies.append(copy)
    return copies


def join_exactly(texts: list[Text]) -> set[tuple[int, int]]:
    """Every pair with a Jaccard of at least the threshold, by a sparse matrix product."""
    import numpy as np
    from scipy.sparse import csr_matrix

    vocabulary: dict[str, int] = {}
    pointers, columns = [0], []
    for text in texts:
        columns += [vocabulary.setdefault(gram, len(vocabulary)) for gram in sorted(text.grams)]
        pointers.append(len(columns))
    matrix = csr_matrix(
        (np.ones(len(columns), dtype=np.int32), np.array(columns), np.array(pointers)),
        shape=(len(texts), len(vocabulary)),
    )
    sizes = np.diff(pointers)
    pairs = set()
    for start in range(0, len(texts), 500):
        shared = (matrix[start : start + 500] @ matrix.T).tocoo()
        first, second = shared.row + start, shared.col
        jaccard = shared.data / (sizes[first] + sizes[second] - shared.data)
        hit = (jaccard >= THRESHOLD) & (second > first)
        pairs |= set(zip(first[hit].tolist(), second[hit].tolist(), strict=True))
    return pairs
