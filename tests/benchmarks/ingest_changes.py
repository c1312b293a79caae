"""Which real papers are read otherwise than they were, by hashes of their readings.

    python -m tests.benchmarks.ingest_changes FOLDER… [--write]

Each paper of the folders is read (no OCR) and compared, with all fields, confidences and warnings, with what
`ingest_changes.json` says of it; `--write` makes that file anew. Who changes ingest looks at every paper that is named here and
writes the file with the change, so that history says how many papers a change has touched. That a reading is right it does
not say: `ingest_accuracy` does, for papers with truth.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from schemas.errors import DocumentError
from tests.benchmarks.ingest_accuracy import make_document, read_document, read_options
from tests.benchmarks.ingest_cache import use_cache

RECORD = Path(__file__).with_suffix(".json")


class Reading(NamedTuple):
    """Numbers of questions and of those with an answer, and a hash of all that was read."""

    questions: int
    answered: int
    digest: str


def main(arguments: Sequence[str] = ()) -> None:
    """Print a line for each paper that reads otherwise, and how many do."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args(arguments)
    papers = [path for folder in chosen.folders for path in list_papers(folder)]
    known = (
        {key: Reading(*kept) for key, kept in json.loads(RECORD.read_text()).items()}
        if RECORD.exists()
        else {}
    )
    with ProcessPoolExecutor(2) as pool:
        found = dict(zip(papers, pool.map(read, papers), strict=True))
    changed = 0
    for path, (key, reading) in found.items():
        old = known.get(key)
        if old != reading:
            changed += 1
            print(f"{path}: {describe(old)} → {describe(reading)}")
    print(f"{len(papers)} papers, {changed} read otherwise than recorded")
    if chosen.write:
        lines = (f'"{key}": {json.dumps(reading)}' for key, reading in sorted(dict(found.values()).items()))
        RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def list_papers(folder: Path) -> Iterator[Path]:
    """The documents of a folder of papers, without truth files and lists."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "truth" not in path.parts and path.name not in ("README.md", "counts.csv"):
            yield path


def read(path: Path) -> tuple[str, Reading]:
    """What names the paper (a hash of name and bytes), and its reading."""
    key = hashlib.sha256(path.name.encode() + path.read_bytes()).hexdigest()[:16]
    with use_cache():
        try:
            found = read_document(path, make_document(path), read_options(path) | {"use_ocr": False})
        except DocumentError as error:
            found = {"questions": [], "error": str(error)}
    questions = found["questions"]
    text = json.dumps(found, ensure_ascii=False, sort_keys=True, default=str)
    answered = sum(bool(question["answer"]) for question in questions)
    return key, Reading(len(questions), answered, hashlib.sha256(text.encode()).hexdigest()[:16])


def describe(reading: Reading | None) -> str:
    """A reading in words."""
    return (
        "not recorded" if reading is None else f"{reading.questions} questions, {reading.answered} answered"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
