"""A small process that has the readers loaded and forks the children that read documents.

A fork costs milliseconds where a fresh interpreter costs a second; the child (`child.py`) lives under limits of memory,
time and output, and may die (some parsers abort on malformed files) without harm to the batch. The first child loads
and compiles what its documents need, which for a single paper is a part of all; before the second, all is there.

Protocol: one JSON object per line on stdin (`path`, `document`, `options`), one per line on stdout
(`{"ok": …}` or `{"failed": code, "message": …}`). The server ends when stdin closes.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from schemas.patterns import compile_waiting
from tasks.ingest.guard.child import Child, fail
from tasks.ingest.readers.formats import find_foreign_suffix
from tasks.ingest.reading import read_document


def serve() -> None:
    """Answer requests from stdin until it closes."""
    _keep_loaded()
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # nothing that a library prints may fall between the replies
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    child: Child | None = None
    while line := requests.readline():
        request = json.loads(line)
        if _preload_for(str(request["path"])):
            child = _release(child)
        child, reply = _read(child, line, request["options"])
        replies.write(reply + b"\n")
        replies.flush()
        if _READ_BY_OCR in reply:
            _wanted.add("rapidocr")  # what is scanned seldom comes alone, and each has a child of its own
    _release(child)


_READ_BY_OCR = b'rapidocr"'
# What the next children will need, loaded before the first of them is forked.
_wanted: set[str] = set()


def _read(child: Child | None, line: bytes, options: Mapping[str, Any]) -> tuple[Child | None, bytes]:
    """The reply to a request, and the child that the next one may use."""
    limit, time_limit_s = int(options["memory_limit_mb"]), float(options["time_limit_s"])
    if child is not None and child.memory_limit_mb != limit:
        child = _release(child)
    child = child or _fork(limit)
    reply, is_well = child.read(line, time_limit_s)
    if not is_well and child.count > 1 and reply.startswith(_PERHAPS_OF_OTHERS):
        # what earlier documents left in the child may have done it: no document answers for another
        child.end()
        child = _fork(limit)
        reply, is_well = child.read(line, time_limit_s)
    return (child if is_well else _release(child)), reply


_PERHAPS_OF_OTHERS = (fail("crashed", "")[:20], fail("too_large", "")[:22])


_forked = count()


def _fork(memory_limit_mb: int) -> Child:
    if next(_forked):
        _preload()
    while _wanted:
        with suppress(ImportError):
            import_module(_wanted.pop())
            gc.freeze()
    return Child(memory_limit_mb)


def _release(child: Child | None) -> Child | None:
    if child is not None:
        child.end()
    return None


# Read once before the second fork: what patterns and tables it fills, no child has to fill again.
_SAMPLE = (
    "期末试卷\n一、单项选择题（每小题2分）\n1. 水的化学式是（ A ）。\nA. H2O  B. CO2\n2、光速约为（ B ）。\nA. 3 m/s  B. 3×10^8 m/s\n二、判断题\n3. 地球是圆的。（√）\n"
    "三、简答题\n4. 简述光合作用。\n答案：略。\nPart I. Multiple Choice\n5. Which is a metal? ( )\na) iron  b) salt\nAnswer: A\nQuestion 6: Explain osmosis.\n参考答案\n1-2 AB\n3.√\n"
)


@cache
def _preload() -> None:
    """Load and compile all that children may need, so that none of them has to again."""
    import tempfile

    import olefile
    import pypdfium2
    import python_calamine
    from lxml import etree, html

    from tasks.ingest.readers import docx, pdf, plain_text, workbook
    from tasks.ingest.words.columns import find_role
    from tasks.ingest.words.disciplines import find_discipline

    assert all((olefile, pypdfium2, python_calamine, etree, html, docx, pdf, plain_text, workbook))
    find_role("题干")
    find_discipline(["x"])
    document = dict.fromkeys(("document_id", "document_name", "discipline", "sub_discipline", "error"), "")
    with tempfile.NamedTemporaryFile(suffix=".txt") as sample:
        sample.write(_SAMPLE.encode())
        sample.flush()
        read_document(
            Path(sample.name),
            {**document, "source_path": "", "source_kind": "other", "warnings": []},
            {"confidence_threshold": 0.6, "time_limit_s": 60.0, "use_ocr": False},
        )
    compile_waiting()
    _keep_loaded()


def _keep_loaded() -> None:
    """Keep what is loaded from the collector.

    A collection in a child would write to every page that it shares with this process.
    """
    gc.collect()
    gc.freeze()


def _preload_for(path: str) -> bool:
    """Load what most files of this name need, once; whether it was loaded."""
    if path.lower().endswith((".xlsx", ".xlsm")) and "openpyxl" not in sys.modules:
        import openpyxl.cell.rich_text  # noqa: F401

        gc.freeze()
        return True
    # Where the suffix is not ours, what other packages bring is read up here once, not in every child.
    find_foreign_suffix(path)
    return False


if __name__ == "__main__":
    serve()
