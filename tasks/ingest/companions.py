"""Answer files: the file beside a paper that holds its answers, and what is taken from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.errors import DocumentError
from tasks.ingest.content.key_matching import match_keys
from tasks.ingest.content.key_regions import is_region_heading
from tasks.ingest.content.keys import KeySection, read_region
from tasks.ingest.intake import read_own_file, show_name
from tasks.ingest.layout.key_lines import KeyEntry, read_key_line
from tasks.ingest.layout.pieces import Piece, make_pieces
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.readers.formats import extract, find_reader
from tasks.ingest.readers.sniffing import sniff
from tasks.ingest.splitting import Split


def apply_companion(split: Split, options: Mapping[str, Any]) -> None:
    """Give the answers of a separate answer file to the questions that have none."""
    companion = options.get("companion")
    if not companion or all(draft.answer for draft in split.drafts):
        return
    try:
        keys = read_companion(Path(str(companion)), options)
    except (DocumentError, OSError):
        split.warnings.append(
            f"The answer file {show_name(Path(Path(str(companion)).name))} beside this paper could not be read."
        )
        return
    before = sum(1 for draft in split.drafts if draft.answer)
    unmatched = match_keys(split.drafts, keys, split.language)
    gained = sum(1 for draft in split.drafts if draft.answer) - before
    split.warnings.append(f"{gained} answers were taken from {show_name(Path(Path(str(companion)).name))}.")
    if unmatched:
        count = sum(len(section.entries) for section in unmatched)
        split.warnings.append(
            f"{count} answers of {show_name(Path(Path(str(companion)).name))} match no question."
        )


def read_companion(path: Path, options: Mapping[str, Any]) -> list[KeySection]:
    """Return the answers of a file that holds only answers.

    Raises:
        DocumentError: when it cannot be read.
        OSError: when it is not there, or is a link.
    """
    data = read_own_file(path)
    extraction = extract(data, find_reader(sniff(data, path.name), path.name), options)
    if extraction.sheets:
        lines = [
            Line("  ".join(cell for cell in row if cell.strip()))
            for sheet in extraction.sheets
            for row in sheet.rows
        ]
    else:
        lines = extraction.lines
    _, starts, _ = join_lines(lines)
    pieces = make_pieces(lines, starts)
    first = next((index for index, piece in enumerate(pieces[:8]) if is_region_heading(piece.text)), -1)
    sections = read_region(pieces[first + 1 :])
    listed = _read_list(pieces[first + 1 :])
    # a misprint or an empty entry breaks the run that an answer part must have; here every line can be but an answer
    if len(listed.entries) > sum(len(section.entries) for section in sections):
        return [listed]
    return sections


def _read_list(pieces: Sequence[Piece]) -> KeySection:
    """Read a file of numbered answers line by line, whatever its numbers do."""
    entries: dict[int, KeyEntry] = {}
    last = 0
    for piece in pieces:
        for entry in read_key_line(piece.text):
            entries.setdefault(entry.number, entry)
            last = entry.number
        label = piece.label
        if label is None or label.style not in ("num", "paren", "nump", "bare", "word", "bracket"):
            continue
        # a number that jumps out of the run is a misprint for the next one
        number = label.value if label.value in (last + 1, last + 2) or last else 1
        rest = piece.text[label.end :].strip()
        if rest:
            entries.setdefault(number, KeyEntry(number, rest))
        last = number
    return KeySection(None, None, list(entries.values()))
