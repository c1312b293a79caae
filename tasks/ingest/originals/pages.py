"""Pages of originals as pictures, with the stretch that became a question."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.errors import DocumentError
from schemas.settings import Settings
from tasks.ingest.guard import make_environment
from tasks.ingest.originals.original import (
    OFFICE_KINDS,
    Box,
    Original,
    find_archived,
    keep_bytes,
    keep_file,
    name_kind,
)

DRAW_SECONDS = 30.0
CONVERT_SECONDS = 90.0
# Pictures are made again when they are asked for: what is kept of them is a convenience, and bounded.
MOST_KEPT_BYTES = 500 * 1024 * 1024
# Papers are opened one at a time in a process: two conversions beside each other take the memory of both.
_opening = threading.Lock()


@dataclass(frozen=True)
class PageView:
    """What of an original can be shown as pictures.

    Attributes:
        pages: the pages to show, from 1; empty where only text can be shown.
        boxes: the marked blocks by page, in thousandths of it.
        problem: why there is no picture, in a stable word: `needs_libreoffice`, `timeout`, `corrupt`, `encrypted`,
            `too_large`, `crashed`, `deleted`; null where there is one, or the format has no pages.
    """

    pages: tuple[int, ...] = ()
    boxes: Mapping[int, list[Box]] = field(default_factory=dict)
    problem: str | None = None


def find_pages(settings: Settings, original: Original) -> PageView:
    """The pages on which a question stands, and its blocks on them."""
    if original.kind not in ("pdf", "image", *OFFICE_KINDS):
        return PageView()
    place = original.place
    if original.kind == "image":
        return PageView((1,), place.boxes)
    if place.boxes:
        return PageView(tuple(sorted(place.boxes)), place.boxes)
    try:
        boxes = _search(settings, original)
    except DocumentError as error:
        return PageView(problem=error.code)
    if boxes:
        return PageView(tuple(sorted(boxes)), boxes)
    if place.first_page:
        return PageView(tuple(range(place.first_page, place.last_page + 1)))
    return PageView((1,))


# Of a Word paper nobody knows its pages before it is laid out; so many are looked for.
_MOST_LAID_OUT = 40


def list_whole_pages(settings: Settings, original: Original) -> tuple[int, ...]:
    """The pages of a paper that can be drawn, from 1; None where it has none."""
    if original.kind == "image":
        return (1,)
    if original.kind == "pdf":
        return tuple(range(1, (original.page_count or 0) + 1))
    if original.kind not in OFFICE_KINDS:
        return ()
    try:
        count = ask_child(
            {"task": "count", "source": str(find_pages_source(settings, original))}, DRAW_SECONDS
        )
    except DocumentError:
        return ()
    return tuple(range(1, min(int(count["pages"]), _MOST_LAID_OUT) + 1))


def draw_page(settings: Settings, original: Original, page: int) -> bytes:
    """The picture (PNG) of a page, from 1; drawn once and kept, readable by its owner alone.

    Raises:
        DocumentError: the original cannot be shown, or has no such page.
    """
    target = _name_kept(settings, original, f"{page}.png")
    if not target.exists():
        source = find_pages_source(settings, original)
        request = {"task": "draw", "source": str(source), "kind": original.kind, "page": page}
        _make(target, request, DRAW_SECONDS)
        trim_kept(settings.pages_dir, MOST_KEPT_BYTES)
    return target.read_bytes()


def draw_file_page(source: Path, media_type: str, page: int) -> bytes | None:
    """The picture (PNG) of a page, from 1, of a file that is not archived; None without one."""
    kind = name_kind(media_type)
    if kind not in ("pdf", "image"):
        return None
    with tempfile.TemporaryDirectory(prefix="proctor-page-") as folder:
        target = Path(folder) / f"{page}.png"
        request = {"task": "draw", "source": str(source), "kind": kind, "page": page, "target": str(target)}
        try:
            with _opening:
                ask_child(request, DRAW_SECONDS)
        except DocumentError:
            return None
        return target.read_bytes()


def read_picture_size(picture: bytes) -> tuple[int, int]:
    """Width and height of a PNG in pixels."""
    return int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")


def trim_kept(folder: Path, most_bytes: int) -> None:
    """Delete what was drawn longest ago until no more than `most_bytes` are kept."""
    kept = []
    for path in folder.iterdir():
        try:
            state = path.stat()
        except FileNotFoundError:  # another process trims too
            continue
        kept.append((state.st_mtime, state.st_size, path))
    total = sum(size for _, size, _ in kept)
    for _, size, path in sorted(kept):
        if total <= most_bytes:
            return
        path.unlink(missing_ok=True)
        total -= size


def _search(settings: Settings, original: Original) -> dict[int, list[Box]]:
    """The blocks of a stretch that has no place of its own, looked for in the PDF; kept."""
    target = _name_kept(settings, original, f"{original.start}-{original.end}.json")
    if target.exists():
        found = json.loads(target.read_bytes())
    else:
        found = ask_child(
            {
                "task": "find",
                "source": str(find_pages_source(settings, original)),
                "lines": original.text[original.start : original.end].split("\n"),
                "share": original.start / max(len(original.text), 1),
            },
            DRAW_SECONDS,
        )["boxes"]
        keep_bytes(json.dumps(found).encode(), target)
    return {int(page): [(one[0], one[1], one[2], one[3]) for one in boxes] for page, boxes in found.items()}


def find_pages_source(settings: Settings, original: Original) -> Path:
    """The file whose pages are drawn: the original, or the PDF that LibreOffice makes of it."""
    archived = find_archived(settings.archive_dir, original.sha256)
    if archived is None:
        raise DocumentError("deleted", "The original was deleted from the archive.")
    if original.kind not in OFFICE_KINDS:
        return archived
    made = _name_kept(settings, original, "pdf")
    if not made.exists():
        request = {
            "task": "convert",
            "source": str(archived),
            "kind": original.kind,
            "time_limit_s": CONVERT_SECONDS / 2 - 2,
        }
        _make(made, request, CONVERT_SECONDS)
    return made


def _name_kept(settings: Settings, original: Original, ending: str) -> Path:
    folder = settings.pages_dir
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"{original.sha256}.{ending}"


def _make(target: Path, request: dict[str, Any], time_limit_s: float) -> None:
    """Let the child write a file, and put it in its place whole."""
    with _opening:
        if target.exists():  # another thread has made it meanwhile
            return
        with tempfile.TemporaryDirectory(prefix=".draft-", dir=target.parent) as folder:
            draft = Path(folder) / target.name
            ask_child(request | {"target": str(draft)}, time_limit_s)
            keep_file(draft, target)


_COMMAND = (sys.executable, "-m", "tasks.ingest.originals.child")


def ask_child(request: dict[str, Any], time_limit_s: float) -> dict[str, Any]:
    """The reply of a child of its own process group, which ends with it or the time limit."""
    process = subprocess.Popen(
        _COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=make_environment(),
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(json.dumps(request).encode(), timeout=time_limit_s)
    except subprocess.TimeoutExpired:
        raise DocumentError(
            "timeout", f"Showing the original took longer than {time_limit_s:.0f} seconds."
        ) from None
    finally:
        _end_group(process)
    try:
        reply: dict[str, Any] = json.loads(output)
    except json.JSONDecodeError:
        raise DocumentError("crashed", "The original could not be shown: it is malformed.") from None
    if "failed" in reply:
        raise DocumentError(reply["failed"], reply["message"])
    answer: dict[str, Any] = reply["ok"]
    return answer


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the child's group: LibreOffice outlives who started it."""
    import contextlib
    import signal

    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()
