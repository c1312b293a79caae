"""Where papers come from: those of one source are divided alike."""

from __future__ import annotations

from pathlib import PurePosixPath


def name_source(source_path: str | None) -> str:
    """The source of a paper: its folder; empty for one that was named by itself."""
    folder = PurePosixPath(str(source_path or "")).parent
    return "" if str(folder) == "." else folder.as_posix()
