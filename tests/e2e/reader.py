"""An analyst in another process: plain DuckDB, read-only, querying all the time."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SCRIPT = """
import json, pathlib, sys, time
import duckdb
from warehouse.lake.connecting import load_extensions

catalog, stop = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
connection = duckdb.connect()
load_extensions(connection, ["ducklake", "sqlite_scanner"])
seen, errors, queries, attached = [], [], 0, False
while not stop.exists():
    if not catalog.exists():
        time.sleep(0.2)
        continue
    try:
        if not attached:
            connection.execute(f"ATTACH 'ducklake:sqlite:{catalog}' AS exam (READ_ONLY)")
            attached = True
        # The two numbers belong to one landing: they agree in every consistent state.
        row = connection.execute(
            "select (select count(*) from exam.responses), "
            "(select coalesce(sum(row_count), 0)::bigint from exam.landings where table_name = 'responses')"
        ).fetchone()
    except duckdb.Error as error:
        # Until the first landing's tables are committed there is nothing to query yet.
        if queries:
            errors.append(str(error))
        time.sleep(0.2)
        continue
    queries += 1
    if not seen or seen[-1] != list(row):
        seen.append(list(row))
    # Without a rest it takes a quarter of a processor from the demo.
    time.sleep(1.0)
print(json.dumps({"seen": seen, "errors": errors, "query_count": queries}))
"""


@dataclass(frozen=True)
class Seen:
    """What the analyst saw.

    It holds pairs of (responses counted, responses landed), in order, without repeats.
    """

    seen: list[list[int]]
    errors: list[str]
    query_count: int

    @classmethod
    def read(cls, path: Path) -> Seen:
        """What `Reader.write` wrote."""
        return cls(**json.loads(path.read_text()))


@dataclass(frozen=True)
class Reader:
    """The analyst's process."""

    process: subprocess.Popen[str]
    stop_file: Path

    @classmethod
    def start(cls, catalog: Path) -> Reader:
        """Query the lake as soon as it exists."""
        stop_file = Path(tempfile.mkdtemp()) / "stop"
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(catalog), str(stop_file)], stdout=subprocess.PIPE, text=True
        )
        return cls(process, stop_file)

    def stop(self) -> str:
        """Stop querying; returns what was seen, as JSON."""
        self.stop_file.touch()
        output, _ = self.process.communicate(timeout=60)
        return output
