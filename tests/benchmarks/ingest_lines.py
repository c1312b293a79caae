"""Lines of papers for benchmarks and their tests: taken from a file, or written, and split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tasks.ingest.readers.extraction import Extraction, Line, join_lines
from tasks.ingest.readers.formats import extract, find_reader
from tasks.ingest.readers.sniffing import sniff
from tasks.ingest.splitting import Split, split_lines

__all__ = ["Extraction", "Line", "extract", "extract_file", "join_lines", "split_lines", "split_texts"]


def extract_file(path: Path, options: dict[str, Any]) -> Extraction:
    """What the reader of a file hands over.

    Raises:
        DocumentError: it cannot be read.
    """
    data = path.read_bytes()
    return extract(data, find_reader(sniff(data, path.name), path.name), options)


def split_texts(texts: list[str]) -> Split:
    """The questions of a paper of these lines."""
    lines = [Line(text) for text in texts]
    return split_lines(lines, join_lines(lines)[1])
