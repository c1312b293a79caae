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
        path for folder in chosen.folders for path in folder.rglob("*.doc*") if shown in path.name.lower()
    )
    with tempfile.TemporaryDirectory(prefix="ingest-formats-") as made:
        pairs = [(paper, found) for paper in papers if (found := print_paper(paper, Path(made))) is not None]
        # A process is given up after some papers: it keeps what it has learned of each.
        with multiprocessing.get_context("fork").Pool(_READERS, maxtasksperchild=8) as pool:
            read = pool.starmap(_read_both, pairs, chunksize=1)
    alike = total = 0
    for (paper, _), (first, second) in zip(pairs, read, strict=True):
        stems = {_fold(question["stem"]) for question in second}
        whole = {_name(question) for question in second}
        same = sum(_name(question) in whole for question in first)
        kept = sum(_fold(question["stem"]) in stems for question in first)
        print(f"{paper.name[:50]:50} Word {len(first):4}  PDF {len(second):4}  stems {kept:4}  all {same:4}")
        alike, total = alike + same, total + max(len(first), len(second))
        for side, own, other in (("Word", first, second), ("PDF", second, first)) if shown else ():
            known = {_name(question) for question in other}
            for question in (one for one in own if _name(one) not in known):
                options = [option["text"][:20] for option in question["options"] or ()]
                print(
                    f"  {side} {question['number_label']} {question['stem'][:200]!r} {options} {question['answer']}"
                )
    print(f"{alike} of {total} alike")


def print_paper(paper: Path, folder: Path) -> Path | None:
    """The paper as a PDF in a folder of its own below this one; None where it cannot be printed."""
    own = Path(tempfile.mkdtemp(dir=folder))
    profile = f"-env:UserInstallation=file://{folder}/profile"
    command = ["soffice", "--headless", profile, "--convert-to", "pdf", "--outdir", str(own), str(paper)]
    subprocess.run(command, check=False, capture_output=True, timeout=300)
    return next(own.glob("*.pdf"), None)


def _read_both(paper: Path, printed: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return read_within(paper)["questions"], read_within(printed)["questions"]


def _fold(text: str | None) -> str:
    return re.sub(r"\W+", "", text or "")[:_COMPARED]


def _name(question: dict[str, Any]) -> tuple[object, ...]:
    options = tuple(_fold(option["text"]) for option in question["options"] or ())
    return _fold(question["stem"]), options, tuple(question["answer"] or ())


if __name__ == "__main__":
    main(sys.argv[1:])
