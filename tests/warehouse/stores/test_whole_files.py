"""A file is there whole or not at all, and belongs to its owner unless it is to be shown."""

from __future__ import annotations

import errno
import gc
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from openpyxl import Workbook

from warehouse.stores import whole_files
from warehouse.stores.whole_files import SHARED, writing_whole, writing_workbook


def test_a_file_has_its_name_only_once_all_of_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with writing_whole(path) as draft:
        draft.write_text("after")
        assert path.read_text() == "before"
    assert (path.read_text(), list(tmp_path.iterdir())) == ("after", [path])


def test_of_what_breaks_off_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), writing_whole(tmp_path / "file") as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "none" / "file", tmp_path / "file" / "file"):
        with pytest.raises(OSError) as refused, writing_whole(path):
            pass
        assert refused.value.filename == str(path)


def test_a_refusal_of_a_disk_that_is_only_read_names_the_file_too(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(tmp_path)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(OSError) as refused, writing_whole(tmp_path / "file"):
            pass
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert (refused.value.errno, refused.value.filename) == (errno.EROFS, str(tmp_path / "file"))


@pytest.mark.parametrize(
    "said",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError("IO error: No space left (os error 28)"),
        RuntimeError(OSError(errno.ENOSPC, "No space left on device")),
    ],
)
def test_a_full_disk_names_the_file_that_it_did_not_take(tmp_path: Path, said: Exception) -> None:
    with pytest.raises(OSError, match="No space left on device") as caught, writing_whole(tmp_path / "a.csv"):
        raise said
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "a.csv"))
    with pytest.raises(RuntimeError, match="something else"), writing_whole(tmp_path / "a.csv"):
        raise RuntimeError("something else")
    assert list(tmp_path.iterdir()) == []


def test_a_workbook_that_its_disk_does_not_take_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    least, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, most))
    try:
        with pytest.raises(OSError) as caught, writing_workbook(tmp_path / "a.xlsx") as file:
            Workbook().save(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (least, most))
    gc.collect()
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(tmp_path / "a.xlsx"))
    assert (told, list(tmp_path.iterdir())) == ([], [])


def test_a_file_has_any_name_that_a_file_may_have(tmp_path: Path) -> None:
    for name in ("n" * 255, "题" * 85):
        with writing_whole(tmp_path / name) as draft:
            draft.write_text("x")
        assert (tmp_path / name).read_text() == "x"


def test_a_file_that_may_replace_none_leaves_the_first_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text in ("first", "second"):
        with writing_whole(path, may_replace=False) as draft:
            draft.write_text(text)
    assert (path.read_text(), list(tmp_path.iterdir())) == ("first", [path])


def test_a_file_is_for_its_owner_alone_unless_it_is_to_be_shown(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        for mode in (0o600, SHARED):
            with writing_whole(tmp_path / f"{mode:o}", mode):
                pass
    finally:
        os.umask(before)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "600": 0o600,
        "666": 0o644,
    }


@pytest.mark.parametrize(
    ("mode", "before", "after"), [(SHARED, 0o600, 0o600), (SHARED, 0o660, 0o660), (0o600, 0o644, 0o600)]
)
def test_a_file_that_is_replaced_keeps_its_mode_and_is_never_shown_to_more(
    mode: int, before: int, after: int, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(before)
    with writing_whole(path, mode) as draft:
        draft.write_text("after")
        # Whoever is killed now leaves it behind.
        assert draft.stat().st_mode & 0o077 & ~after == 0
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("after", after)


def test_a_link_stays_one_and_the_file_that_it_names_is_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "file")
    for text in ("first", "second"):
        with writing_whole(tmp_path / "link") as draft:
            draft.write_text(text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "elsewhere" / "file").read_text() == text


def test_a_link_that_leads_nowhere_ever_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    worked = []
    with pytest.raises(OSError, match="one"), writing_whole(tmp_path / "one"):
        worked.append(1)
    assert (worked, sorted(path.name for path in tmp_path.iterdir())) == ([], ["one", "two"])


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_that_root_replaces_stays_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 12, 34)
    with writing_whole(path, SHARED) as draft:
        draft.write_text("after")
    assert (path.stat().st_uid, path.stat().st_gid) == (12, 34)


@pytest.mark.parametrize("refusal", [errno.EINVAL, errno.EACCES])
def test_a_file_is_written_where_the_folder_cannot_be_flushed_or_not_be_read(
    refusal: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = whole_files.flush_path

    def flush_files(path: Path) -> None:
        if path.is_dir():
            raise OSError(refusal, os.strerror(refusal))
        flush(path)

    monkeypatch.setattr(whole_files, "flush_path", flush_files)
    with writing_whole(tmp_path / "file") as draft:
        draft.write_text("all of it")
    assert (tmp_path / "file").read_text() == "all of it"


def test_drafts_that_killed_processes_left_go_with_the_next_file_of_their_folder(tmp_path: Path) -> None:
    kept = (".other.12345678.draft", ".notes.draft", "mine.abcdef12.draft", ".file.12345678.part")
    for name in (".file.abcdef12.draft", ".first.xlsx.0123abcd.draft", *kept):
        (tmp_path / name).touch()
        # One of them is being written.
        os.utime(tmp_path / name, None if name == kept[0] else (0, 0))
    with writing_whole(tmp_path / "file") as draft:
        draft.write_text("all of it")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((*kept, "file"))
