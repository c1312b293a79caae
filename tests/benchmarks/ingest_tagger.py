"""How well the learned tagger tells what each line is, and the command that trains it.

It learns from readings whose contracts hold or which agree with a truth file: no line is tagged by hand. Every paper is judged by
a tagger that saw no paper of its source. Reported are the beginnings of questions that it finds beside those of the reading that
taught it, and the share of listed questions that the whole ingest reads fully right with its proposals and without.

    python -m tests.benchmarks.ingest_tagger [FOLDER …] [--fit FILE]

With `--fit` the tagger by all these papers is written to FILE: so the packaged one was made
(`--fit tasks/ingest/tagging/tagger.crf`). A folder may hold papers with truth files, or without.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from schemas.errors import DocumentError
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.series import read_series_mark
from tasks.ingest.splitting import prepare_pieces
from tasks.ingest.tagging import HEADING, INSIDE, OPTION, OUTSIDE, START, describe_lines, open_model
from tests.benchmarks.ingest_accuracy import compare, read_landed, read_options, read_truths, render
from tests.benchmarks.ingest_cache import use_cache
from tests.benchmarks.ingest_lines import Line, extract_file, join_lines, split_lines

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
FOLDERS = ("exams", "exams_more", "exams_unseen")
PARTS = 5
PARAMETERS = {
    "c1": 0.1,
    "c2": 0.5,
    "max_iterations": 100,
    "feature.minfreq": 3,
    "feature.possible_transitions": True,
}
# A long bank repeats one form: its first lines say all.
MOST_LINES = 1_200
# From what reading the tagger learns: its contracts hold, or a person listed its questions and it found them.
LEAST_SCORE, LEAST_QUESTIONS, LEAST_FOUND, MOST_MISCOUNTED = 0.95, 4, 0.85, 0.15


# The forms in which questions and options of the same papers are written again, so that none is learned by heart.
NUMBERS = (
    "{n}. ", "{n}) ", "({n}) ", "{n}、", "{n}．", "{n}: ", "{n} ", "#{n} ", "[{n}] ", "Q{n}. ", "Q {n}: ", "Question {n}\n", "Problem {n}. ",
    "Exercise {n}: ", "Aufgabe {n}\n", "Pregunta {n}.- ", "Vraag {n} ", "Ex. {n} - ", "第{n}题 ", "题{n}：", "{n}题、", "【{n}】", "习题{n} ", "No. {n}\n",
    "{n} - ", "Item {n} | ", "{c}、", "({c}) ", "{n}/ ", "T{n} ", "",
)  # fmt: skip
OPTIONS = (
    "A. ",
    "A) ",
    "(A) ",
    "A、",
    "a) ",
    "a. ",
    "[A] ",
    "A: ",
    "A - ",
    "A ",
    "（A）",
    "○ ",
    "• ",
    "- ",
    "1) ",
    "i) ",
    "",
)
# So many other dresses of every paper.
DRESSES = 3
_CHINESE = "一二三四五六七八九十"


@dataclass
class Lesson:
    """A paper to learn from: its features, and the tags by its reading.

    `dresses` are the same in other forms.
    """

    path: Path
    source: str
    features: list[list[str]]
    tags: list[str]
    is_good: bool
    truth: dict[str, Any] | None = field(default=None, repr=False)
    dresses: list[tuple[list[list[str]], list[str]]] = field(default_factory=list, repr=False)

    @property
    def part(self) -> int:
        """Which part of the papers it belongs to: papers of one source stay together."""
        return int(hashlib.sha256(self.source.encode()).hexdigest(), 16) % PARTS


def read_lessons(folder: Path) -> Iterator[Lesson]:
    """Every paper of a folder that is lines of text, as it is read now."""
    truths = read_truths(folder) if (folder / "truth").is_dir() else {}
    paths = [folder / name for name in truths] or sorted(folder.rglob("*.*"))
    for path in paths:
        try:
            lines = extract_file(path, read_options(path)).lines
        except (DocumentError, OSError):
            continue
        if lines:
            yield make_lesson(path, lines, truths.get(path.name))


def make_lesson(path: Path, lines: Sequence[Line], truth: dict[str, Any] | None) -> Lesson:
    """The lines of a paper with the tags that its reading gives them."""
    starts = join_lines(lines)[1]
    split = split_lines(lines, starts)
    pieces = prepare_pieces(lines, starts)
    begins = {draft.start for draft in split.drafts}
    # the text of an option begins after its letter, and several may stand on one line
    line_starts = [piece.start for piece in pieces]
    offered = {
        line_starts[max(bisect_right(line_starts, own[0].start) - 1, 0)]
        for draft in split.drafts
        for _, own in draft.option_pieces
        if own and pieces
    }
    spans = sorted((draft.start, draft.end) for draft in split.drafts)
    firsts = [first for first, _ in spans]

    def tell(place: int) -> str:
        if place in begins:
            return START
        if place in split.headings:
            return HEADING
        if place in offered:
            return OPTION
        at = bisect_right(firsts, place) - 1
        return INSIDE if at >= 0 and spans[at][1] > place else OUTSIDE

    is_good = split.checked.score >= LEAST_SCORE and len(split.drafts) >= LEAST_QUESTIONS
    if truth is not None:
        result = read_landed(path)
        found = compare(result["document"], result["questions"], truth)
        is_good = (
            found["stem_count"] >= LEAST_FOUND * found["listed_count"]
            and abs(found["count"] - found["truth_count"]) <= MOST_MISCOUNTED * found["truth_count"]
        )
    source = (truth or {}).get("source") or path.name
    name = str(source.get("repo", path.name) if isinstance(source, dict) else source).split("@")[0].strip()
    tags = [tell(piece.start) for piece in pieces]
    lesson = Lesson(path, name, describe_lines(pieces, lines, starts), tags, is_good and bool(pieces), truth)
    if lesson.is_good:
        looks = [lines[max(bisect_right(starts, piece.start) - 1, 0)] for piece in pieces]
        chance = random.Random(path.name)
        lesson.dresses = [
            dress_again(pieces[:MOST_LINES], looks, tags[:MOST_LINES], chance) for _ in range(DRESSES)
        ]
    return lesson


def dress_again(
    pieces: Sequence[Piece], looks: Sequence[Line], tags: Sequence[str], chance: random.Random
) -> tuple[list[list[str]], list[str]]:
    """The lines of a paper with its questions and options marked in other forms.

    Returns their features, and the tags that go with them.
    """
    number, option = chance.choice(NUMBERS), chance.choice(OPTIONS)
    lines: list[Line] = []
    known: list[str] = []
    letter = 0
    for piece, look, tag in zip(pieces, looks, tags, strict=False):
        text = piece.text
        mark = read_series_mark(0, text)
        end = piece.label.end if piece.label is not None else mark.end if mark is not None else 0
        value = piece.label.value if piece.label is not None else mark.value if mark is not None else 1
        if tag == START and (end or chance.random() < 0.5):
            text = number.format(n=value, c=_CHINESE[(value - 1) % 10]) + text[end:].lstrip()
        letter = 0 if tag == START else letter + (tag == OPTION)
        if tag == OPTION and (found := _OPTION.match(text)) is not None:
            sign = option
            for first in "Aa1":
                sign = sign.replace(first, chr(ord(first) + min(letter - 1, 8)))
            text = sign + text[found.end() :]
        for at, part in enumerate(text.split("\n")):
            lines.append(replace(look, text=part, label_length=0, emphasis=(), cells=()))
            known.append(tag if not at else INSIDE)
    starts = join_lines(lines)[1]
    by_start = dict(zip(starts, known, strict=True))
    again = prepare_pieces(lines, starts)
    told = [
        by_start.get(piece.start) or known[max(bisect_right(starts, piece.start) - 1, 0)] for piece in again
    ]
    return describe_lines(again, lines, starts), told


_OPTION = re.compile(r"\s*[（(\[]?[A-Ha-h]\s?[)）\].．、:：]\s*")


def train(lessons: Sequence[Lesson], path: Path) -> None:
    """Write the tagger that these papers make; the same papers make the same file."""
    from pycrfsuite import Trainer

    trainer = Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(PARAMETERS)
    for lesson in lessons:
        if lesson.is_good:
            trainer.append(lesson.features[:MOST_LINES], lesson.tags[:MOST_LINES])
            for features, tags in lesson.dresses:
                trainer.append(features, tags)
    trainer.train(str(path))


@contextmanager
def use_model(data: bytes | None) -> Iterator[None]:
    """Read with another tagger while the block runs; with None without any."""
    if data is None:
        with patch.multiple(
            "tasks.ingest.splitting",
            tag_lines=lambda pieces, *_: [""] * len(pieces),
            propose_by_tags=lambda *_: [],
            compare_with_tags=lambda *_: 1.0,
        ):
            yield
        return
    opened = open_model(data)
    with patch("tasks.ingest.tagging.tagger.open_model", lambda _=None: opened):
        yield


def measure(lessons: Sequence[Lesson]) -> None:
    """Read each part of the papers with a tagger that saw none of it, and without any."""
    plain: list[dict[str, Any]] = []
    tagged: list[dict[str, Any]] = []
    agreed = taught = told = 0
    with tempfile.TemporaryDirectory() as folder:
        for part in range(PARTS):
            path = Path(folder) / "part.crf"
            train([one for one in lessons if one.part != part], path)
            data = path.read_bytes()
            for lesson in (one for one in lessons if one.part == part):
                own = {place for place, tag in enumerate(lesson.tags) if tag == START}
                opened, _ = open_model(data)
                found = {place for place, tag in enumerate(opened.tag(lesson.features)) if tag == START}
                if lesson.is_good:
                    agreed, taught, told = agreed + len(own & found), taught + len(own), told + len(found)
                if lesson.truth is None:
                    continue
                for rows, model in ((plain, None), (tagged, data)):
                    with use_model(model):
                        result = read_landed(lesson.path)
                    rows.append(compare(result["document"], result["questions"], lesson.truth))
    print(
        f"beginnings of questions in papers of other sources: {agreed / max(told, 1):.1%} of those told are right, "
        f"{agreed / max(taught, 1):.1%} of all are told"
    )
    for name, rows in (("without tags", plain), ("with tags", tagged)):
        if rows:
            print(f"## {name}\n" + "\n".join(render(rows, with_wrong=False).splitlines()[-3:]))


def main(arguments: Sequence[str] = ()) -> None:
    """Measure the tagger on the folders given, or on the shared data.

    With `--fit FILE` the one by all of them is written.
    """
    named = list(arguments)
    target = None
    if "--fit" in named:
        at = named.index("--fit")
        target = Path(named[at + 1])
        del named[at : at + 2]
    folders = [Path(one) for one in named] or [SHARED / name for name in FOLDERS]
    with use_cache():
        lessons = [lesson for folder in folders for lesson in read_lessons(folder)]
        print(f"{len(lessons)} papers, {sum(1 for one in lessons if one.is_good)} of them to learn from")
        if target is not None:
            train(lessons, target)
            print(f"{target}: {target.stat().st_size:,} bytes")
            return
        measure(lessons)


if __name__ == "__main__":
    main(sys.argv[1:])
