"""Word papers read as they are, and as the PDF that LibreOffice prints of them.

No truth is needed: one paper has the same questions in both. Where they differ, one of the two was read wrongly, and a look at the
paper says which. What is no fault: spaces, pictures of formulas, blanks that a page shows as lines of another length.

    python -m tests.benchmarks.ingest_formats FOLDER … [--show PART OF A NAME]

Reported are, by paper, questions in either, those with the same stem, and those with the same stem, options and answer.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.ingest_speed import read_within

# What is compared of a text: its letters and digits, so many.
_COMPARED = 60
_READERS = 2


def main(arguments: Sequence[str] = ()) -> None:
    """Print papers in the folders, one to a line; with `--show` what differs in those so named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--show", default="", help="part of the name of papers whose differences are printed")
    chosen = parser.parse_args(arguments)
    shown = chosen.show.lower()
    papers = sorted(
        path
        for folder in chosen.folders
        for path in folder.rglob("*")
        if path.suffix in (".doc", ".docx") and shown in path.name.lower()
    )
    alike = total = 0
    with tempfile.TemporaryDirectory(prefix="ingest-formats-") as made:
        pairs = print_papers(papers, Path(made))
        # A process is given up after some papers: it keeps what it has learned of each.
        with multiprocessing.get_context("fork").Pool(_READERS, maxtasksperchild=8) as pool:
            for (paper, _), (first, second) in zip(pairs, pool.imap(_read_both, pairs), strict=True):
                alike += _compare(paper, first, second, is_shown=bool(shown))
                total += max(len(first), len(second))
    print(f"{alike} of {total} alike")


def print_papers(papers: Sequence[Path], folder: Path) -> list[tuple[Path, Path]]:
    """Each paper that can be printed, with its PDF, which is there as long as the folder."""
    copies = {paper: folder / f"{number}{paper.suffix}" for number, paper in enumerate(papers)}
    for paper, copy in copies.items():
        shutil.copyfile(paper, copy)
    profile = f"-env:UserInstallation=file://{folder}/profile"
    command = ["soffice", "--headless", profile, "--convert-to", "pdf", "--outdir", str(folder)]
    subprocess.run([*command, *map(str, copies.values())], check=True, capture_output=True)
    printed = ((paper, copy.with_suffix(".pdf")) for paper, copy in copies.items())
    return [(paper, copy) for paper, copy in printed if copy.exists()]


def _compare(
    paper: Path, first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]], *, is_shown: bool
) -> int:
    """Print what is alike, and what is not if `is_shown`; how many questions are."""
    stems, whole = {_fold(question["stem"]) for question in second}, set(map(_name, second))
    same = sum(_name(question) in whole for question in first)
    kept = sum(_fold(question["stem"]) in stems for question in first)
    line = f"{paper.name[:50]:50} Word {len(first):4}  PDF {len(second):4}  stems {kept:4}  all {same:4}"
    print(line, flush=True)
    for side, own, other in (("Word", first, second), ("PDF", second, first)) if is_shown else ():
        known = set(map(_name, other))
        for question in (one for one in own if _name(one) not in known):
            options = [option["text"][:20] for option in question["options"] or ()]
            print(
                f"  {side} {question['number_label']} {question['stem'][:200]!r} {options} {question['answer']}"
            )
    return same


def _read_both(pair: tuple[Path, Path]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    first, second = (read_within(path)["questions"] for path in pair)
    return first, second


def _fold(text: str | None) -> str:
    return re.sub(r"\W+", "", text or "")[:_COMPARED]


def _name(question: dict[str, Any]) -> tuple[object, ...]:
    options = tuple(_fold(option["text"]) for option in question["options"] or ())
    return _fold(question["stem"]), options, tuple(question["answer"] or ())


if __name__ == "__main__":
    main(sys.argv[1:])
