"""A child process that reads documents under limits of memory, time and output.

It reads one after the other while nothing is wrong.

A fork, the pages that it touches for the first time and its end cost more than most papers do, so a child is kept for
`MOST_DOCUMENTS`. It is not used again after anything but a plain, quick result: a failure, a document that took long,
started another program (LibreOffice, OCR) or left much memory behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

MAX_OUTPUT_BYTES = 512 * 1024 * 1024
MAX_EXTRA_SECONDS = 3600
MOST_DOCUMENTS = 50
# What a child may keep of earlier documents and still be used: a fraction of what each may use itself.
MOST_GROWTH_BYTES = 100 * 1024 * 1024
LONG_SECONDS = 2.0
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Between child and server: `+7\n` asks for seven more seconds; `=120 1\n` comes before a result of 120 bytes, and 1 says
# that the child can be used again.
_MORE_TIME = b"+%d\n"
_RESULT = b"=%d %d\n"


class Child:
    """One forked child as its server sees it. `memory_limit_mb` holds for all that it reads."""

    def __init__(self, memory_limit_mb: int) -> None:
        self.memory_limit_mb = memory_limit_mb
        self.count = 0
        requests, self._to_child = os.pipe()
        self._from_child, results = os.pipe()
        server = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._to_child)
                os.close(self._from_child)
                os.setsid()
                _die_with(server)
                _serve_documents(requests, results, memory_limit_mb)
            finally:
                os._exit(1)
        os.close(requests)
        os.close(results)

    def read(self, line: bytes, time_limit_s: float) -> tuple[bytes, bool]:
        """Hand on one request; the reply, and whether the child can be used again."""
        self.count += 1
        try:
            _write_all(self._to_child, line)
        except BrokenPipeError:
            return self._explain_death(), False
        return self._collect(time_limit_s)

    def end(self) -> None:
        """End the child and what it started (LibreOffice); it leads its own process group."""
        for pipe in (self._to_child, self._from_child):
            os.close(pipe)
        self._kill()

    def _kill(self) -> None:
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _collect(self, time_limit_s: float) -> tuple[bytes, bool]:
        deadline = time.monotonic() + time_limit_s
        received = bytearray()
        expected: int | None = None
        is_well = False
        while expected is None or len(received) < expected:
            left = deadline - time.monotonic()
            if left <= 0:
                return fail(
                    "timeout", f"Reading it took longer than {time_limit_s:.0f} seconds and was stopped."
                ), False
            ready, _, _ = select.select([self._from_child, sys.stdin.buffer.fileno()], [], [], left)
            if self._from_child not in ready:
                if ready:
                    # a request never comes before the reply to the last one: the caller has gone
                    self._kill()
                    os._exit(0)
                continue
            chunk = os.read(self._from_child, 1 << 20)
            if not chunk:
                return self._explain_death(), False
            received += chunk
            while expected is None and (end := received.find(b"\n")) >= 0:
                head = bytes(received[:end])
                del received[: end + 1]
                if head.startswith(b"+"):
                    # a scan: its pages have time of their own
                    deadline += min(int(head[1:]), MAX_EXTRA_SECONDS)
                else:
                    length, well = head[1:].split(b" ")
                    expected, is_well = int(length), well == b"1"
                    if expected > MAX_OUTPUT_BYTES:
                        return fail(
                            "too_large", f"It unpacks to more than {MAX_OUTPUT_BYTES} bytes of text."
                        ), False
        return bytes(received), is_well and self.count < MOST_DOCUMENTS

    def _explain_death(self) -> bytes:
        with contextlib.suppress(ChildProcessError):
            _, status = os.waitpid(self._pid, 0)
            if os.WIFSIGNALED(status):
                name = signal.Signals(os.WTERMSIG(status)).name
                return fail(
                    "crashed",
                    f"The reader was ended by {name}: the file is malformed or needs too much memory.",
                )
        return fail(
            "crashed", "The reader ended without a result: the file is malformed or needs too much memory."
        )


def fail(code: str, message: str) -> bytes:
    """A reply that says why a document could not be read."""
    return json.dumps({"failed": code, "message": message}).encode()


def _write_all(pipe: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(pipe, left) :]


# Inside the child

_PR_SET_PDEATHSIG = 1


def _die_with(server: int) -> None:
    """End with the server: nobody else would stop a reader that does not come to an end."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)  # it has ended already


def _serve_documents(requests: int, results: int, memory_limit_mb: int) -> None:
    """Set the limits, then read documents until the server closes the pipe."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    limit = memory_limit_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(3000)
    before = _read_memory()
    with os.fdopen(requests, "rb") as lines:
        for line in lines:
            started = time.monotonic()
            payload, is_well = _read_one(json.loads(line), results)
            is_well = (
                is_well
                and time.monotonic() - started < LONG_SECONDS
                and resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss == 0
                and _read_memory() - before < MOST_GROWTH_BYTES
            )
            _write_all(results, _RESULT % (len(payload), is_well))
            _write_all(results, payload)


def _read_memory() -> int:
    """Bytes of memory that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


def _read_one(request: dict[str, Any], results: int) -> tuple[bytes, bool]:
    """The reply to one request, and whether it went as it should."""
    from tasks.ingest.reading import read_document

    options = request["options"]
    asked: list[float] = []

    def ask_for_time(seconds: float) -> None:
        asked.append(seconds)
        _write_all(results, _MORE_TIME % int(seconds))

    options["ask_for_time"] = ask_for_time
    try:
        result = read_document(Path(request["path"]), request["document"], options, request.get("content"))
        payload = json.dumps({"ok": result}, ensure_ascii=False).encode("utf-8", errors="replace")
        return payload, not asked
    except MemoryError:
        return fail(
            "too_large", f"Reading it needs more than {options['memory_limit_mb']} MB of memory."
        ), False
    except (
        Exception
    ) as error:  # a fault of ours or of a parser: the document is reported, the batch continues
        from schemas.errors import UsageError

        if isinstance(error, UsageError):
            return fail("usage", str(error)), False
        where = _last_frame(error)
        return fail("crashed", f"The reader failed with {type(error).__name__} {where}."), False


def _last_frame(error: BaseException) -> str:
    """Name the place of a failure without any content of the document."""
    trace = error.__traceback__
    name = "at an unknown place"
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        name = f"in {file.name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return name
