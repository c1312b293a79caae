"""Pages of an earlier report that still say what a new one would.

A page rests on queries; what each of them reads is named by the catalog's files. Beside the pages lies what each rested on, and the hash
of every file that it wrote: where all of it is as it was, the page is left as it is, and else it is made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tasks.proof import hash_report_file
from warehouse.lake import read_code_version

if TYPE_CHECKING:
    import polars as pl

    from tasks.report.frame import Issue
    from tasks.report.panels import Source

_FILE: Final = "data/kept.json"


class KeptPages:
    """The pages of a folder, and what is made of them now.

    Args:
        source: where the pages read; without `mark_query` every page is made.
        issue: the rendering.
    """

    def __init__(self, source: Source, issue: Issue) -> None:
        self._source = source
        self._folder = issue.folder
        leagues = sorted(path.name for path in issue.folder.glob("league-*.html"))
        self._made_by = [_digest_code(), issue.language, *leagues]
        self._known = _read(issue.folder / _FILE)
        self._now: dict[str, Any] = {}

    def make(self, name: str, make: Callable[[Source], Any], *besides: object) -> Any:
        """What `make` says (JSON) of a page it made, or said then of one left as it is."""
        made_by = json.loads(json.dumps([*self._made_by, *besides]))
        known = self._known.get(name)
        if known is not None and known["made_by"] == made_by and self._is_as_it_was(known):
            self._now[name] = known
            return known["said"]
        asked: dict[str, str] = {}

        def run_named(query: str, parameters: dict[str, object]) -> pl.DataFrame:
            if self._source.mark_query is not None:
                asked[json.dumps([query, parameters])] = self._source.mark_query(query, parameters)
            return self._source.run_named(query, parameters)

        before = _list_files(self._folder)
        said = make(replace(self._source, run_named=run_named))
        written = [path for path, state in _list_files(self._folder).items() if before.get(path) != state]
        if self._source.mark_query is not None:
            files = {path: hash_report_file(self._folder / path) for path in sorted(written)}
            self._now[name] = {"made_by": made_by, "asked": asked, "files": files, "said": said}
        return said

    def save(self) -> None:
        """Write what the pages rest on beside them."""
        if self._now:
            path = self._folder / _FILE
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(self._now, ensure_ascii=False, sort_keys=True), encoding="utf-8")

    def _is_as_it_was(self, known: dict[str, Any]) -> bool:
        mark = self._source.mark_query
        if mark is None:
            return False
        for path, digest in known["files"].items():
            file = self._folder / path
            if not file.is_file() or hash_report_file(file) != digest:
                return False
        return all(mark(*json.loads(asked)) == found for asked, found in known["asked"].items())


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@cache
def _digest_code() -> str:
    """Of everything that makes pages: other code makes others."""
    digest = hashlib.sha256(read_code_version().encode())
    for path in sorted(Path(__file__).parent.rglob("*")):
        if path.suffix in (".py", ".yaml", ".j2", ".css", ".js"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _list_files(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file of the folder with when it was written, and its length."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file()
    }
