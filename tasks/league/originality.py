"""How near a question is to those that exist.

This is measured by the share of its 5-grams that are found there, and by the cosine to the nearest neighbour. A
5-gram is five tokens in a row: a word, a number, or one Chinese character each (League of LLMs, originality).
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schemas import patterns as re
from schemas.errors import UsageError
from schemas.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]

GRAM = 5
TEXT_FIELDS = ("question", "problem", "stem", "prompt", "text", "题目", "问题")

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_]+", re.UNICODE)


@dataclass(frozen=True)
class Nearness:
    """What a text came to against one collection.

    Attributes:
        neighbour: the entry that shares most, or is most similar; null where nothing is shared.
        ngram_overlap: share of the text's 5-grams found anywhere in the collection; 0 for a text shorter than that.
        similarity: cosine of the most similar entry; null without an embedding model, or for an empty collection.
    """

    compared_with: str
    neighbour: str | None
    ngram_overlap: float
    similarity: float | None = None


class Collection:
    """Texts that questions are compared with; more can be added.

    Args:
        name: how it is named in the table.
        encode: texts → unit vectors, one row each; null to leave similarity out.
    """

    def __init__(self, name: str, encode: Encode | None = None) -> None:
        self.name = name
        self._encode = encode
        self._entries: list[str] = []
        self._places: dict[int, array[int]] = {}
        self._vectors: list[NDArray[np.float32]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entries: Iterable[tuple[str, str]]) -> None:
        """Add (id, text) pairs."""
        texts: list[str] = []
        for entry, text in entries:
            place = len(self._entries)
            self._entries.append(entry)
            texts.append(text)
            for gram in compute_grams(text):
                self._places.setdefault(gram, array("q")).append(place)
        if self._encode is not None and texts:
            self._vectors.append(self._encode(texts))

    def compare(self, text: str) -> Nearness:
        """How near a text is."""
        grams = compute_grams(text)
        found = [self._places[gram] for gram in grams if gram in self._places]
        shared = Counter(place for places in found for place in places)
        nearest = min(shared, key=lambda place: (-shared[place], place)) if shared else None
        similarity: float | None = None
        if self._encode is not None and self._vectors:
            if len(self._vectors) > 1:
                self._vectors = [np.concatenate(self._vectors)]
            cosines = self._vectors[0] @ self._encode([text])[0]
            most_similar = int(np.argmax(cosines))
            similarity = float(cosines[most_similar])
            nearest = most_similar if nearest is None else nearest
        return Nearness(
            self.name,
            None if nearest is None else self._entries[nearest],
            len(found) / len(grams) if grams else 0.0,
            similarity,
        )


def compute_grams(text: str) -> set[int]:
    """The distinct 5-grams of a text, as numbers; case and punctuation do not count."""
    tokens = _TOKEN.findall(text.casefold())
    return {
        int.from_bytes(
            hashlib.blake2b("\x1f".join(tokens[start : start + GRAM]).encode(), digest_size=7).digest(), "big"
        )
        for start in range(len(tokens) - GRAM + 1)
    }


def read_benchmark(path: Path) -> list[tuple[str, str]]:
    """(line, question) of JSON lines, CSV, TSV or plain text; UsageError naming file and line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError(
            f"The file {path} to compare questions with does not exist. Correct the path."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read as UTF-8 text ({type(error).__name__}). Convert it."
        ) from None
    suffix = path.suffix.casefold()
    if suffix == ".jsonl":
        entries = [
            _read_json_line(path, number, line)
            # Lines end with a line feed only: JSON leaves other separators (U+2028) as they are within a text.
            for number, line in enumerate(text.split("\n"), 1)
            if line.strip()
        ]
    elif suffix in (".csv", ".tsv"):
        entries = _read_table(path, text, "\t" if suffix == ".tsv" else ",")
    else:
        entries = [(str(number), line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not entries:
        raise UsageError(f"{path} holds no question. Give a file with at least one, or leave it out.")
    return entries


def _read_json_line(path: Path, number: int, line: str) -> tuple[str, str]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{path}, line {number}, is not JSON. Correct the line.") from None
    for name in TEXT_FIELDS:
        if isinstance(value, dict) and isinstance(value.get(name), str):
            return str(number), value[name]
    raise UsageError(f"{path}, line {number}: no field holds the question. Name it {', '.join(TEXT_FIELDS)}.")


def _read_table(path: Path, text: str, delimiter: str) -> list[tuple[str, str]]:
    # Strict: a quote that is never closed would make one question of all the rows after it.
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        name = next((name for name in TEXT_FIELDS if name in (reader.fieldnames or ())), None)
        if name is None:
            raise UsageError(f"{path}: no column holds the question. Name it {', '.join(TEXT_FIELDS)}.")
        return [(str(number), row[name]) for number, row in enumerate(reader, start=2) if row[name]]
    except csv.Error as error:
        raise UsageError(
            f"{path} cannot be read after line {reader.line_num} ({error}). Close its quoted cells."
        ) from None
