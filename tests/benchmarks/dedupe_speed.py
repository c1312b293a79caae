"""How many near-duplicates are found, how many of those are real, and how long it takes, on real questions.

Truth is an exact join: every pair of a sample with a Jaccard of character 3-grams of at least 0.8 that asks the same
(types, numbers, polarity, options, closed answers). Beside it, copies with small edits are planted.
Run: python -m tests.benchmarks.dedupe_speed [questions]
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl

from tasks.dedupe.exact import normalise_content
from tasks.dedupe.near import (
    Text,
    asks_the_same,
    build_text,
    compute_jaccard,
    compute_similarity,
    list_candidate_pairs,
)
from tasks.questions.question import QuestionContent

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
    """Copies with the edits that two papers show: spacing, stops, a lead-in, one letter lost, options in another order."""
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


def main(count: int = 10_000) -> None:
    """Measure and print."""
    rows = read_rows(count)
    planted = plant_copies(rows, count // 20)
    contents = [QuestionContent.from_row(row) for row in [*rows, *planted]]
    started = time.perf_counter()
    texts = [build_text(normalise_content(content)) for content in contents]
    built = time.perf_counter()
    candidates = list(list_candidate_pairs(texts))
    proposed = time.perf_counter()
    found = {
        pair
        for pair in candidates
        if compute_similarity(texts[pair[0]], texts[pair[1]], THRESHOLD) is not None
    }
    verified = time.perf_counter()
    alike = join_exactly(texts)
    truth = {pair for pair in alike if asks_the_same(texts[pair[0]], texts[pair[1]], THRESHOLD)}
    below_one = {pair for pair in truth if compute_jaccard(texts[pair[0]].grams, texts[pair[1]].grams) < 1}
    copies_found = {second for _, second in found if second >= len(rows)}
    copies_true = {second for _, second in truth if second >= len(rows)}
    lines = (
        f"questions {len(texts)}, of which planted copies {len(planted)}",
        f"seconds: normalise {built - started:.2f}, MinHash and LSH {proposed - built:.2f}, "
        f"verify {verified - proposed:.2f}",
        f"candidate pairs {len(candidates)}, found {len(found)}, true {len(truth)}",
        f"recall {len(found & truth) / len(truth):.4f}, "
        f"of pairs with Jaccard < 1 {len(found & below_one) / max(1, len(below_one)):.4f}",
        f"precision {len(found & truth) / max(1, len(found)):.4f}",
        f"planted copies found {len(copies_found)} of {len(planted)} ({len(copies_true)} reach the threshold)",
        f"pairs of Jaccard >= {THRESHOLD} that ask something else: {len(alike - truth)}",
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
