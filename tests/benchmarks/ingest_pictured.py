"""How well pictures come to the right question and place, on papers made for it.

    python -m tests.benchmarks.ingest_pictured [v] [w] [--blind] [--all]

The papers lie in `pictured_papers/`. Every picture has a colour that no other of its paper has, so it is known again however
it was cut or written; the truth names it, with the questions and places that it belongs to, or none for furniture. A picture is
right where all of its questions hold it, in their places, and nobody else does; stem and material are one place.

Kept replies of a large model are measured as the second reader beside the rules: of one that saw pages and pictures, with
`--blind` of one that had the text alone. `--all` names what is wrong. Nobody has looked at what is read of *w*: its totals alone
say what to expect of other papers, so `--all` is for *v*.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.ingest import IngestOptions, ParsedDocument
from tasks.ingest.documents import take_data
from tasks.ingest.second_reader import ShownPaper, choose_reading
from tests.benchmarks.ingest_accuracy import fold, make_document, read_document, read_options
from tests.benchmarks.ingest_cache import use_cache

GROUPS = Path(__file__).with_name("pictured_papers")
# A pixel within so much of a colour shows it; a picture that shows less of a colour does not hold it, and one that shows a small part of
# what another shows is a neighbour's edge.
_NEAR, _LEAST, _EDGE = 14, 0.04, 0.3
_MARK = re.compile(r"\[picture:(\d+)\]")
_ANSWERS = {"answer", "explanation"}
_BEGIN, _LEAST_ALIKE = 25, 0.65
_LABELS = {sign: "ABCDEF"[at] for signs in ("イロハニホヘ", "①②③④⑤⑥") for at, sign in enumerate(signs)}
Place = tuple[str, str]


def read(path: Path, **more: Any) -> ParsedDocument:
    """A paper as it would be landed, with its pictures."""
    result = read_document(path, make_document(path), read_options(path) | {"shows_lines": True, **more})
    rows, data = take_data(result["pictures"])
    shown = ShownPaper(**result["shown"]) if "shown" in result else None
    return ParsedDocument(
        result["document"],
        result["text"],
        result["questions"],
        path,
        pictures=rows,
        picture_bytes=data,
        shown=shown,
    )


def measure(group: str, replies: str = "replies") -> dict[str, tuple[Counter[str], list[str]]]:
    """What became of the pictures of a group, and what is wrong: rules, model, both."""
    found: dict[str, tuple[Counter[str], list[str]]] = {}
    folder = GROUPS / group
    with use_cache():
        for file in sorted((folder / "truth").glob("*.json")):
            truth = json.loads(file.read_text(encoding="utf-8"))
            path = folder / truth["file"]
            first = read(path)
            said = (folder / replies / f"{path.name}.json").read_text(encoding="utf-8")
            second = read(path, said=said)
            both, _ = choose_reading(first, second, IngestOptions())
            data = {**first.picture_bytes, **second.picture_bytes}
            for way, one in (("rules", first), ("model", second), ("both", both)):
                counts, wrong = judge(truth, one.questions, data)
                totals, listed = found.setdefault(way, (Counter(), []))
                totals.update(counts)
                listed += [f"{path.name}: {said}" for said in wrong]
    return found


def judge(
    truth: Mapping[str, Any], questions: Sequence[Mapping[str, Any]], data: Mapping[str, bytes]
) -> tuple[Counter[str], list[str]]:
    """What became of each picture of a paper, counted, and what is wrong."""
    pictures = truth["pictures"]
    names = match(truth["questions"], questions)
    shown: dict[str, dict[int, float]] = {}
    met: list[tuple[int, float, Place]] = []
    for at, question in enumerate(questions):
        for place, sha256 in list_places(question):
            if sha256 not in shown:
                shown[sha256] = find_colours(data[sha256], pictures) if sha256 in data else {}
            number = names.get(at, f"?{question['number_label'] or at + 1}")
            met += [(which, area, (number, place)) for which, area in shown[sha256].items()]
    most = {which: max(area for other, area, _ in met if other == which) for which, _, _ in met}
    counts: Counter[str] = Counter(
        {"questions": len(truth["questions"]), "found": len(names), "read": len(questions)}
    )
    wrong = []
    for which, picture in enumerate(pictures):
        own = {(one["question"], _join(one["place"])) for one in picture["owners"]}
        held = {place for other, area, place in met if other == which and area >= _EDGE * most[which]}
        word = _name_fate(own, held)
        counts[word] += 1
        shows_answer = bool(own) and {place for _, place in own} <= _ANSWERS
        counts["answers shown"] += shows_answer and not {place for _, place in held} <= _ANSWERS
        if word not in ("right", "left out"):
            wrong.append(f"{word}: {picture['what']} of {sorted(own)} is held by {sorted(held)}")
    return counts, wrong


def _name_fate(own: set[Place], held: set[Place]) -> str:
    if not own:
        return "taken" if held else "left out"
    if own == held:
        return "right"
    if not held:
        return "lost"
    same = {question for question, _ in own} == {question for question, _ in held}
    return "wrong place" if same else "wrong question"


def _join(place: str) -> str:
    return "stem" if place == "material" else place


def find_colours(data: bytes, pictures: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """Which pictures of the truth a picture shows, by their colours: place → pixels."""
    import numpy
    from PIL import Image

    with Image.open(io.BytesIO(data)) as opened:
        image = opened.convert("RGBA")
    size = image.width * image.height
    image.thumbnail((300, 300), Image.Resampling.NEAREST)
    image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    pixels = numpy.asarray(image).reshape(-1, 1, 3).astype(int)
    away = abs(pixels - numpy.asarray([one["colour"] for one in pictures])[None]).max(axis=2)
    nearest = numpy.where(away.min(axis=1) <= _NEAR, away.argmin(axis=1), -1)
    shares = {which: float((nearest == which).mean()) for which in range(len(pictures))}
    asked = max((share for which, share in shares.items() if pictures[which]["owners"]), default=0.0)
    return {
        which: share * size
        for which, share in shares.items()
        # a watermark behind a question's picture is not taken with it
        if share >= _LEAST and (pictures[which]["owners"] or asked < _LEAST or share >= asked)
    }


def list_places(question: Mapping[str, Any]) -> Iterator[Place]:
    """Place and hash of every picture that a question holds."""
    numbers = {one["number"]: one for one in question["pictures"] or ()}
    texts = [
        ("stem", question["stem"]),
        ("stem", question["material"]),
        ("explanation", question["explanation"]),
    ]
    texts += [("answer", text) for text in question["answer"] or ()]
    for at, option in enumerate(question["options"] or ()):
        label = str(option["label"]).strip(" .．、)）(（").upper()
        label = _LABELS.get(label, label)
        texts.append(
            (f"option {label if re.fullmatch('[A-H]', label) else chr(ord('A') + at)}", option["text"])
        )
    met = set()
    for place, text in texts:
        for mark in _MARK.findall(text or ""):
            if (one := numbers.get(int(mark))) is not None:
                met.add(one["sha256"])
                yield place, one["sha256"]
    for one in numbers.values():
        if one["sha256"] not in met:
            yield _join(one["place"]), one["sha256"]


def match(truths: Sequence[Mapping[str, str]], questions: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """The number of the truth's question by the place of the one that was read."""
    from difflib import SequenceMatcher

    scored = []
    for one in truths:
        begin = fold(one["text"])
        for at, question in enumerate(questions):
            stem = fold(_MARK.sub("", question["stem"] or ""))
            same = re.sub(r"\D", "", str(question["number_label"] or "")) == one["number"]
            alike = (
                1.0
                if begin[:_BEGIN] in stem
                else SequenceMatcher(None, begin, stem[: len(begin) + 4], autojunk=False).ratio()
            )
            if alike >= _LEAST_ALIKE - 0.2 * same:
                scored.append((alike + 0.3 * same, one["number"], at))
    matched: dict[int, str] = {}
    for _, number, at in sorted(scored, key=lambda one: (-one[0], one[2])):
        if at not in matched and number not in matched.values():
            matched[at] = number
    return matched


def render(group: str, way: str, counts: Counter[str]) -> str:
    """One line on what became of the pictures of a group."""
    belong = sum(counts[word] for word in ("right", "wrong question", "wrong place", "lost"))
    furniture = counts["taken"] + counts["left out"]
    return (
        f"{group} {way:<6} right {counts['right']} of {belong} = {counts['right'] / max(belong, 1):.1%}; wrong question "
        f"{counts['wrong question']}, wrong place {counts['wrong place']}, lost {counts['lost']}; furniture taken {counts['taken']} of "
        f"{furniture}; answers shown {counts['answers shown']}; questions found {counts['found']} of {counts['questions']}"
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Measure groups and print what became of their pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", default=["v", "w"])
    parser.add_argument("--blind", action="store_true", help="replies of a model that had the text alone (w)")
    parser.add_argument("--all", action="store_true", help="name what is wrong")
    chosen = parser.parse_args(arguments)
    for group in chosen.groups:
        for way, (counts, wrong) in measure(group, "replies_blind" if chosen.blind else "replies").items():
            print(render(group, way, counts))
            if chosen.all:
                print("\n".join(f"  {one}" for one in wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
