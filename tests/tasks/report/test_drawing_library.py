from __future__ import annotations

from pathlib import Path

import pytest
import vl_convert

from tasks.report.frame import _write_shared
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
        _write_shared(folder, (), has_figures=True)
    whole = {(folder / "vega.js").read_bytes() for folder in folders}
    assert whole == {kept.read_bytes()}
    assert b"the library" in kept.read_bytes()
    assert len(made) == 2
