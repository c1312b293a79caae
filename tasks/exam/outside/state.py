"""What a candidate's own client keeps of a sitting in a folder.

It keeps the lease secret, every answer before it is sent, and every receipt. The folder is for its owner only. Whatever dies
and when, the next start continues: an answer that stands here is never asked of the model again, and one that was
acknowledged is never sent twice as new.
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from filelock import FileLock, Timeout

from schemas.errors import UsageError
from warehouse.stores.secrets import create_secret_file
from warehouse.stores.whole_files import flush_path

_FORM: Final = 1


class SittingState:
    """The folder of one sitting; a context manager that keeps other processes out.

    Args:
        folder: where it lies; made when it is not there.
        url: address of the exam API.
        session_id: the session. A folder of another session or address is refused (UsageError).
    """

    def __init__(self, folder: Path, url: str, session_id: str) -> None:
        self.folder = folder
        self.lease_secret = ""
        self._url = url.rstrip("/")
        self._session_id = session_id
        self._answers: dict[int, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        self._lock = FileLock(self.folder / "lock", timeout=0, mode=0o600)
        try:
            self._lock.acquire()
        except Timeout:
            raise UsageError(
                f"Another process sits this session with the state in {self.folder}. Wait for it, or name another folder."
            ) from None
        try:
            self.lease_secret = self._read_secret()
            self._answers = {row["seq"]: row for row in _read_lines(self.folder / "answers.jsonl")}
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def find_answer(self, seq: int) -> dict[str, Any] | None:
        """The answer that was kept for a position; null when there is none."""
        return self._answers.get(seq)

    def keep_answer(self, seq: int, answer: dict[str, Any]) -> None:
        """Keep an answer, on disk before this returns."""
        row = {"seq": seq, **answer}
        _append_line(self.folder / "answers.jsonl", row)
        self._answers[seq] = row

    def keep_receipt(self, receipt: dict[str, Any]) -> None:
        """Keep a receipt, on disk before this returns."""
        _append_line(self.folder / "receipts.jsonl", {"session_id": self._session_id, **receipt})

    def _read_secret(self) -> str:
        path = self.folder / "state.json"
        if not path.exists():
            state = {
                "form": _FORM,
                "url": self._url,
                "session_id": self._session_id,
                "lease_secret": secrets.token_urlsafe(32),
            }
            create_secret_file(path, json.dumps(state, indent=2))
            flush_path(self.folder)
        try:
            state = json.loads(path.read_bytes())
            known = (state["form"], state["url"], state["session_id"])
            secret = str(state["lease_secret"])
        except (ValueError, KeyError, TypeError):
            raise UsageError(
                f"{path} is not the state of a sitting. Move the folder away; the session can be opened again when its lease ends."
            ) from None
        if known != (_FORM, self._url, self._session_id):
            raise UsageError(
                f"{self.folder} holds the sitting of session {state['session_id']!r} at {state['url']}. Name another folder "
                "with --state."
            )
        return secret


def _append_line(path: Path, row: dict[str, Any]) -> None:
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "rb+") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
        # What a kill left half-written is closed by a line end, and is no line that can be read.
        text = ("" if not end or file.read(1) == b"\n" else "\n") + json.dumps(row, ensure_ascii=True) + "\n"
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        flush_path(path.parent)


def _read_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # a kill left it half-written: its question is asked again
        if isinstance(row, dict) and isinstance(row.get("seq"), int) and isinstance(row.get("response"), str):
            rows.append(row)
    return rows
