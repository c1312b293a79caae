"""A small process that has the readers loaded and forks a child for every document.

A fork costs milliseconds where a fresh interpreter costs a second; the child lives under limits of memory,
time and output, and may die (some parsers abort on malformed files) without harm to the batch.

Protocol: one JSON object per line on stdin (`path`, `document`, `options`), one per line on stdout
(`{"ok": …}` or `{"failed": code, "message": …}`). The server ends when stdin closes.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import resource
import select
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MAX_OUTPUT_BYTES = 512 * 1024 * 1024
MAX_EXTRA_SECONDS = 3600
_MORE_TIME = b"+%d\n"


def serve() -> None:
    """Answer requests from stdin until it closes."""
    _preload()
    # what is loaded stays: a collection in a child would write to every page it shares with this process
    gc.collect()
    gc.freeze()
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # nothing that a library prints may fall between the replies
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while True:
        line = requests.readline()
        if not line:
            return
        request = json.loads(line)
        _preload_for(str(request["path"]))
        reply = _run_child(request)
        replies.write(reply + b"\n")
        replies.flush()


# Read once before the first fork: what patterns and tables it fills, no child has to fill again.
_SAMPLE = (
    "期末试卷\n一、单项选择题（每小题2分）\n1. 水的化学式是（ A ）。\nA. H2O  B. CO2\n2、光速约为（ B ）。\nA. 3 m/s  B. 3×10^8 m/s\n二、判断题\n3. 地球是圆的。（√）\n"
    "三、简答题\n4. 简述光合作用。\n答案：略。\nPart I. Multiple Choice\n5. Which is a metal? ( )\na) iron  b) salt\nAnswer: A\nQuestion 6: Explain osmosis.\n参考答案\n1-2 AB\n3.√\n"
)


def _preload() -> None:
    import olefile
    import pypdfium2
    import python_calamine
    from lxml import etree, html

    from tasks.ingest.readers import docx, pdf, plain_text, workbook
    from tasks.ingest.reading import read_document
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


def _preload_for(path: str) -> None:
    """Load what most files of this name need, once: half a second that every child would pay again."""
    if path.lower().endswith((".xlsx", ".xlsm")) and "openpyxl" not in sys.modules:
        import openpyxl.cell.rich_text  # noqa: F401

        gc.freeze()


def _run_child(request: dict[str, Any]) -> bytes:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reader)
            os.setsid()
            status = _work(request, writer)
        except BaseException:
            status = 1
        finally:
            os._exit(status)
    os.close(writer)
    try:
        return _collect(pid, reader, float(request["options"]["time_limit_s"]))
    finally:
        os.close(reader)
        _end_group(pid)


def _work(request: dict[str, Any], writer: int) -> int:
    """Inside the child: set the limits, read the document, write the result to the pipe."""
    from tasks.ingest.reading import read_document

    options = request["options"]
    limit = int(options["memory_limit_mb"]) * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(3000)
    pipe = os.fdopen(writer, "wb")

    def ask_for_time(seconds: float) -> None:
        pipe.write(_MORE_TIME % int(seconds))
        pipe.flush()

    options["ask_for_time"] = ask_for_time
    try:
        result = read_document(Path(request["path"]), request["document"], options, request.get("content"))
        payload = json.dumps({"ok": result}, ensure_ascii=False).encode("utf-8", errors="replace")
    except MemoryError:
        payload = json.dumps(
            {
                "failed": "too_large",
                "message": f"Reading it needs more than {options['memory_limit_mb']} MB of memory.",
            }
        ).encode()
    except (
        Exception
    ) as error:  # a fault of ours or of a parser: the document is reported, the batch continues
        from schemas.errors import UsageError

        if isinstance(error, UsageError):
            payload = json.dumps({"failed": "usage", "message": str(error)}).encode()
        else:
            where = _last_frame(error)
            payload = json.dumps(
                {"failed": "crashed", "message": f"The reader failed with {type(error).__name__} {where}."}
            ).encode()
    with pipe:
        pipe.write(payload)
    return 0


def _last_frame(error: BaseException) -> str:
    """Name the place of a failure without any content of the document."""
    trace = error.__traceback__
    name = "at an unknown place"
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        name = f"in {file.name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return name


def _collect(pid: int, reader: int, time_limit_s: float) -> bytes:
    """Read the child's result; kill it when time or output run out, or when nobody waits for it any more."""
    deadline = time.monotonic() + time_limit_s
    chunks: list[bytes] = []
    size = 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return _fail(
                "timeout", f"Reading it took longer than {time_limit_s:.0f} seconds and was stopped."
            )
        ready, _, _ = select.select([reader, sys.stdin.buffer.fileno()], [], [], left)
        if reader in ready:
            chunk = os.read(reader, 1 << 20)
            if not chunk:
                break
            asked = re.match(rb"\+(\d+)\n", chunk) if not chunks else None
            if asked:
                # a scan: its pages have time of their own
                deadline += min(int(asked.group(1)), MAX_EXTRA_SECONDS)
                chunk = chunk[asked.end() :]
                if not chunk:
                    continue
            size += len(chunk)
            if size > MAX_OUTPUT_BYTES:
                return _fail("too_large", f"It unpacks to more than {MAX_OUTPUT_BYTES} bytes of text.")
            chunks.append(chunk)
        elif ready:
            # a request never comes before the reply to the last one: the caller has gone
            _end_group(pid)
            os._exit(0)
    if chunks:
        return b"".join(chunks)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return _fail(
            "crashed", f"The reader was ended by {name}: the file is malformed or needs too much memory."
        )
    return _fail(
        "crashed", "The reader ended without a result: the file is malformed or needs too much memory."
    )


def _fail(code: str, message: str) -> bytes:
    return json.dumps({"failed": code, "message": message}).encode()


def _end_group(pid: int) -> None:
    """End the child and what it started (LibreOffice); it leads its own process group."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


if __name__ == "__main__":
    serve()
