"""Vectors of texts already encoded, in one SQLite file.

They are found again by a hash, so that no text is encoded twice.

The file holds hashes and vectors only, never a text.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.errors import StoreError

_SCHEMA = """
create table if not exists embeddings (
    key blob primary key, -- sha256 of the encoder's identity and the text
    windows integer not null,
    vector blob not null -- float32, little endian, length 1
) without rowid
"""
_LOOKUP_SIZE = 500


class Embedding(NamedTuple):
    """One text's vector."""

    vector: npt.NDArray[np.float32]
    """Length 1; as long as the model's dimension, or that times `windows` when windows are concatenated."""

    windows: int
    """How many windows the text was encoded in."""


class EmbeddingCache:
    """Embeddings by key, in the SQLite file at `path`.

    When `path` is None, they are in a temporary file of the cache's own.

    Several processes may share a file. Raises StoreError when the file is not such a cache.
    """

    def __init__(self, path: Path | None = None) -> None:
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite's nameless database: private, on disk once it outgrows its pages, gone when it is closed
            self._database = sqlite3.connect(path if path is not None else "", timeout=60)
            self._database.execute("pragma journal_mode = wal")
            # The last vectors may be lost with the power, which costs one more encoding; the file stays whole.
            self._database.execute("pragma synchronous = normal")
            self._database.execute(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{path.name if path else 'The temporary file'} cannot be used as an embedding cache ({error})."
                " Name another file, or delete this one."
            ) from error

    def read(self, keys: Iterable[bytes]) -> dict[bytes, Embedding]:
        """Return the embeddings that are known among `keys`."""
        rows = self._select("key, windows, vector", keys)
        return {key: Embedding(np.frombuffer(vector, dtype="<f4"), windows) for key, windows, vector in rows}

    def read_known(self, keys: Iterable[bytes]) -> set[bytes]:
        """Return which of `keys` are known, without reading their vectors."""
        return {key for (key,) in self._select("key", keys)}

    def _select(self, columns: str, keys: Iterable[bytes]) -> Iterator[tuple[Any, ...]]:
        wanted = list(dict.fromkeys(keys))
        for start in range(0, len(wanted), _LOOKUP_SIZE):
            part = wanted[start : start + _LOOKUP_SIZE]
            marks = ",".join("?" * len(part))
            yield from self._database.execute(
                f"select {columns} from embeddings where key in ({marks})", part
            )

    def write(self, embeddings: dict[bytes, Embedding]) -> None:
        """Keep the embeddings."""
        with self._database:
            self._database.executemany(
                "insert or ignore into embeddings values (?, ?, ?)",
                [
                    (key, found.windows, found.vector.astype("<f4").tobytes())
                    for key, found in embeddings.items()
                ],
            )

    def close(self) -> None:
        """Close the file; the cache is not usable afterwards."""
        self._database.close()


def compute_embedding_key(identity: str, text: str) -> bytes:
    """Return the key of a text under an encoder's identity (model, window, pooling, precision)."""
    digest = hashlib.sha256(identity.encode())
    digest.update(b"\0")
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()
