"""What the confidence of questions and papers is worth.

Every paper is judged by a fit that saw no paper of its source; the packaged fit's own papers come second. Reported are a table
of bins, the wrong ones at 0.9 or more, the share of papers that are held, and how many questions of held papers and of the
others are wrong.

    python -m tests.benchmarks.ingest_confidence [FOLDER …] [--fit FILE]

With `--fit` the fit by all these papers is written to FILE: so the packaged one was made
(`--fit tasks/ingest/confidence/fit.json`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tasks.ingest.confidence.judging import Terms
from tasks.ingest.confidence.learning import (
    KnownPaper,
    PaperTrial,
    Trial,
    fit_confidence,
    try_left_out,
)
from tasks.ingest.confidence.truth import know_paper, read_truths
from tests.benchmarks.ingest_accuracy import read_landed
from tests.benchmarks.ingest_cache import use_cache

BINS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)
FOLDERS = ("exams_unseen", "exams_more", "exams")
# The rules were written with a look at these: they are read better than others, and tell less of them.
SHOWN = {"exams_more": 0.35, "exams": 0.35}


def know_papers(folder: Path) -> list[KnownPaper]:
    """Every paper of a folder with a truth file, read now."""
    found = []
    with use_cache():
        for name, truth in read_truths(folder).items():
            if (folder / name).exists() and truth["n_questions"]:
                landed = read_landed(folder / name)
                found.append(
                    know_paper(landed["document"], landed["questions"], truth, SHOWN.get(folder.name, 1.0))
                )
    return found


@dataclass(frozen=True)
class Reliability:
    """Known questions of some papers with their confidence, and those papers with what is expected of them."""

    trials: Sequence[Trial]
    wholes: Sequence[PaperTrial]

    def of(self, names: Iterable[str]) -> Reliability:
        """The same of some papers alone."""
        wanted = set(names)
        return Reliability(
            [one for one in self.trials if one.paper in wanted],
            [one for one in self.wholes if one.paper in wanted],
        )

    def count_wrong(self, least: float, most: float = 2.0) -> tuple[int, int]:
        """Questions of this confidence, and how many of them are wrong."""
        inside = [one for one in self.trials if least <= one.confidence < most]
        return len(inside), sum(not one.is_right for one in inside)

    def render(self, title: str, least_right: float) -> str:
        """The table of bins and the figures that are aimed at."""
        lines = [title, "", "| confidence | questions | wrong | mean confidence |", "|---|---|---|---|"]
        for low, high in pairwise(BINS):
            count, wrong = self.count_wrong(low, high)
            inside = [one.confidence for one in self.trials if low <= one.confidence < high]
            if count:
                mean = sum(inside) / count
                lines.append(
                    f"| {low:.2f}-{min(high, 1):.2f} | {count} | {wrong} ({wrong / count:.0%}) | {mean:.2f} |"
                )
        sure, wrong = self.count_wrong(0.9)
        lines += [
            "",
            f"at 0.9 or more: {sure} of {len(self.trials)} questions, {wrong} wrong ({wrong / max(1, sure):.1%})",
        ]
        held = {one.paper for one in self.wholes if one.expected < least_right}
        for word, some in (
            ("held", [one for one in self.wholes if one.paper in held]),
            ("passed", [one for one in self.wholes if one.paper not in held]),
        ):
            count = sum(one.count for one in some)
            off = count - sum(round(one.right_share * one.count) for one in some)
            bad = sum(one.right_share < 0.5 for one in some)
            lines.append(
                f"{word}: {len(some)} of {len(self.wholes)} papers, {bad} of them below half right; "
                f"of {count} listed questions {off} wrong or missing ({off / max(1, count):.0%})"
            )
        lost = [one for one in self.wholes if one.paper not in held and one.right_share < 0.5]
        lines += [
            f"  passed though below half: {one.paper} (right {one.right_share:.0%}, expected {one.expected:.0%})"
            for one in lost
        ]
        return "\n".join(lines)


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
    papers = [paper for some in sets.values() for paper in some]
    left_out = Reliability(*try_left_out(papers))
    least = Terms().least_right
    for name, some in sets.items():
        print(
            left_out.of(paper.name for paper in some).render(
                f"## {name}, every source left out of the fit", least
            )
        )
        print()
    if len(sets) > 1:
        print(left_out.render("## all, every source left out of the fit", least))
    if target is not None:
        fit = fit_confidence(
            papers,
            {
                "papers": len(papers),
                "sources": len({one.source for one in papers}),
                "questions": sum(len(one.known) for one in papers),
            },
        )
        target.write_text(fit.render() + "\n", encoding="utf-8")
        print(f"\nFit {fit.version} written to {target}.")


if __name__ == "__main__":
    main(sys.argv[1:])
