from __future__ import annotations

import resource
from pathlib import Path

import pytest
import vl_convert

from tasks.report.frame import write_library
from warehouse.stores import kept_files


def test_the_drawing_library_is_put_together_once_and_again_where_what_was_kept_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def put_together() -> str:
        made.append("the library")
        return made[-1]

    monkeypatch.setattr(kept_files, "_kept_path", lambda name: tmp_path / "packages" / name)
    monkeypatch.setattr(vl_convert, "javascript_bundle", put_together)
    folders = [tmp_path / name for name in ("first", "second", "third")]
    for folder in folders:
        folder.mkdir()
        if folder.name == "third":
            (kept,) = (tmp_path / "packages").iterdir()
            kept.write_bytes(b"")
        write_library(folder)
    whole = {(folder / "vega.js").read_bytes() for folder in folders}
    assert whole == {kept.read_bytes()}
    assert b"the library" in kept.read_bytes()
    assert len(made) == 2


def test_a_library_that_breaks_off_is_not_taken_for_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "_kept_path", lambda name: tmp_path / "packages" / name)
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "the library" * 1000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="large"):
            write_library(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []
