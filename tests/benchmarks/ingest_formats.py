"""Papers read as they are, and as another program or another keyboard would hand them over.

No truth is needed: one paper has the same questions in both. Where they differ, one of the two was read wrongly, and a look at the
paper says which. What is no fault: spaces, pictures of formulas, blanks that a page shows as lines of another length.

    python -m tests.benchmarks.ingest_formats FOLDER … [--to FORMAT] [--show PART OF A NAME]

A format is one that LibreOffice writes: Word papers are compared with their `pdf`, `odt`, `rtf`, `html`, `txt` or `doc`, pages and
texts with a `docx`. A `scan` is that PDF printed and scanned, slightly askew, of papers of few pages; alike is then what has nearly the
same letters. Workbooks are compared with a `csv`, or a web page of one `table`, for each sheet. Or it is a dress of `DRESSES`: the
text of a paper is compared with the same text in another encoding, with other digits, with page numbers.

Reported are, by paper, questions in either, those with the same stem, those with the same stem, options and answer, and the
status and number of warnings of each reading.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import multiprocessing
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from tests.benchmarks.ingest_cache import find_cache, use_cache
from tests.benchmarks.ingest_lines import extract_file
from tests.benchmarks.ingest_speed import read_within

# What is compared of a text: its letters and digits, so many.
_COMPARED = 60
_READERS = 2
_WORD, _BOOKS, _LINES = (".doc", ".docx"), (".xls", ".xlsx"), (".txt", ".md")
# What is made of what; the name of LibreOffice's filter where it has several.
SOURCES = {
    **dict.fromkeys(("pdf", "odt", "rtf", "html", "txt", "doc", "scan"), _WORD),
    "docx": (*_LINES, ".html"),
    **dict.fromkeys(("csv", "table"), _BOOKS),
}
# Of a scan: pages at most, the resolution, and how many degrees it is askew at most.
_MOST_PAGES, _DPI, _ASKEW = 6, 200, 0.7
# Of two letters beside each other so many are the same in a stem, or an option, that OCR read.
_NEAR_STEM, _NEAR_OPTION, _SHORT = 0.75, 0.6, 6
_FILTERS = {"txt": "txt:Text (encoded):UTF8"}
_WIDE = {ord("0") + digit: 0xFF10 + digit for digit in range(10)}
_LINES_PER_PAGE = 40


def _add_pages(text: str) -> str:
    lines = text.split("\n")
    pages = [lines[first : first + _LINES_PER_PAGE] for first in range(0, len(lines), _LINES_PER_PAGE)]
    printed = [[*page, f"第 {number} 页 共 {len(pages)} 页"] for number, page in enumerate(pages, start=1)]
    return "\n".join(line for page in printed for line in page)


# The same text as another program saves it, or as somebody else types it.
DRESSES: dict[str, Callable[[str], bytes]] = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "bom": lambda text: text.encode("utf-8-sig"),
    "utf-16": lambda text: text.encode("utf-16"),
    "gb18030": lambda text: text.encode("gb18030"),
    "nbsp": lambda text: text.replace(" ", "\xa0").encode(),
    "wide": lambda text: re.sub(
        r"(?m)^\s*\d{1,3}(?=\s*[.、．)）])", lambda m: m[0].translate(_WIDE), text
    ).encode(),
    "pages": lambda text: _add_pages(text).encode(),
    "titled": lambda text: (
        f"某某大学\n2019—2020学年第二学期期末考试\n姓名：______ 学号：______\n{text}".encode()
    ),
}


def main(arguments: Sequence[str] = ()) -> None:
    """Print papers in the folders, one to a line; with `--show` what differs in those so named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--to", default="pdf", choices=[*SOURCES, *DRESSES], help="the format compared with")
    parser.add_argument("--show", default="", help="part of the name of papers whose differences are printed")
    chosen = parser.parse_args(arguments)
    shown = chosen.show.lower()
    sources = SOURCES.get(chosen.to, (*_WORD, *_LINES))
    papers = sorted(
        path
        for folder in chosen.folders
        for path in folder.rglob("*")
        if path.suffix in sources and shown in path.name.lower()
    )
    alike = total = 0
    with tempfile.TemporaryDirectory(prefix="ingest-formats-") as made:
        pairs = list(make_pairs(papers, chosen.to, Path(made)))
        # A process is given up after some papers: it keeps what it has learned of each.
        with multiprocessing.get_context("fork").Pool(_READERS, maxtasksperchild=8) as pool:
            for (paper, *_), (first, second, said) in zip(pairs, pool.imap(_read_both, pairs), strict=True):
                alike += _compare(
                    paper, first, second, said, is_shown=bool(shown), is_near=chosen.to == "scan"
                )
                total += max(len(first), len(second))
    print(f"{alike} of {total} alike")


Pair = tuple[Path, Path, list[Path]]


def make_pairs(papers: Sequence[Path], wanted: str, folder: Path) -> Iterator[Pair]:
    """Each paper, what is read of it, and the files compared with that, where they can be made."""
    if wanted in SOURCES:
        make = write_scans if wanted == "scan" else write_sheets if SOURCES[wanted] == _BOOKS else convert
        made = make(papers, wanted, folder)
        yield from ((paper, paper, made[paper]) for paper in papers if made[paper])
        return
    texts = convert([paper for paper in papers if paper.suffix in _WORD], "txt", folder)
    for paper, place in zip(papers, count()):
        found = texts.get(paper, [paper])
        if not found:
            continue
        data = found[0].read_bytes()
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            continue
        pair = [folder / f"{name}{place}" / found[0].name for name in ("plain", "dressed")]
        for path, written in zip(pair, (text.encode(), DRESSES[wanted](text)), strict=True):
            path.parent.mkdir()
            path.write_bytes(written)
        yield paper, pair[0], pair[1:]


def convert(papers: Sequence[Path], wanted: str, folder: Path) -> dict[Path, list[Path]]:
    """What LibreOffice makes of papers, none or one file each; kept in the cache."""
    keys = {paper: hashlib.sha256(paper.read_bytes()).hexdigest()[:24] for paper in papers}
    kept = {paper: find_cache() / f"formats-{wanted}-{key}" for paper, key in keys.items()}
    inputs = folder / f"to-{wanted}"
    inputs.mkdir()
    missing = {key: paper for paper, key in keys.items() if not kept[paper].exists()}
    for key, paper in missing.items():
        shutil.copyfile(paper, inputs / f"{key}{paper.suffix}")
    if missing:
        command = ["soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile"]
        command += ["--convert-to", _FILTERS.get(wanted, wanted), "--outdir", str(inputs / "made")]
        given = (str(inputs / f"{key}{paper.suffix}") for key, paper in missing.items())
        subprocess.run([*command, *given], check=True, capture_output=True)
    for key, paper in missing.items():
        kept[paper].mkdir(exist_ok=True)
        made = inputs / "made" / f"{key}.{wanted}"
        if made.exists():
            # A paper keeps its name: it may say what the paper is.
            shutil.move(made, kept[paper] / f"{paper.stem}.{wanted}")
    return {paper: sorted(kept[paper].iterdir()) for paper in papers}


def write_scans(papers: Sequence[Path], wanted: str, folder: Path) -> dict[Path, list[Path]]:
    """The pages that LibreOffice prints, as a scanner sees them; none of a long paper."""
    import numpy
    import pypdfium2
    from PIL import Image, ImageFilter

    written: dict[Path, list[Path]] = {}
    for place, (paper, made) in enumerate(convert(papers, "pdf", folder).items()):
        written[paper] = []
        document = pypdfium2.PdfDocument(made[0]) if made else []
        if not 0 < len(document) <= _MOST_PAGES:
            continue
        chance = numpy.random.default_rng(int(hashlib.sha256(paper.read_bytes()).hexdigest()[:8], 16))
        pages = []
        for page in document:
            sheet = page.render(scale=_DPI / 72).to_pil().convert("L")
            sheet = sheet.rotate(
                chance.uniform(-_ASKEW, _ASKEW), resample=Image.Resampling.BICUBIC, fillcolor=255
            )
            ink = numpy.asarray(sheet.filter(ImageFilter.GaussianBlur(0.6)), dtype=float) * 0.92 + 8
            pages.append(Image.fromarray((ink + chance.normal(0, 5, ink.shape)).clip(0, 255).astype("uint8")))
        path = folder / f"{wanted}{place}" / f"{paper.stem}.pdf"
        path.parent.mkdir()
        pages[0].save(path, save_all=True, append_images=pages[1:], resolution=_DPI, quality=75)
        written[paper] = [path]
    return written


def write_sheets(papers: Sequence[Path], wanted: str, folder: Path) -> dict[Path, list[Path]]:
    """Each sheet of a workbook as a file: values between commas, or a web page of one table."""
    written: dict[Path, list[Path]] = {paper: [] for paper in papers}
    for place, paper in enumerate(papers):
        (own := folder / str(place)).mkdir()
        for number, sheet in enumerate(extract_file(paper, {}).sheets):
            path = own / f"{paper.stem}-{number}.{'csv' if wanted == 'csv' else 'html'}"
            with path.open("w", encoding="utf-8-sig", newline="") as file:
                if wanted == "csv":
                    csv.writer(file).writerows(sheet.rows)
                else:
                    cells = (
                        "".join(f"<td>{escape(cell).replace(chr(10), '<br>')}</td>" for cell in row)
                        for row in sheet.rows
                    )
                    file.write(f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>")
            written[paper].append(path)
    return written


def _compare(
    paper: Path,
    first: Sequence[dict[str, Any]],
    second: Sequence[dict[str, Any]],
    said: Sequence[str],
    *,
    is_shown: bool,
    is_near: bool = False,
) -> int:
    """Print what is alike, and what is not if `is_shown`; how many questions are."""
    if is_near:
        first, second = _write_alike(first, second), second
    stems, whole = {_fold(question["stem"]) for question in second}, set(map(_name, second))
    same = sum(_name(question) in whole for question in first)
    kept = sum(_fold(question["stem"]) in stems for question in first)
    line = (
        f"{paper.name[:50]:50} as it is {len(first):4}  other {len(second):4}  stems {kept:4}  all {same:4}"
    )
    print(line, *said, sep="  ", flush=True)
    for side, own, other in (("as it is", first, second), ("other", second, first)) if is_shown else ():
        known = set(map(_name, other))
        for question in (one for one in own if _name(one) not in known):
            options = [option["text"][:20] for option in question["options"] or ()]
            print(
                f"  {side} {question['number_label']} {question['parse_confidence']} {question['stem'][:200]!r} {options} "
                f"{question['answer']}"
            )
    return same


def _write_alike(
    first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]]
) -> Sequence[dict[str, Any]]:
    """The first questions in the letters of the second ones that they are nearly alike to."""
    written: list[dict[str, Any]] = []
    free = list(second)
    for question in first:
        near = max(free, key=lambda other: _measure_near(question["stem"], other["stem"]), default=None)
        if near is None or _measure_near(question["stem"], near["stem"]) < _NEAR_STEM:
            written.append(question)
            continue
        free.remove(near)
        own, others = question["options"] or [], near["options"] or []
        pairs = zip(own, others, strict=False)
        are_alike = len(own) == len(others) and all(
            len(_fold(one["text"])) < _SHORT or _measure_near(one["text"], other["text"]) >= _NEAR_OPTION
            for one, other in pairs
        )
        said = ["".join(side["answer"] or ()) for side in (question, near)]
        is_answered = said[0] == said[1] or (all(said) and _measure_near(*said) >= _NEAR_STEM)
        written.append(
            {
                **question,
                "stem": near["stem"],
                "options": others if are_alike else own,
                "answer": near["answer"] if is_answered else question["answer"],
            }
        )
    return written


def _measure_near(one: str | None, other: str | None) -> float:
    """The share of pairs of letters that two texts have in common (Dice 1945)."""
    pairs = [Counter(map("".join, pairwise(f" {_fold(text).casefold()}"))) for text in (one, other)]
    count = sum(pair.total() for pair in pairs)
    return 2 * (pairs[0] & pairs[1]).total() / count if count else 1.0


def _read_both(pair: Pair) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
    """The questions of both, and the status and number of warnings of each."""
    _, paper, made = pair
    with use_cache():
        first, *second = (read_within(path) for path in (paper, *made))
    said = [
        f"{found['document']['status']}, {len(found['document']['warnings'])} warnings"
        for found in (first, *second)
    ]
    return first["questions"], [question for found in second for question in found["questions"]], said


def _fold(text: str | None) -> str:
    return re.sub(r"\W+", "", text or "")[:_COMPARED]


def _name(question: dict[str, Any]) -> tuple[object, ...]:
    options = tuple(_fold(option["text"]) for option in question["options"] or ())
    return _fold(question["stem"]), options, tuple(question["answer"] or ())


if __name__ == "__main__":
    main(sys.argv[1:])
