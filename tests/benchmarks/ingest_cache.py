"""What is slow in reading papers, done once.

LibreOffice's conversions and what OCR saw are kept outside the repository.

Everything behind them (layout of scans, splitting, fields) runs anew each time, in this process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch


def find_cache() -> Path:
    """The folder of the cache: `PROCTOR_TEST_BENCH_CACHE`, or one among temporary files."""
    folder = Path(
        os.environ.get("PROCTOR_TEST_BENCH_CACHE", Path(tempfile.gettempdir()) / "proctor-bench-cache")
    )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _keep(name: str, make: Callable[[], Any]) -> Any:
    path = find_cache() / name
    if path.exists():
        return pickle.loads(path.read_bytes())
    value = make()
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_bytes(pickle.dumps(value))
    draft.replace(path)
    return value


class _Engine:
    """Answers like RapidOCR, from the cache where the same picture was seen before."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._engine: Any = None

    def __call__(self, picture: Any, **options: Any) -> SimpleNamespace:
        from tasks.ingest.readers import ocr

        key = hashlib.sha256(
            picture.tobytes() + repr((picture.shape, options, ocr.ENGINE)).encode()
        ).hexdigest()

        def see() -> SimpleNamespace:
            self._engine = self._engine or self._make()
            found = self._engine(picture, **options)
            return SimpleNamespace(
                # a piece of a page that is read without looking for boxes has none
                boxes=None
                if getattr(found, "boxes", None) is None
                else [list(map(tuple, box)) for box in found.boxes.tolist()],
                txts=None if found.txts is None else list(found.txts),
                scores=None if found.scores is None else [float(score) for score in found.scores],
                word_results=getattr(found, "word_results", None),
            )

        return SimpleNamespace(**vars(_keep(f"ocr-{key}", see)))


# Bytes, kind, the kind that they become, seconds at most → bytes.
Convert = Callable[[bytes, str, str, float], bytes]


@contextmanager
def use_cache() -> Iterator[Convert]:
    """Let the readers take conversions and OCR from the cache while the block runs.

    Gives the conversion itself.
    """
    from tasks.ingest.readers import ocr, office

    convert, make_engine = office.convert_with_libreoffice, ocr._make_engine

    def convert_once(data: bytes, kind: str, target: str, time_limit_s: float) -> bytes:
        key = hashlib.sha256(data).hexdigest()
        made: bytes = _keep(f"office-{key}-{target}", lambda: convert(data, kind, target, time_limit_s))
        return made

    with (
        patch.object(office, "convert_with_libreoffice", convert_once),
        patch.object(ocr, "_make_engine", lambda: _Engine(make_engine)),
    ):
        yield convert_once
