"""Files as units of stages: the pages of the report, and the bytes of a file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemas.settings import Settings
from warehouse.ledger.engine.logs.stages import StageRow, close_rows
from warehouse.stores.whole_files import hash_file

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

REPORT: Final = "reports"
_MOMENT: Final = re.compile(rb": [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC</p>")


def close_report(ledger: Ledger, settings: Settings, folder: Path) -> None:
    """Close the report as written; one in another folder is nobody's but its reader's."""
    if folder.resolve() == (settings.home / REPORT).resolve():
        rows = list(read_report_rows(folder))
        with ledger.write() as connection:
            close_rows(connection, "report", REPORT, rows)


def read_report_rows(folder: Path) -> Iterator[StageRow]:
    """Each file below a folder with its hash, moments in footers left out: again, the same."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".html":
            page = _MOMENT.sub(b"</p>", path.read_bytes())
            yield (path.relative_to(folder).as_posix(),), (hashlib.sha256(page).hexdigest(),)
        elif path.is_file():
            yield (path.relative_to(folder).as_posix(),), (hash_file(path),)
