"""What the confidence of questions and papers is worth.

Every paper is judged by a fit that saw no paper of its source. The fit is made of papers as they looked when they were met
first; papers of the folders are judged by it and add nothing to it. Reported are a table of bins, the wrong ones at 0.9 or
more, the share of papers that are held, and how many questions of held papers and of the others are wrong.

    python -m tests.benchmarks.ingest_confidence [FOLDER …] [--fit FILE]

With `--fit` the fit is written to FILE: so the packaged one was made (`--fit tasks/ingest/confidence/fit.json`).
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tasks.ingest.confidence import (
    Known,
    KnownPaper,
    Terms,
    fit_confidence,
    know_paper,
    read_truths,
    try_left_out,
)
from tests.benchmarks.ingest_accuracy import read_landed
from tests.benchmarks.ingest_cache import use_cache

FOLDERS = ("exams_unseen", "exams_more", "exams")
# The rules were written with a look at all of these: they are read better than others, and tell nothing of them.
SHOWN = 0.0


def read_first_sight() -> list[KnownPaper]:
    """What 241 papers looked like when the rules met them first: numbers without any text.

    Their sources are hashes. Since then rules were made for them too. A paper that nobody has shown is read as these were,
    not as they are now.
    """
    kept = json.loads(Path(__file__).with_name("ingest_first_sight.json").read_text(encoding="utf-8"))
    return [
        KnownPaper(
            f"first sight {number}",
            one["source"],
            one["evidence"],
            [Known({**one["evidence"], **own}, bool(is_right)) for is_right, own in one["known"]],
            one["missed"],
        )
        for number, one in enumerate(kept, start=1)
    ]


def know_papers(folder: Path) -> list[KnownPaper]:
    """Every paper of a folder with a truth file, read now; ends where there is none."""
    found = []
    if not (folder / "truth").is_dir():
        sys.exit(f"{folder} holds no truth files. Name another folder, or set PROCTOR_SHARED_DATA.")
    with use_cache():
        for name, truth in read_truths(folder).items():
            if (folder / name).exists() and truth["n_questions"]:
                landed = read_landed(folder / name)
                paper = know_paper(landed["document"], landed["questions"], truth, SHOWN)
                # named as in the file of first sights, so that both readings of a paper are left out together
                source = hashlib.sha256(paper.source.encode()).hexdigest()[:12]
                found.append(replace(paper, source=source))
    return found


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables for the folders given, or for the shared data."""
    shared = Path(
        os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    )
    names = list(arguments)
    target = None
    if "--fit" in names:
        at = names.index("--fit")
        target = Path(names[at + 1])
        del names[at : at + 2]
    folders = [Path(one) for one in names] or [shared / name for name in FOLDERS]
    sets = {folder.name: know_papers(folder) for folder in folders}
    sets["papers at first sight"] = read_first_sight()
    papers = [paper for some in sets.values() for paper in some]
    left_out = try_left_out(papers)
    least = Terms().least_right
    for name, some in sets.items():
        print(
            left_out.select(paper.name for paper in some).render(
                f"## {name}, every source left out of the fit", least
            )
        )
        print()
    if len(sets) > 1:
        print(left_out.render("## all, every source left out of the fit", least))
    for one in left_out.papers:
        if one.expected >= least and one.right_share < 0.5:
            print(
                f"passed though less than half right: {one.paper} ({one.right_share:.0%}, expected {one.expected:.0%})"
            )
    if target is not None:
        met = sets["papers at first sight"]
        fit = fit_confidence(
            met,
            {
                "papers": len(met),
                "sources": len({one.source for one in met}),
                "questions": sum(len(one.known) for one in met),
            },
        )
        target.write_text(fit.render() + "\n", encoding="utf-8")
        print(f"\nFit {fit.version} written to {target}.")


if __name__ == "__main__":
    main(sys.argv[1:])
