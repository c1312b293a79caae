"""How well papers are read of which the project may hold no sentence: truth as hashes.

    python -m tests.benchmarks.ingest_truth write TRUTH PAPERS --group NAME
    python -m tests.benchmarks.ingest_truth measure PAPERS [--group NAME] [--name PART]
    python -m tests.benchmarks.ingest_truth check FOLDER…

`write` takes truth files that a person wrote (`TRUTH/<paper>.json`, as beside the papers of the sets with truth) and adds
their hashes to `ingest_truth.json`. `measure` reads the papers of a folder and compares them with the hashes; wrong questions
are named by their numbers. `check` compares papers that have truth files by texts and by hashes, and names the questions
of which the two differ.

A paper is known by its bytes. Every hash is keyed by the hash of those bytes, which stands nowhere: who has not the paper
can neither read nor try anything. To be compared, a truth is opened with what was read: each hash becomes the text of the
reading that has it, or a text that nothing has, and then the same comparison runs as with truth files.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.ingest.confidence import FREE, FREE_TYPES, compare_question, list_truths, read_truths
from tests.benchmarks.ingest_accuracy import compare, fold, read_paper, render
from tests.benchmarks.ingest_cache import use_cache
from tests.benchmarks.ingest_changes import list_papers

RECORD = Path(__file__).with_suffix(".json")
# A stem is also kept in pieces, so that one that OCR read a little otherwise is known again.
_PIECE = 3
# As many characters at both ends of a stem tell which question was meant, however wrongly it was read.
_END = 24
# A letter that no paper has: what was not read is made of it.
_UNREAD = "\U00010380"

Truth = dict[str, Any]
Question = Mapping[str, Any]


class Sealer:
    """Hashes that only who has the paper can make."""

    def __init__(self, paper: bytes) -> None:
        self._key = hashlib.sha256(paper).digest()
        self.paper_id = hashlib.sha256(self._key).hexdigest()[:16]

    def hash(self, text: str, digits: int = 16) -> str:
        """The keyed hash of a text, as `digits` hexadecimal digits."""
        return hmac.digest(self._key, text.encode(), "sha256").hex()[:digits]

    def seal(self, text: str) -> list[Any]:
        """Length and hash of a text after folding."""
        folded = fold(text)
        return [len(folded), self.hash(folded)]

    def seal_stem(self, stem: str) -> dict[str, Any]:
        """A stem as a whole, its two ends and its pieces."""
        folded = fold(stem)
        pieces = [folded[at : at + _PIECE] for at in range(0, len(folded), _PIECE)]
        return {
            "whole": self.seal(stem),
            "ends": [self.seal(folded[:_END]), self.seal(folded[-_END:])],
            "pieces": "".join(self.hash(piece, 4) for piece in pieces),
            "is_begin": stem.rstrip().endswith("…"),
        }


def seal_truth(truth: Truth, sealer: Sealer) -> Truth:
    """A truth file without any text of its paper, and without its `ambiguous` questions."""
    listed = [one for one in list_truths(truth) if not one.get("ambiguous")]
    return {
        "is_scan": bool(truth.get("scan")) or "scan" in truth["file"],
        "n_questions": truth["n_questions"],
        "answers_location": "none" if truth["answers_location"] == "none" else "some",
        "first": [_seal_question(one, sealer) for one in listed],
    }


def _seal_question(expected: Question, sealer: Sealer) -> Truth:
    sealed: Truth = {
        "no": str(expected["no"]),
        "type": expected["type"],
        "stem": sealer.seal_stem(expected["stem"]),
    }
    if expected.get("options"):
        sealed["options"] = {label: sealer.seal(text) for label, text in expected["options"].items()}
    if expected.get("sub_parts"):
        sealed["sub_parts"] = True
    if expected.get("sub_answers"):
        # what stands in round brackets describes an answer, and is not compared
        sealed["sub_answers"] = [
            "(" if text.startswith("(") else sealer.seal(text) for text in expected["sub_answers"]
        ]
    answer = expected.get("answer")
    if isinstance(answer, list):
        sealed["answer"] = [sealer.seal(str(text)) for text in answer]
    elif answer is not None:
        text = str(answer)
        begin = text.startswith("starts:")
        # letters of a key are compared as they stand, and kept so that the key alone opens them
        is_key = isinstance(answer, bool) or expected["type"] in (
            "single_choice",
            "multiple_choice",
            "true_false",
        )
        kind = "key" if is_key else "begins" if begin else "holds"
        plain = text.replace(",", "") if is_key else text.removeprefix("starts:")
        sealed["answer"] = {kind: sealer.hash(plain) if is_key else sealer.seal(plain)}
    return sealed


def open_truth(sealed: Truth, questions: Sequence[Question], sealer: Sealer, file: str) -> Truth:
    """The truth with the texts of a reading in the place of their hashes, for `compare`."""
    opener = _Opener(questions, sealer, 0.9 if sealed["is_scan"] else 0.98)
    return {
        **sealed,
        "file": f"{file} (scan)" if sealed["is_scan"] else file,
        "first": [{**one, "section": None, **opener.open(one)} for one in sealed["first"]],
        "last": [],
    }


class _Opener:
    """What was read in a paper, ready to be asked for hashes."""

    def __init__(self, questions: Sequence[Question], sealer: Sealer, likeness: float) -> None:
        self._questions = questions
        self._sealer = sealer
        self._likeness = likeness
        self._stems = [fold(one["stem"]) for one in questions]
        self._long_stems = [fold((one["material"] or "") + one["stem"]) for one in questions]
        self._options = {fold(option["text"]) for one in questions for option in one["options"]}
        self._answers = ["".join(one["answer"]) for one in questions]
        self._folded_answers = [fold(answer) for answer in self._answers]
        self._texts = [
            fold("".join([one["material"] or "", one["stem"], *(each["text"] for each in one["options"])]))
            for one in questions
        ]

    def open(self, sealed: Truth) -> Truth:
        """Stem, options and answer of one question."""
        opened: Truth = {"stem": self._open_stem(sealed["stem"], bool(sealed.get("sub_parts")))}
        if sealed["type"] == FREE:
            opened["type"] = self._open_type(fold(opened["stem"]))
        if sealed.get("options"):
            opened["options"] = {
                label: self._find(one, self._options) for label, one in sealed["options"].items()
            }
        for name in ("answer", "sub_answers"):
            if sealed.get(name):
                opened[name] = self._open_answer(sealed[name])
        return opened

    def _open_stem(self, sealed: Truth, has_parts: bool) -> str:
        length = sealed["whole"][0]
        begins = sealed["is_begin"] or has_parts
        found = [one[:length] for one in self._long_stems] if begins else self._stems
        best = self._find(sealed["whole"], set(found))
        if best == _UNREAD:
            score, best = max(((self._liken(sealed, stem), stem) for stem in found), default=(0.0, ""))
            best = best if score >= self._likeness else _UNREAD
        if best == _UNREAD:
            best = next((part for end in sealed["ends"] for part in self._find_windows(end, self._texts)), "")
            is_first = best and self._sealer.seal(best) == sealed["ends"][0]
            rest = _UNREAD * (2 * length + 9)
            best = best + rest if is_first or not best else rest + best
        return best + "…" if sealed["is_begin"] else best

    def _open_type(self, stem: str) -> str:
        types = (
            one["question_type"]
            for one, text in zip(self._questions, self._long_stems, strict=True)
            if stem in text
        )
        return next((name for name in types if name in FREE_TYPES), "short_answer")

    def _liken(self, sealed: Truth, stem: str) -> float:
        """How like a stem is to the sealed one, 1 for the same."""
        length: int = sealed["whole"][0]
        if not length or abs(len(stem) - length) > 0.2 * length + 2:
            return 0.0
        most = length - self._likeness * (length + len(stem)) / 2
        lost = max(self._count_lost(sealed["pieces"], length, stem, most), length - len(stem))
        return 2 * (length - lost) / (length + len(stem))

    def _count_lost(self, pieces: str, length: int, stem: str, most: float) -> int:
        """How many characters of the sealed stem a stem lacks, told from its pieces.

        A piece alone lacks one character, more in a row all but those at their ends; where the pieces after them stand
        nearer to the beginning, at least as many as they have moved. More than `most` are not counted.
        """
        lost = run = shift = 0
        reach = 6 + abs(len(stem) - length)
        for number in range(len(pieces) // 4):
            place = number * _PIECE
            size = min(_PIECE, length - place)
            expected = place + shift
            met = next(
                (
                    at
                    for at in sorted(
                        range(max(0, expected - reach), min(len(stem), expected + reach + 1)),
                        key=lambda at: abs(at - expected),
                    )
                    if self._sealer.hash(stem[at : at + size], 4) == pieces[4 * number : 4 * number + 4]
                ),
                None,
            )
            if met is None:
                run += 1
                if lost + _count_wrong(run) > most:
                    break
            else:
                lost += max(_count_wrong(run), expected - met)
                run, shift = 0, met - place
        return lost + _count_wrong(run)

    def _open_answer(self, sealed: Any) -> Any:
        if isinstance(sealed, list):
            return [one if one == "(" else self._find_inside(one) for one in sealed]
        ((kind, one),) = sealed.items()
        if kind == "key":
            keys = {*self._answers, "A", "B", "True", "False"}
            key = next((text for text in keys if self._sealer.hash(text) == one), _UNREAD)
            return {"True": True, "False": False}.get(key, key)
        if kind == "begins":
            return "starts:" + self._find(one, {answer[: one[0]] for answer in self._folded_answers})
        return self._find_inside(one)

    def _find(self, sealed: Sequence[Any], texts: set[str]) -> str:
        length, digest = sealed
        same = (text for text in texts if len(text) == length and self._sealer.hash(text) == digest)
        return next(same, _UNREAD)

    def _find_inside(self, sealed: Sequence[Any]) -> str:
        return next(self._find_windows(sealed, self._folded_answers), _UNREAD)

    def _find_windows(self, sealed: Sequence[Any], texts: Sequence[str]) -> Iterator[str]:
        length, digest = sealed
        for text in texts:
            for at in range(len(text) - length + 1):
                if self._sealer.hash(text[at : at + length]) == digest:
                    yield text[at : at + length]


def _count_wrong(pieces: int) -> int:
    """How many characters differ, at least, where so many pieces in a row do."""
    return pieces if pieces < 2 else (pieces - 2) * _PIECE + 2


def measure(folder: Path, group: str = "", name: str = "") -> list[dict[str, Any]]:
    """Read every paper of a folder that the record knows; rows as of `compute_accuracy`."""
    kept = json.loads(RECORD.read_text(encoding="utf-8"))
    rows = []
    with use_cache():
        for path in list_papers(folder):
            sealer = Sealer(path.read_bytes())
            sealed = kept.get(sealer.paper_id)
            if sealed is not None and group in ("", sealed["group"]) and name in path.name:
                document, questions = read_paper(path)
                rows.append(compare(document, questions, open_truth(sealed, questions, sealer, path.name)))
    return rows


def write(truths: Path, papers: Path, group: str) -> str:
    """Add the hashes of a folder of truth files to the record; say how many."""
    kept = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    listed = 0
    files = sorted(truths.glob("**/*.json"))
    for file in files:
        truth = json.loads(file.read_text(encoding="utf-8"))
        paper = papers / truth["file"]
        if not paper.exists():
            sys.exit(f"{file}: its paper {truth['file']} is not in {papers}. Name the folder that has it.")
        sealer = Sealer(paper.read_bytes())
        kept[sealer.paper_id] = {"group": group, **seal_truth(truth, sealer)}
        listed += len(kept[sealer.paper_id]["first"])
    lines = (f'"{key}": {json.dumps(one)}' for key, one in sorted(kept.items()))
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return f"{len(files)} papers, {listed} questions"


def check(folder: Path) -> list[str]:
    """The questions that texts and hashes judge otherwise; the last line counts."""
    differing: list[str] = []
    by_text = by_hash = listed = 0
    with use_cache():
        for file, truth in read_truths(folder).items():
            if not (folder / file).exists():
                continue
            sealer = Sealer((folder / file).read_bytes())
            _, questions = read_paper(folder / file)
            opened = open_truth(seal_truth(truth, sealer), questions, sealer, file)
            for plain, other in zip(list_truths(truth), list_truths(opened), strict=True):
                first = compare_question(plain, questions, truth).parts
                second = compare_question(other, questions, opened).parts
                by_text += all(first.values())
                by_hash += all(second.values())
                listed += 1
                if first != second:
                    differing.append(f"{file} {plain['no']}: {first} by texts, {second} by hashes")
    return [*differing, f"{folder.name}: {by_text} of {listed} right by texts, {by_hash} by hashes"]


def main(arguments: Sequence[str] = ()) -> None:
    """Write hashes, measure papers by them, or check them against truth files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("deed", choices=("write", "measure", "check"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--group", default="")
    parser.add_argument("--name", default="")
    chosen = parser.parse_args(arguments)
    if chosen.deed == "write":
        if len(chosen.folders) != 2:
            parser.error("write takes two folders: that of the truth files and that of the papers")
        truths, papers = chosen.folders
        print(write(truths, papers, chosen.group))
    for folder in chosen.folders if chosen.deed == "measure" else ():
        print(render(measure(folder, chosen.group, chosen.name)))
    for folder in chosen.folders if chosen.deed == "check" else ():
        print("\n".join(check(folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
