from __future__ import annotations

from pathlib import Path

import pytest
import vl_convert

from tasks.report.frame import _write_shared
from warehouse.stores import kept_files


def test_the_drawing_library_is_put_together_once_and_then_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> str:
        raise AssertionError("it is there already")

    monkeypatch.setattr(kept_files, "_kept_path", lambda name: tmp_path / "packages" / name)
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
        _write_shared(folder, (), has_figures=True)
        monkeypatch.setattr(vl_convert, "javascript_bundle", fail)
    first, second = ((folder / "vega.js").read_bytes() for folder in folders)
    assert first == second
    assert b"vega" in first


def test_a_kept_drawing_library_that_is_damaged_is_put_together_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "_kept_path", lambda name: tmp_path / "packages" / name)
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "the library")
    _write_shared(tmp_path, (), has_figures=True)
    whole = (tmp_path / "vega.js").read_bytes()
    kept = next((tmp_path / "packages").iterdir())
    kept.write_bytes(b"")
    (tmp_path / "vega.js").unlink()
    _write_shared(tmp_path, (), has_figures=True)
    assert (tmp_path / "vega.js").read_bytes() == kept.read_bytes() == whole
