"""Every picture that papers hold, what became of it, and sheets to be judged by eye.

The list does not rest on the readers: the parts that a Word text or a workbook names, the images of a page, and the
ink of a page that lies under no letter. A picture that stands on several pages in one place is listed once.

`python -m tests.benchmarks.ingest_pictures FOLDER... --out FOLDER [--seed N] [--count 150] [--half 0]`

Papers are two halves by the hash of their names, and the second is two parts, 1a and 1b, by the hash of their sources:
what is mended on some is judged on the others. `--like FOLDER` finds the pictures that another run drew.

Pages without letters cannot be listed so: `--seen FILE` has what somebody saw on them, a list of objects with `path`, `page` and
`box`. `--ask FOLDER` has the papers of the drawn pictures read by a second reader as well: what it is asked is put there, and the
replies are awaited (`asked_by_files`); what became of the pictures by both readers is `both/`. OCR is left to these papers then.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import html
import io
import json
import pickle
import random
import re
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from schemas.errors import DocumentError
from tests.benchmarks.asked_by_files import read_by_files
from tests.benchmarks.ingest_accuracy import find_paper, make_document, read_document, read_options
from tests.benchmarks.ingest_cache import Convert, use_cache

_FORMS = (".doc", ".docx", ".pdf", ".xlsx", ".html", ".htm")
_DPI = 72
# In points: what is smaller is a sign, a rule or a letter.
_LEAST_WIDE, _LEAST_TALL = 24, 18
_MOST_OF_PAPER = 8
# What is no picture of a paper by itself, and not drawn.
_ELSEWHERE, _SCANNED = "html, named and not there", "scanned page"
# Shapes, charts and diagrams without a picture of their own: known where a question holds them, and not where they are lost.
_DRAWN_BY_WORD = "drawn by Word"
_BY_EYE = "pdf, seen on a scan"
_PICTURE_NAMES = re.compile(r'(?:r:embed|r:id|r:link)="([^"]+)"')
_DRAWN = re.compile(r"<(?:a:blip|v:imagedata)\b[^>]*>")


@dataclass
class Listed:
    """One picture of a paper: where it is, what is around it, and the questions that hold it."""

    path: str
    kind: str
    page: int = 0
    box: tuple[int, ...] = ()
    original_sha256: str = ""
    around: str = ""
    data: bytes = field(default=b"", repr=False)
    held: list[dict[str, Any]] = field(default_factory=list)
    why: str = ""


def list_pictures(path: Path, convert: Convert) -> list[Listed]:
    """Every picture that a paper holds, in its order."""
    if path.suffix == ".pdf":
        return _list_pages(path)
    if path.suffix == ".doc":
        try:
            return list(_list_parts(path, convert(path.read_bytes(), "doc", "docx", 120.0)))
        except DocumentError:
            return []
    if path.suffix in (".docx", ".xlsx"):
        return list(_list_parts(path, path.read_bytes()))
    text = path.read_bytes().decode("utf-8", "replace")
    return [
        Listed(
            str(path),
            "html" if _is_there(one[0], path.parent) else _ELSEWHERE,
            around=html.unescape(re.sub(r"<[^>]+>", " ", text[max(0, one.start() - 300) : one.end() + 300]))[
                :400
            ],
        )
        for one in re.finditer(r"<img\b[^>]*>", text)
    ]


def _is_there(tag: str, folder: Path) -> bool:
    """Whether a page holds the picture that it names, or the file lies beside it."""
    source = re.search(r"""src\s*=\s*["']?([^"'\s>]+)""", tag)
    return source is not None and (source[1].startswith("data:") or (folder / source[1]).is_file())


def _list_once(listed: Sequence[Listed]) -> list[Listed]:
    """Each picture of Word, a workbook or a page once, however often it is shown."""
    met: set[str] = set()
    kept = []
    for one in listed:
        if one.original_sha256 not in met:
            kept.append(one)
        met.add(one.original_sha256 or " ")
        met.discard(" ")
    return kept


def _list_parts(path: Path, data: bytes) -> Iterator[Listed]:
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        names = set(package.namelist())
        stems = [
            name for name in names if re.fullmatch(r"word/document\d*\.xml|xl/drawings/drawing\d+\.xml", name)
        ]
        for stem in sorted(stems):
            folder, _, name = stem.rpartition("/")
            try:
                rels = package.read(f"{folder}/_rels/{name}.rels").decode("utf-8", "replace")
            except KeyError:
                continue
            targets = {}
            for one in re.findall(r"<Relationship\b[^>]*>", rels):
                found = dict(re.findall(r'(\w+)="([^"]*)"', one))
                targets[found.get("Id", "")] = found.get("Target", "")
            text = package.read(stem).decode("utf-8", "replace")
            for drawn in _DRAWN.finditer(text):
                named = _PICTURE_NAMES.search(drawn[0])
                target = targets.get(named[1], "") if named else ""
                part = str(Path(folder, target)) if not target.startswith("/") else target[1:]
                part = re.sub(r"[^/]+/\.\./", "", part)
                if part not in names:
                    continue
                before = re.sub(
                    r"<[^>]+>",
                    "",
                    text[max(0, drawn.start() - 12_000) : drawn.start()].replace("</w:p>", " / "),
                )[-220:]
                after = re.sub(
                    r"<[^>]+>", "", text[drawn.end() : drawn.end() + 12_000].replace("</w:p>", " / ")
                )[:160]
                data = package.read(part)
                yield Listed(
                    str(path),
                    path.suffix[1:],
                    original_sha256=hashlib.sha256(data).hexdigest(),
                    around=f"{html.unescape(before)} <<<PICTURE>>> {html.unescape(after)}",
                    data=data,
                )


def _list_pages(path: Path) -> list[Listed]:
    import cv2
    import numpy
    import pypdfium2
    import pypdfium2.raw as raw

    listed: list[Listed] = []
    seen: set[tuple[int, ...]] = set()
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return []
    with closing(document):
        for number in range(min(len(document), 60)):
            try:
                page = document[number]
                text = page.get_textpage()
                ink = page.render(scale=_DPI / 72, grayscale=True).to_numpy()
            except pypdfium2.PdfiumError:
                continue
            ink = (ink[:, :, 0] if ink.ndim == 3 else ink) < 225
            tall, wide = ink.shape
            letters = text.count_chars()
            if letters < 8:
                if ink.mean() > 0.002:
                    listed.append(Listed(str(path), _SCANNED, number + 1, (0, 0, 1000, 1000)))
                continue
            width, height = page.get_size()
            across, down = wide / width, tall / height
            bare = ink.copy()
            for place in range(letters):
                left, low, right, top = text.get_charbox(place)
                bare[
                    max(0, int((height - top) * down) - 1) : int((height - low) * down) + 2,
                    max(0, int(left * across) - 1) : int(right * across) + 2,
                ] = False
            boxes: list[tuple[str, tuple[int, int, int, int]]] = []
            for one in page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,), max_depth=6):
                left, low, right, top = one.get_bounds() if hasattr(one, "get_bounds") else one.get_pos()
                boxes.append(
                    (
                        "image",
                        (
                            int(left * across),
                            int((height - top) * down),
                            int(right * across),
                            int((height - low) * down),
                        ),
                    )
                )
            for _, (left, top, right, foot) in boxes:
                bare[max(0, top) : max(0, foot), max(0, left) : max(0, right)] = False
            joined = cv2.dilate(bare.astype(numpy.uint8), numpy.ones((9, 9), numpy.uint8))
            count, labels, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
            for name in range(1, count):
                left, top, w, h, _ = (int(value) for value in stats[name])
                if w < _LEAST_WIDE + 8 or h < _LEAST_TALL + 8 or w * h > 0.6 * wide * tall:
                    continue
                own = bare[top : top + h, left : left + w] & (labels[top : top + h, left : left + w] == name)
                if not _is_slanted(own):
                    continue
                boxes.append(("drawn", (left + 4, top + 4, left + w - 4, top + h - 4)))
            for kind, (left, top, right, foot) in boxes:
                if right - left < _LEAST_WIDE / 2 or foot - top < _LEAST_TALL / 2 or right <= 0 or foot <= 0:
                    continue
                box = (left * 1000 // wide, top * 1000 // tall, right * 1000 // wide, foot * 1000 // tall)
                mark = tuple(edge // 6 for edge in box)
                if mark in seen:
                    continue
                seen.add(mark)
                listed.append(Listed(str(path), f"pdf {kind}", number + 1, box))
    return listed


def _is_slanted(ink: Any) -> bool:
    """Whether some of the ink is neither part of a long level line nor of a long upright one."""
    import cv2
    import numpy

    dots = ink.astype(numpy.uint8)
    level: Any = cv2.morphologyEx(dots, cv2.MORPH_OPEN, numpy.ones((1, 12), numpy.uint8))
    upright: Any = cv2.morphologyEx(dots, cv2.MORPH_OPEN, numpy.ones((12, 1), numpy.uint8))
    ruled: Any = cv2.dilate(level | upright, numpy.ones((3, 3), numpy.uint8))
    rest = dots & ~ruled
    return int(rest.sum()) > 25


def follow(
    listed: list[Listed], result: dict[str, Any], seen: Sequence[tuple[Any, Any]], is_beside: bool = False
) -> None:
    """Write beside each listed picture the questions that hold it, or where it was left.

    `seen` has what the reader found and what of it was kept, by number. `is_beside`: the pictures are those of the
    answer file beside the paper that was read.
    """
    rows = result["pictures"]
    by_hash: dict[str, list[dict[str, Any]]] = {}
    for question in result["questions"]:
        for picture in question["pictures"] or ():
            by_hash.setdefault(picture["sha256"], []).append({**question, "picture": picture})
    for row in rows:
        row["is_met"] = False
    rows_by_hash = {row["sha256"]: row for row in rows}
    for one in listed:
        why, sha256s = _find_fate(one, seen, is_beside)
        one.why = one.why if is_beside and why != "kept" else why
        for sha256 in sha256s:
            row = rows_by_hash.get(sha256)
            if row is not None:
                row["is_met"] = True
                one.held += [{**held, "row": row} for held in by_hash.get(sha256, ())]
    for row in rows:
        if not row["is_met"] and not is_beside:
            listed.append(
                Listed(
                    listed[0].path if listed else result["document"]["document_name"],
                    "pdf, cut by the reader alone" if row["page"] else _DRAWN_BY_WORD,
                    row["page"],
                    tuple(row["box"]),
                    original_sha256="" if row["page"] else row["sha256"],
                    held=[{**held, "row": row} for held in by_hash.get(row["sha256"], ())],
                )
            )


def _find_fate(one: Listed, seen: Sequence[tuple[Any, Any]], is_beside: bool) -> tuple[str, list[str]]:
    """How far a picture came: met by the reader, in a question, kept; and the hashes then."""
    reason, sha256s = "not met by the reader", []
    for extraction, kept in seen:
        for number, found in enumerate(extraction.pictures):
            if bool(found.package) != is_beside:
                continue
            if found.part:
                data = _read_part(found.package or extraction.package, found.part)
                is_same = hashlib.sha256(data).hexdigest() == one.original_sha256
            else:
                is_same = found.page == one.page and bool(found.box) and _overlap(found.box, one.box) > 0.3
            if is_same and number in kept.rows:
                sha256s.append(kept.rows[number]["sha256"])
                reason = "kept"
            elif is_same and not sha256s:
                reason = "furniture, or shows nothing" if number in kept.empty else "in no question"
    return reason, list(dict.fromkeys(sha256s))


@cache
def _read_part(package: bytes, part: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(package)) as opened:
        return opened.read(part) if part in opened.namelist() else b""


def _overlap(one: Sequence[int], other: Sequence[int]) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    tall = min(one[3], other[3]) - max(one[1], other[1])
    if wide <= 0 or tall <= 0:
        return 0.0
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return wide * tall / max(smaller, 1)


def find_half(path: Path) -> str:
    """Which part a paper is of: `0`, `1a` or `1b`."""
    if hashlib.sha256(path.name.encode()).digest()[0] % 2 == 0:
        return "0"
    return "1" + "ab"[hashlib.sha256(_find_source(path).encode()).digest()[0] % 2]


def _find_source(path: Path) -> str:
    """The repository that the list of its set names for a paper, else the name of its folder."""
    for folder in path.parents[:3]:
        names = "|".join(map(re.escape, (path.name, path.relative_to(folder).as_posix())))
        listed = folder / "README.md"
        found = listed.exists() and re.search(
            rf"^\|(?: *dev *\|)? *(?:{names}) *\| *([^ |]+) *@", listed.read_text(), re.M
        )
        if found:
            return found[1]
    return path.parent.name


def draw(listed: Sequence[Listed], seed: int, count: int) -> list[Listed]:
    """So many pictures at random, at most eight of one paper."""
    order = random.Random(seed).sample(list(listed), len(listed))
    met: Counter[str] = Counter()
    drawn: list[Listed] = []
    for one in order:
        met[one.path] += 1
        if met[one.path] <= _MOST_OF_PAPER and len(drawn) < count:
            drawn.append(one)
    return drawn


def find_same(drawn: Sequence[Listed], listed: Sequence[Listed]) -> list[Listed]:
    """The pictures that another run drew, as this run lists them, or as not met."""
    found = []
    for one in drawn:
        same = [
            other
            for other in listed
            if (other.path, other.page, other.original_sha256, other.around)
            == (one.path, one.page, one.original_sha256, one.around)
            and (not one.box or _overlap(other.box, one.box) > 0.5)
        ]
        nearest = max(same, key=lambda other: (other.box == one.box, bool(other.held)), default=None)
        found.append(nearest or replace(one, held=[], why="not met by the reader"))
    return found


@contextmanager
def watch() -> Iterator[tuple[Convert, list[tuple[Any, Any]]]]:
    """What the reader finds of pictures and keeps of them, while the block runs."""
    reading = sys.modules[read_document.__module__]
    seen: list[tuple[Any, Any]] = []
    keep = reading.keep_pictures

    def keep_seen(drafts: Any, extraction: Any, *more: Any) -> Any:
        kept = keep(drafts, extraction, *more)
        seen.append((extraction, kept))
        return kept

    with use_cache() as convert, patch.object(reading, "keep_pictures", keep_seen):
        yield convert, seen


def collect(
    folders: Sequence[Path], half: str, by_eye: Sequence[Mapping[str, Any]] = (), use_ocr: bool = True
) -> tuple[list[Listed], Counter[tuple[str, str]]]:
    """List the pictures of all papers and follow them; the totals are by folder and word.

    `by_eye` are pictures of pages without letters.
    """
    listed: list[Listed] = []
    beside: dict[str, tuple[dict[str, Any], list[tuple[Any, Any]]]] = {}
    totals: Counter[tuple[str, str]] = Counter()
    with watch() as (convert, seen):
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                if path.suffix not in _FORMS:
                    continue
                options = read_options(path)
                key = options["companion"]
                is_own = find_half(path).startswith(half)
                if not is_own and not (key and find_half(Path(key)).startswith(half)):
                    continue
                options |= {"answered": find_paper(path), "use_ocr": use_ocr}
                begin = time.process_time()
                seen.clear()
                result = read_document(path, make_document(path), options)
                spent = time.process_time() - begin
                if key:
                    beside[key] = result, list(seen)
                if not is_own:
                    continue
                own = _list_once(list_pictures(path, convert))
                own += [
                    Listed(str(path), _BY_EYE, one["page"], tuple(one["box"]))
                    for one in by_eye
                    if one["path"] == str(path)
                ]
                follow(own, result, seen)
                listed += own
                count_paper(totals, folder.name, result["questions"], own)
                print(
                    f"{folder.name} {path.name[:50]} {spent:.1f} s listed {len(own)} held {sum(bool(o.held) for o in own)} "
                    f"pictures {len(result['pictures'])}",
                    flush=True,
                )
    for companion, (result, found) in beside.items():
        follow([one for one in listed if one.path == companion], result, found, is_beside=True)
    return listed, totals


def count_paper(
    totals: Counter[tuple[str, str]],
    name: str,
    questions: Sequence[Mapping[str, Any]],
    own: Sequence[Listed],
) -> None:
    """Add up one paper: its questions, those with pictures, those that lack one, its pictures."""
    shown = [
        one
        for one in questions
        if any(p["place"] in ("stem", "option", "material") for p in one["pictures"] or ())
    ]
    totals.update(
        {
            (name, "papers"): 1,
            (name, "questions"): len(questions),
            (name, "needs_figure"): sum("needs_figure" in one["parse_notes"] for one in questions),
            (name, "formula lost"): sum("embedded_formula_lost" in one["parse_notes"] for one in questions),
            (name, "with pictures"): len(shown),
            (name, "complete"): sum("needs_figure" not in one["parse_notes"] for one in shown),
            (name, "listed"): len(own),
            (name, "listed, held"): sum(bool(one.held) for one in own),
        }
    )


def read_again(
    drawn: Sequence[Listed], listed: Sequence[Listed], folder: Path
) -> tuple[list[Listed], list[Listed], Counter[tuple[str, str]]]:
    """The drawn pictures as the rules and as both readers leave them.

    The totals are of their papers alone.
    """
    papers = sorted({find_paper(Path(one.path)) or one.path for one in drawn})
    by_rules: list[Listed] = []
    by_both: list[Listed] = []
    totals: Counter[tuple[str, str]] = Counter()
    with watch() as (_, seen):
        for path, before, after, found in read_by_files(map(Path, papers), folder, seen):
            key = read_options(path)["companion"]
            for way, result, into in (("rules", before, by_rules), ("both", after, by_both)):
                own, beside = (
                    [replace(one, held=[], why="") for one in listed if one.path == name]
                    for name in (str(path), key)
                )
                follow(own, result, found)
                follow(beside, result, found, is_beside=True)
                into += [*own, *beside]
                count_paper(totals, f"asked, {way}", result["questions"], own)
    return find_same(drawn, by_rules), find_same(drawn, by_both), totals


def draw_sheets(drawn: Sequence[Listed], out: Path, each: int = 10) -> None:
    """Write what the question of each picture says; draw what was kept of it, and its page."""
    from PIL import Image, ImageDraw, ImageFont

    (out / "drawn.md").write_text("\n".join(_describe(n, one) for n, one in enumerate(drawn, start=1)))
    wide, tall = 620, 190
    for first in range(0, len(drawn), each):
        sheet = Image.new("RGB", (2 * wide, -(-each // 2) * tall), "white")
        pen = ImageDraw.Draw(sheet)
        for place, one in enumerate(drawn[first : first + each]):
            x, y = place % 2 * wide, place // 2 * tall
            pen.rectangle([x, y, x + wide, y + tall], outline="gray")
            pen.text((x + 3, y + 2), str(first + place + 1), fill="blue", font=ImageFont.load_default(16))
            shown = base64.b64decode(one.held[0]["row"]["data"]) if one.held else one.data
            try:
                image = Image.open(io.BytesIO(shown)).convert("RGB")
                image.thumbnail((200, tall - 26))
                sheet.paste(image, (x + 4, y + 22))
            except OSError:
                pen.text((x + 60, y + 80), "(nothing kept)", fill="gray")
            if one.path.endswith(".pdf") and one.page:
                image = _show_page(one)
                image.thumbnail((wide - 215, tall - 4))
                sheet.paste(image, (x + 212, y + 2))
        sheet.save(out / f"sheet_{first // each:02d}.png")


def _describe(number: int, one: Listed) -> str:
    words = f"#{number} {Path(one.path).name} {one.kind} p{one.page} {one.box} {one.around}"
    if not one.held:
        return f"{words}\n  LEFT OUT: {one.why}\n"
    for held in one.held[:3]:
        picture = held["picture"]
        words += f"\n  q{held['number_label']} {picture['place']} {picture['number']} {held['parse_notes']}"
        for name in ("material", "stem", "answer", "explanation"):
            text = held[name] if isinstance(held[name], str) else " / ".join(held[name] or ())
            at = text.find(f"[picture:{picture['number']}]")
            cut = text[:160] if at < 200 else f"{text[:100]} … {text[at - 90 : at + 60]}"
            words += f"\n  {name}: {cut!r}" if text else ""
        words += f"\n  options: {' | '.join(option['text'][:40] for option in held['options'])}"
    return words + "\n"


def _show_page(one: Listed) -> Any:
    """The part of a page around a picture, with a frame."""
    import pypdfium2
    from PIL import ImageDraw

    with closing(pypdfium2.PdfDocument(one.path)) as document:
        image = document[one.page - 1].render(scale=1.1).to_pil().convert("RGB")
    wide, high = image.size
    left, top, right, foot = (
        edge * side / 1000 for edge, side in zip(one.box, (wide, high, wide, high), strict=True)
    )
    ImageDraw.Draw(image).rectangle([left, top, right, foot], outline="red", width=2)
    return image.crop((0, int(max(0, top - 130)), wide, int(min(high, foot + 110))))


def main() -> None:
    """List, draw, and write the sheets and the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--half", default="", choices=("0", "1", "1a", "1b"), help="the papers of one part")
    parser.add_argument("--like", type=Path, help="the pictures that another run drew, as they became here")
    parser.add_argument("--seen", type=Path, help="pictures that somebody saw on pages without letters")
    parser.add_argument("--ask", type=Path, help="where a second reader is asked and replies")
    parser.add_argument("--again", action="store_true", help="draw from the list of the last run")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    kept = chosen.out / "listed.pickle"
    if chosen.again:
        listed, totals = pickle.loads(kept.read_bytes())
    else:
        by_eye = json.loads(chosen.seen.read_text(encoding="utf-8")) if chosen.seen else []
        listed, totals = collect(chosen.folders, chosen.half, by_eye, use_ocr=not chosen.ask)
        kept.write_bytes(pickle.dumps((listed, totals)))
    for (folder, word), number in sorted(totals.items()):
        print(f"{folder:20} {word:16} {number}")
    for (kind, why), number in sorted(
        Counter((one.kind, "in a question" if one.held else one.why) for one in listed).items()
    ):
        print(f"{kind:28} {why:30} {number}")
    listed = [one for one in listed if one.kind not in (_SCANNED, _ELSEWHERE)]
    drawn = draw(listed, chosen.seed, chosen.count)
    if chosen.like:
        drawn = find_same(pickle.loads((chosen.like / "drawn.pickle").read_bytes()), listed)
    ways = {".": drawn}
    if chosen.ask:
        ways["."], ways["both"], totals = read_again(drawn, listed, chosen.ask)
        for (way, word), number in sorted(totals.items()):
            print(f"{way:20} {word:16} {number}")
    for name, found in ways.items():
        (chosen.out / name).mkdir(exist_ok=True)
        (chosen.out / name / "drawn.pickle").write_bytes(pickle.dumps(found))
        draw_sheets(found, chosen.out / name)


if __name__ == "__main__":
    main()
