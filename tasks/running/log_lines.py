"""Our own log: one JSON object per line, and never any content.

There is one file a month under `PROCTOR_HOME/logs`.

A line says when, how grave, which part of Proctor, what happened in words of ours, in which process, and in which run of a flow.
The words are ours and carry ids and counts; of a foreign exception only its type is written, for its message may quote what was read.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from schemas.errors import ProctorError
from schemas.settings import is_home, load_settings

FOLDER = "logs"
SUFFIX = ".jsonl"


class RunName(NamedTuple):
    """The run of a flow that a line belongs to."""

    flow_run_id: str
    name: str


_RUN: ContextVar[RunName | None] = ContextVar("run", default=None)
_finders: list[Callable[[], RunName | None]] = []


def add_run_finder(find: Callable[[], RunName | None]) -> None:
    """Let whoever runs flows say which run is under way; the first that knows is believed."""
    if find not in _finders:
        _finders.append(find)


@contextmanager
def running(run: RunName) -> Iterator[None]:
    """Within the block the lines are those of this run."""
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)


def find_run() -> RunName | None:
    """The run of a flow that is under way here; null outside of one."""
    given = _RUN.get()
    if given is not None:
        return given
    return next((run for find in _finders if (run := find()) is not None), None)


def describe_record(record: logging.LogRecord) -> dict[str, Any]:
    """A record as a line says it."""
    run = find_run()
    line: dict[str, Any] = {
        "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "part": record.name,
        "event": record.getMessage(),
        "process_id": record.process,
    }
    if record.exc_info and record.exc_info[0] is not None:
        line["error"] = record.exc_info[0].__name__
    if run is not None:
        line |= {"flow_run_id": run.flow_run_id, "flow_run": run.name}
    return line


def render_text(line: Mapping[str, Any]) -> str:
    """A line as a person reads it."""
    error = f" ({line['error']})" if line.get("error") else ""
    return f"{line['at']} {line['level']:<7} {line['part']}: {line['event']}{error}"


class LogFile(logging.Handler):
    """Writes every record into the file of its month.

    Where there is no home, or its disk is full, nothing is written.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record: the file is opened, appended to and closed.

        This way many processes share the file, and the months separate by themselves.
        """
        try:
            folder = _find_folder()
            if folder is None:
                return
            line = json.dumps(describe_record(record), ensure_ascii=False) + "\n"
            folder.mkdir(mode=0o700, exist_ok=True)
            month = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m")
            descriptor = os.open(folder / f"{month}{SUFFIX}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, line.encode())
            finally:
                os.close(descriptor)
        except (OSError, ProctorError):
            return


class ServerLines(logging.Handler):
    """Writes every record to a server's own output, as text or as JSON."""

    def __init__(self, write: Callable[[str], None], *, as_json: bool) -> None:
        super().__init__()
        self._write = write
        self._as_json = as_json

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        line = describe_record(record)
        self._write(json.dumps(line, ensure_ascii=False) if self._as_json else render_text(line))


def iter_run_lines(home: Path, flow_run_id: str, since: str) -> Iterator[dict[str, Any]]:
    """The lines of a run, oldest first.

    `since` (ISO text) is when the run began; files of months before it are not opened.
    """
    for path in _list_files(home, since[:7]):
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from _pick(file, flow_run_id)


def _pick(lines: Iterable[str], flow_run_id: str) -> Iterator[dict[str, Any]]:
    for text in lines:
        if flow_run_id not in text:
            continue
        try:
            line = json.loads(text)
        except ValueError:  # Half a line: the disk was full
            continue
        if line.get("flow_run_id") == flow_run_id:
            yield line


def _list_files(home: Path, first_month: str) -> list[Path]:
    return sorted(path for path in (home / FOLDER).glob(f"*{SUFFIX}") if path.stem >= first_month)


def _find_folder() -> Path | None:
    home = load_settings().home
    return home / FOLDER if is_home(home) else None
