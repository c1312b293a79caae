"""What was found in files that were read whole, kept by the hash of their bytes.

Files of the lake never change, so whoever looks at all rows again need only hash their bytes, which is a hundred times cheaper. What is
kept lies in the home, as `doctor/looked`; where it is missing or cannot be read, everything is read.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from warehouse.lake.attach import is_remote
from warehouse.lake.reading.parts import PartFile, TablePart, read_part_files
from warehouse.stores.whole_files import writing_whole

if TYPE_CHECKING:
    import polars as pl

    from warehouse.lake.store import Lake

_FILE: Final = ("doctor", "looked")
# Raised with what is kept of a part or a check: what an earlier version kept is then not known.
_FORM: Final = 3
_PIECE: Final = 1 << 20
_BYTES: Final = "bytes"


# The file in which a row lies, by its name.
FILE_OF_ROW: Final = "parse_filename(filename)"
# The hash of a unit's rows in a part, null where none was wanted, and how many they are.
FoundUnit = tuple[str | None, int]


class Looked:
    """What was found in the parts of a lake before, and what is found now.

    Args:
        lake: whose parts.
        is_trusted: whether what was found before counts; what is found now is kept in any case.

    Attributes:
        is_counted: whether every unit was found with as many rows as its landing says, and none that was never landed. False also
            where that is not known.
    """

    def __init__(self, lake: Lake, *, is_trusted: bool = True) -> None:
        self.is_counted = False
        self._path = lake.settings.home.joinpath(*_FILE)
        self._saved = _read(self._path)
        self._known: dict[str, Any] = self._saved if is_trusted else {}
        self._kept: dict[str, Any] = {}
        self._folder = None if is_remote(lake.settings.data_address) else Path(lake.settings.data_address)
        self._marks: dict[TablePart, dict[str, str] | None] = {}
        # Path → the hash of the file's bytes, as this look and as the first one found it.
        self._bytes: dict[str, str] = {}
        self._first: dict[str, str] = dict(self._saved.get(_BYTES, (None, {}))[1])
        self.parts = list_parts(lake)

    @property
    def has_rows(self) -> bool:
        """Whether rows were read before, of files whose bytes tell whether they are the same."""
        return self._folder is not None and any(name.startswith("units ") for name in self._known)

    def list_parts(self, table: str) -> list[TablePart]:
        """The parts of a table that have a file."""
        return [part for part in self.parts if part.table == table]

    def list_anew(self, lake: Lake, table: str) -> bool:
        """List the files of a table once more; whether they are others than before."""
        own = {part: files for part, files in list_parts(lake).items() if part.table == table}
        before = {part: files for part, files in self.parts.items() if part.table == table}
        self.parts = {part: files for part, files in self.parts.items() if part.table != table} | own
        for part in before:
            self._marks.pop(part, None)
        return own != before

    def mark_files(self, part: TablePart) -> dict[str, str] | None:
        """Path of each file of a part → hash of its bytes and of its deletions'; null if unread."""
        if part not in self._marks:
            self._marks[part] = _hash_files(self._folder, self.parts.get(part, []), self._bytes)
        return self._marks[part]

    def list_changed(self) -> list[str]:
        """Paths of files with other bytes than when first looked at, which nothing of ours makes."""
        return sorted(path for path, digest in self._bytes.items() if self._first.get(path, digest) != digest)

    def mark(self, part: TablePart) -> str | None:
        """The hash over the bytes of a part's files; null as `mark_files`."""
        marks = self.mark_files(part)
        return None if marks is None else hashlib.sha256("".join(marks.values()).encode()).hexdigest()

    def mark_table_files(self, table: str) -> dict[str, str] | None:
        """The same of all parts of a table."""
        found: dict[str, str] = {}
        for part in self.list_parts(table):
            marks = self.mark_files(part)
            if marks is None:
                return None
            found |= marks
        return found

    def mark_tables(self, tables: Iterable[str], value: str = "") -> str | None:
        """The hash over all parts of these tables, or over those of a value they split by."""
        digest = hashlib.sha256()
        for table in sorted(tables):
            values = [part.value for part in self.parts if part.table == table]
            for one in sorted(values):
                if value and one and one != value:
                    continue
                mark = self.mark(TablePart(table, one))
                if mark is None:
                    return None
                digest.update(f"{table} {one} {mark}\n".encode())
        return digest.hexdigest()

    def find(self, name: str, mark: str | None) -> Any | None:
        """What was found under that name, if it was found of the same bytes."""
        known = self._known.get(name)
        if mark is None or known is None or known[0] != mark:
            return None
        self._kept[name] = known
        return known[1]

    def find_saved(self, name: str, mark: str) -> Any | None:
        """What was kept under that name and mark when this look began, whether it counts or not."""
        known = self._saved.get(name)
        return known[1] if known is not None and known[0] == mark else None

    def is_saved_since(self, name: str) -> bool:
        """Whether another look has kept something else under that name since this one began."""
        return bool(_read(self._path).get(name) != self._saved.get(name))

    def find_kept(self, name: str) -> tuple[Mapping[str, str], Any] | None:
        """The bytes of each file of then, and what was found in them under that name."""
        known = self._known.get(name)
        return None if known is None else (known[0], known[1])

    def keep(self, name: str, mark: str | Mapping[str, str] | None, found: Any) -> None:
        """Keep what was found of these bytes."""
        if mark is not None:
            self._kept[name] = [mark, found]

    def save(self, *, is_part: bool = False) -> None:
        """Write what was found; a home that cannot be written keeps what it has.

        After a look at a part of what is looked at everything else stays as it is kept.
        """
        there = {path for files in self.parts.values() for file in files for path in file.paths}
        first = self._bytes | self._first
        self.keep(_BYTES, "", {path: first[path] for path in sorted(there & first.keys())})
        kept = {**_read(self._path), **self._kept} if is_part else self._kept
        if kept == self._known:
            return
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            text = json.dumps({"form": _FORM, "found": kept}, separators=(",", ":"))
            with writing_whole(self._path) as draft:
                draft.write_bytes(zlib.compress(text.encode(), 1))


class PartLook:
    """What was found in a part of a table, as far as it still lies in files of the same bytes.

    A file that small ones were merged into is one that is read.

    Args:
        looked: what was found before.
        part: which part.
        may_reuse: whether that counts.

    Attributes:
        units: what was found of each unit; empty where everything is to be read.
        new: paths of the files that are to be read; empty for all.
        row_count: how many rows these files have, deleted ones among them.
    """

    def __init__(self, looked: Looked, part: TablePart, *, may_reuse: bool) -> None:
        self._looked = looked
        self._part = part
        self._name = f"units {part.table}/{part.value}"
        self._marks = looked.mark_files(part) if part.value else looked.mark_table_files(part.table)
        self.units: dict[str, FoundUnit] = {}
        self.new: list[str] = []
        # Path → the units with rows in it, where there are several files.
        self._places: dict[str, list[str]] = {}
        known = looked.find_kept(self._name) if may_reuse else None
        if known is not None and self._marks is not None:
            self._take(*known, self._marks)
        parts = [part] if part.value else looked.list_parts(part.table)
        self.row_count = sum(
            file.row_count
            for one in parts
            for file in looked.parts[one]
            if not self.new or file.paths[0] in self.new
        )

    def _take(self, then: Mapping[str, str], units: dict[str, FoundUnit], now: Mapping[str, str]) -> None:
        places = self._looked.find_kept(f"places {self._name}")
        own: dict[str, list[str]] = dict(places[1]) if places is not None and places[0] == then else {}
        gone: set[str] = set()
        for path in (path for path, mark in then.items() if now.get(path) != mark):
            # Where it is not known who lay in it, anybody may have.
            gone.update(own.pop(path, units))
        if not gone.isdisjoint(unit for stays in own.values() for unit in stays):
            # Of some the rest lies in a file that is still there.
            return
        self.units = {unit: found for unit, found in units.items() if unit not in gone}
        if self.units:
            self._places = own
            self.new = [path for path, mark in now.items() if then.get(path) != mark]

    @property
    def wants_places(self) -> bool:
        """Whether there are several files, of which each unit lies in some."""
        return self._marks is not None and len(self._marks) > 1

    def add_places(self, places: pl.DataFrame) -> None:
        """Take which units lie in the files that are read: the name of a file and a unit."""
        paths = {path.rsplit("/", 1)[-1]: path for path in self.new or self._marks or ()}
        for file, unit in places.unique().iter_rows():
            if file not in paths:
                # It landed after this look began, so what is found is not found of the files that were hashed.
                self._marks, self._places = None, {}
                return
            self._places.setdefault(paths[file], []).append(unit)

    def keep(self, units: dict[str, FoundUnit]) -> None:
        """Keep what is found now."""
        self._looked.keep(self._name, self._marks, units)
        if self._places:
            self._looked.keep(f"places {self._name}", self._marks, self._places)


def list_parts(lake: Lake) -> Mapping[TablePart, Sequence[PartFile]]:
    """The parts of a lake's tables, each with its files."""
    with lake.read_transaction():
        return read_part_files(lambda sql: lake.query(sql).rows())


def _read(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(zlib.decompress(path.read_bytes()))
        found = kept["found"] if kept["form"] == _FORM else {}
    except (OSError, ValueError, KeyError, TypeError, zlib.error):
        return {}
    return found if isinstance(found, dict) else {}


def _hash_files(
    folder: Path | None, files: Sequence[PartFile], each: dict[str, str]
) -> dict[str, str] | None:
    """The mark of each file with what names its deleted rows; `each` takes their hashes."""
    if folder is None:
        return None
    found: dict[str, str] = {}
    try:
        for file in files:
            for name in file.paths:
                own = hashlib.sha256(f"{(folder / name).stat().st_size} ".encode())
                with (folder / name).open("rb") as content:
                    while piece := content.read(_PIECE):
                        own.update(piece)
                each[name] = own.hexdigest()
            # A file that the catalog names twice has its rows twice: it is not the file of before.
            found[file.paths[0]] = found.get(file.paths[0], "") + "".join(each[name] for name in file.paths)
    except OSError:
        return None
    return found
