"""How well papers are read with a model as second reader, by replies that are kept.

    python -m tests.benchmarks.ingest_second_readings measure GROUP…
    python -m tests.benchmarks.ingest_second_readings write GROUP FOLDER
    python -m tests.benchmarks.ingest_second_readings take GROUP FOLDER

The papers are the written ones (`written_papers/`). `write` puts what a model is asked of each into FOLDER, as `PAPER.txt`
with its pictures, `PAPER.picture-N.png`; somebody gives them to a model, and `take` keeps its replies (`PAPER.json`) in the record. The kept replies
are those of a large language model of 2026 to papers that it had not seen, one try each, without pictures of pages; the
answers in them point at lines, so they hold hardly anything but numbers. A reply belongs to the lines that were shown: where a
reader shows other ones, the paper is named and left out.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tasks.ingest import IngestOptions, ParsedDocument
from tasks.ingest.second_reader import ShownPaper, choose_reading, is_doubtful, make_messages, make_window
from tests.benchmarks.ingest_accuracy import (
    compare,
    make_document,
    read_document,
    read_options,
    read_truths,
)

GROUPS = Path(__file__).with_name("written_papers")
RECORD = Path(__file__).with_suffix(".json")
_WHOLE = 1_000_000
_NUMBERED_PICTURE = re.compile(r"\[image \d+\]")
Row = dict[str, Any]


@dataclass(frozen=True)
class TwiceRead:
    """One paper as the rules, the model alone, and both together read it (rows of `compare`).

    `is_asked`: without `--assist-all` it would have been put to the model, too.
    """

    rules: Row
    alone: Row
    both: Row
    is_asked: bool

    @property
    def default(self) -> Row:
        """The row of a run without `--assist-all`."""
        return self.both if self.is_asked else self.rules


def read_shown(path: Path, **options: Any) -> tuple[ParsedDocument, str]:
    """A paper as it would be landed, and the hash of its lines as a model is shown them."""
    result = read_document(path, make_document(path), read_options(path) | {"shows_lines": True, **options})
    shown = ShownPaper(**result["shown"]) if "shown" in result else None
    lines = _NUMBERED_PICTURE.sub("[image]", "\n".join(shown.lines if shown else ()))
    digest = hashlib.sha256(lines.encode()).hexdigest()[:16]
    found = ParsedDocument(result["document"], result["text"], result["questions"], path, shown=shown)
    return replace(found, pictures=result["pictures"], refused=tuple(result.get("refused", ()))), digest


def measure(group: str) -> list[TwiceRead]:
    """Every paper of a group whose reply is kept for what it shows today."""
    kept = json.loads(RECORD.read_text(encoding="utf-8"))
    found = []
    for name, truth in read_truths(GROUPS / group).items():
        path = GROUPS / group / name
        reply = kept.get(f"{group}/{name}")
        if reply is None:
            continue
        first, digest = read_shown(path)
        if digest != reply["shown"]:
            print(f"{group}/{name}: other lines are shown than those that were replied to")
            continue
        second, _ = read_shown(path, said=json.dumps(reply["said"]))
        both, _ = choose_reading(first, second, IngestOptions())
        rules, alone, together = (
            compare(one.document, one.questions, truth) for one in (first, second, both)
        )
        found.append(TwiceRead(rules, alone, together, is_doubtful(first)))
    return found


def write(group: str, folder: Path) -> None:
    """What a model is asked of each paper, and the pictures that go along."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in read_truths(GROUPS / group):
        parsed, _ = read_shown(GROUPS / group / name, shows_pictures=True)
        if parsed.shown is None or not parsed.shown.own:
            continue
        messages = make_messages(make_window(parsed.shown, 0, _WHOLE).text)
        asked = "\n\n".join(one["content"] for one in messages)
        (folder / f"{name}.txt").write_text(asked, encoding="utf-8")
        for number, data in parsed.shown.pictures.items():
            (folder / f"{name}.picture-{number}.png").write_bytes(base64.b64decode(data))


def take(group: str, folder: Path) -> int:
    """Keep the replies in a folder; how many."""
    kept = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    taken = 0
    for name in read_truths(GROUPS / group):
        reply = folder / f"{name}.json"
        if reply.exists():
            _, digest = read_shown(GROUPS / group / name)
            kept[f"{group}/{name}"] = {"shown": digest, "said": json.loads(reply.read_text(encoding="utf-8"))}
            taken += 1
    lines = (
        f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(one, ensure_ascii=False)}"
        for key, one in sorted(kept.items())
    )
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return taken


def render(group: str, papers: Sequence[TwiceRead]) -> str:
    """What was right by each way of reading, how sure of it, and what was held."""
    lines = []
    ways = ("rules", "alone", "default", "both")
    for way, name in zip(
        ways, ("rules", "model alone", "model where doubtful", "model for all"), strict=True
    ):
        rows = [getattr(paper, way) for paper in papers]
        right, listed = (sum(row[key] for row in rows) for key in ("right_count", "listed_count"))
        error = sum(abs(row["count"] - row["truth_count"]) for row in rows)
        sure = [is_right for row in rows for confidence, is_right in row["met"] if confidence >= 0.9]
        held = sum(row["status"] == "held" for row in rows)
        lost = sum(row["status"] != "held" and 2 * row["right_count"] < row["listed_count"] for row in rows)
        lines.append(
            f"{group} {name:<22} right {right} of {listed} = {right / max(listed, 1):.1%}; count error {error}; wrong at >= .9 "
            f"{sure.count(False)} of {len(sure)}; held {held}, below half and not held {lost} of {len(rows)} papers"
        )
    lines.append(f"{group} put to the model where doubtful: {sum(paper.is_asked for paper in papers)}")
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> None:
    """Measure groups, or write what is asked and take what is replied."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("deed", choices=("measure", "write", "take"), nargs="?", default="measure")
    parser.add_argument("names", nargs="*", default=["c", "m", "r", "s"])
    chosen = parser.parse_args(arguments)
    if chosen.deed == "measure":
        for group in chosen.names:
            print(render(group, measure(group)))
        return
    if len(chosen.names) != 2:
        parser.error("write and take need a group and a folder.")
    group, folder = chosen.names
    if chosen.deed == "write":
        write(group, Path(folder))
    else:
        print(f"{take(group, Path(folder))} replies taken")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
