"""The folder of a backup: what is copied into it, and the list of all that went there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from warehouse.backup.files import copy_whole
from warehouse.backup.manifest import NAME, UNFINISHED, ListedFile, list_files
from warehouse.stores.whole_files import DRAFT, flush_path, hash_file

# Copies of papers while an ingest reads them: of no use once it has ended.
_PASSING: Final = ".spool"


class BackupTarget:
    """A folder into which everything is copied as it is.

    What others make there is listed at the end.

    Args:
        folder: of the backup.
        advance: called after each file.
    """

    def __init__(self, folder: Path, advance: Callable[[], None] = lambda: None) -> None:
        self.folder = folder
        self._advance = advance
        self._files: dict[str, ListedFile] = {}

    def add_tree(self, source: Path, name: str) -> None:
        """Copy a folder with all that is in it; passing copies and drafts are left out."""
        self.add_folder(name)
        for path, inner in _walk_tree(source):
            if path.is_dir():
                (self.folder / name / inner).mkdir(mode=0o700, exist_ok=True)
            else:
                self.add_file(path, f"{name}/{inner}")

    def add_folder(self, name: str) -> None:
        """Make a folder, which may stay empty."""
        (self.folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)

    def add_file(self, source: Path, name: str) -> None:
        """Copy a file; one that is gone meanwhile is left out."""
        target = self._make_room(name)
        try:
            self._files[name] = ListedFile(name, *copy_whole(source, target))
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(
                f"{source} cannot be copied to {target} ({error.strerror}). Check the disk."
            ) from None
        self._advance()

    def add_fetched(self, name: str, size: int, fetch: Callable[[Path], None]) -> None:
        """Take in a file of `size` bytes that lies elsewhere.

        `fetch` writes it to the path it is given.
        """
        target = self._make_room(name)
        fetch(target)
        flush_path(target)
        self._files[name] = ListedFile(name, size, hash_file(target))
        self._advance()

    def finish(self) -> tuple[tuple[str, ...], tuple[ListedFile, ...]]:
        """Put what was made in the folder on the disk; answers with all folders and files."""
        for name in list_files(self.folder):
            if name not in self._files and name not in (NAME, UNFINISHED):
                path = self.folder / name
                flush_path(path)
                self._files[name] = ListedFile(name, path.stat().st_size, hash_file(path))
        folders = sorted(
            path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_dir()
        )
        return tuple(folders), tuple(self._files[name] for name in sorted(self._files))

    def _make_room(self, name: str) -> Path:
        target = self.folder / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return target


def _walk_tree(source: Path) -> Iterator[tuple[Path, str]]:
    """Folders and files below a folder with their paths in it, each folder before what it holds."""
    for top, folders, files in os.walk(source):
        folders[:] = sorted(name for name in folders if name != _PASSING)
        kept = sorted(name for name in files if not name.endswith(DRAFT))
        for path in (Path(top, name) for name in (*folders, *kept)):
            yield path, path.relative_to(source).as_posix()
