"""What do years of history cost?

Boards, named queries and the publication of a month are measured over 27 months of judged answers.

Each of 60 candidates sits 1,000 questions in three styles every month, judged by two judges: 27 x 60 x 1,000 x 3 x 2 = 9.7 million
judged rows, in the project's own tables and files. The months before the last two are frozen without their fits (each would take
its minute); the last two are published whole, the last one warm-started from the one before.

Every named query runs in a process of its own, through the lake and in plain DuckDB over the same Parquet files.

Run: python -m tests.benchmarks.history_cost [months, default 27] [candidates, default 60] [questions, default 1000] [home to keep]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from schemas.settings import Settings
from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES, PROMPT_STYLES
from tests.benchmarks.history_rows import give_stars, land_month, number_uuid, publish_month
from tests.warehouse.lake.kit import connect_duckdb
from warehouse.lake import Lake, open_lake
from warehouse.lake.reading import find_query
from warehouse.lake.reading.queries import bind_parameters, list_queries
from warehouse.lake.statements import execute_statement
from warehouse.lake.upkeep import close_months

JUDGES = ("judge-a", "judge-b")
ORGANISATIONS = 17
SETS_PER_MONTH = 4
ANCHORS = 0.2
QUERIES_WITHOUT_HISTORY = ("bank_statistics",)


def main(months: int = 27, candidates: int = 60, questions: int = 1000, keep: str = "") -> None:
    """Build the history, publish its last month, and print what each question costs."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(keep or folder))
        rows = months * candidates * questions * len(PROMPT_STYLES) * len(JUDGES)
        print(
            f"{months} months x {candidates} candidates x {questions} questions: {rows / 1e6:.1f} M judged rows",
            flush=True,
        )
        if not (settings.home / "lake").exists():
            _build(settings, months, candidates, questions)
        _print_size(settings)
        measure_queries(settings)


def _build(settings: Settings, months: int, candidates: int, questions: int) -> None:
    """Land every month, publish it when it has landed, and close it, as a flow would."""
    history = History(candidates, questions)
    with open_lake(settings) as lake:
        for number in range(months):
            month = f"{2024 + number // 12}-{number % 12 + 1:02d}"
            frames = history.list_frames(number, month)
            land_month(lake, frames, datetime.fromisoformat(f"{month}-01T02:00:00+00:00"))
            is_whole = number >= months - 2
            _publish(lake, settings, month, is_whole=is_whole)
            close_months(lake)


def _publish(lake: Lake, settings: Settings, month: str, *, is_whole: bool) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    edition = publish_month(lake, settings, month, is_equated=is_whole)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = read_peak_mb()
    print(
        f"published {edition.edition_id:<12} {'with' if is_whole else 'without'} fits {cpu:7.1f} s CPU {wall:7.1f} s wall, "
        f"peak of the process so far {peak:,.0f} MB",
        flush=True,
    )


class History:
    """Answers of candidates of growing ability on sets of growing difficulty.

    A fifth of each set was asked before.
    """

    def __init__(self, candidates: int, questions: int) -> None:
        self.random = np.random.default_rng(2026)
        self.candidates = candidates
        self.questions = questions
        self.ability = np.linspace(-1.0, 1.5, candidates)
        self.difficulty = np.zeros(0)
        self.discrimination = np.zeros(0)

    def list_frames(self, number: int, month: str) -> dict[str, pl.DataFrame]:
        """Table → the month's rows with their landing units."""
        planned_at = datetime.fromisoformat(f"{month}-01T02:00:00+00:00")
        sets = [self._draw_set() for _ in range(SETS_PER_MONTH)]
        sessions, allocations, responses, judgements = [], [], [], []
        for candidate in range(self.candidates):
            asked = sets[candidate % ORGANISATIONS % SETS_PER_MONTH]
            for style in PROMPT_STYLES:
                session_id = f"{month}-c{candidate:02d}-{style}"
                order = self.random.permutation(len(asked))
                items = asked[order]
                names = pl.Series([number_uuid(item) for item in items])
                disciplines = pl.Series(
                    [EXAMINED_DISCIPLINES[item % len(EXAMINED_DISCIPLINES)] for item in items]
                )
                shared = {
                    "run_id": month,
                    "session_id": session_id,
                    "month": month,
                }
                sessions.append(
                    {
                        **shared,
                        "set_id": f"{month}-s{candidate % ORGANISATIONS % SETS_PER_MONTH}",
                        "model": f"c{candidate:02d}",
                        "organisation": f"o{candidate % ORGANISATIONS}",
                        "prompt_style": style,
                        "repeat": 1,
                        "is_reference": candidate == 0,
                        "status": "closed",
                        "question_count": len(asked),
                        "answered_count": len(asked),
                        "opened_at": planned_at,
                        "closed_at": planned_at + timedelta(hours=5),
                        "is_simulated": False,
                    }
                )
                base = pl.DataFrame({"question_uuid": names, "lineage_uuid": names}).with_columns(
                    seq=pl.int_range(1, len(asked) + 1, dtype=pl.Int64),
                    landing_unit=pl.lit(session_id),
                    **{name: pl.lit(value) for name, value in shared.items()},
                )
                allocations.append(base.with_columns(discipline=disciplines, allocated_at=pl.lit(planned_at)))
                responses.append(
                    base.with_columns(
                        model=pl.lit(f"c{candidate:02d}"),
                        organisation=pl.lit(f"o{candidate % ORGANISATIONS}"),
                        prompt_style=pl.lit(style),
                        repeat=pl.lit(1, dtype=pl.Int64),
                        bank_version=pl.lit(1, dtype=pl.Int64),
                        prompt_version=pl.lit("1/zh"),
                        response=pl.format("答案 {} 因为……", "seq"),
                        answer_status=pl.lit("answered"),
                        is_simulated=pl.lit(False),
                    )
                )
                stars = self._answer(candidate, number, items)
                for judge in JUDGES:
                    judgements.append(
                        base.drop("lineage_uuid").with_columns(
                            landing_unit=pl.lit(f"{session_id}/{judge}/prompt-1"),
                            model=pl.lit(f"c{candidate:02d}"),
                            prompt_style=pl.lit(style),
                            judge=pl.lit(judge),
                            stars=pl.Series(stars),
                            reason=pl.lit("理由"),
                            parse_status=pl.lit("parsed"),
                            prompt_version=pl.lit("1/zh"),
                            occasion=pl.lit("first"),
                            judged_at=pl.lit(planned_at + timedelta(hours=6)),
                            attempt=pl.lit(1, dtype=pl.Int64),
                            is_simulated=pl.lit(False),
                        )
                    )
        run = {
            "run_id": month,
            "month": month,
            "bank_version": 1,
            "reference_model": "c00",
            "set_size": self.questions,
            "policy": "shared",
            "status": "closed",
            "planned_at": planned_at,
            "closed_at": planned_at + timedelta(hours=5),
            "is_simulated": False,
        }
        models = [
            {
                "run_id": month,
                "model": f"c{candidate:02d}",
                "organisation": f"o{candidate % ORGANISATIONS}",
                "family": f"o{candidate % ORGANISATIONS}",
                "release_date": (datetime(2023, 1, 1, tzinfo=UTC) + timedelta(days=20 * candidate)).date(),
                "is_open": candidate % 2 == 0,
                "mode": "standard",
                "endpoint_model": "m",
                "is_simulated": False,
            }
            for candidate in range(self.candidates)
        ]
        return {
            "runs": get_table("runs").frame([run]).with_columns(landing_unit=pl.lit(month)),
            "models": get_table("models").frame(models).with_columns(landing_unit=pl.lit(month)),
            "sessions": get_table("sessions").frame(sessions).with_columns(landing_unit=pl.col("session_id")),
            "allocations": pl.concat(allocations),
            "responses": pl.concat(responses),
            "judgements": pl.concat(judgements),
        }

    def _draw_set(self) -> np.ndarray:
        """Questions by number; the number says the discipline, so that each has the same share."""
        known = len(self.difficulty)
        anchors = int(self.questions * ANCHORS) if known else 0
        per_discipline = self.questions // len(EXAMINED_DISCIPLINES)
        old = []
        if anchors:
            share = anchors // len(EXAMINED_DISCIPLINES)
            for code in range(len(EXAMINED_DISCIPLINES)):
                of_discipline = np.arange(code, known, len(EXAMINED_DISCIPLINES))
                old.append(self.random.choice(of_discipline, share, replace=False))
            per_discipline -= share
        new = known + np.arange(per_discipline * len(EXAMINED_DISCIPLINES))
        self.difficulty = np.concatenate([self.difficulty, self.random.normal(0, 1, len(new))])
        self.discrimination = np.concatenate(
            [self.discrimination, np.exp(self.random.normal(0, 0.3, len(new)))]
        )
        return np.concatenate([*old, new])

    def _answer(self, candidate: int, number: int, items: np.ndarray) -> np.ndarray:
        ability = self.ability[candidate] + 0.01 * number
        place = self.discrimination[items] * (ability - self.difficulty[items])
        return give_stars(self.random, place)


def _print_size(settings: Settings) -> None:
    with open_lake(settings, read_only=True) as lake:
        count = lake.query("SELECT count(*) AS n FROM judgements").item()
        stars = lake.query("SELECT count(*) AS n FROM edition_stars").item()
    size = sum(path.stat().st_size for path in (settings.home / "lake").rglob("*.parquet")) / 1e6
    print(f"judgements {count:,}, edition_stars {stars:,}, Parquet {size:,.0f} MB", flush=True)


def measure_queries(settings: Settings) -> None:
    """Print one line for each named query: its CPU and peak memory in the lake.

    They stand beside those of plain DuckDB over the same files.
    """
    print(f"{'query':<28}{'lake CPU s':>12}{'MB':>8}{'plain CPU s':>13}{'MB':>8}{'ratio':>8}")
    for query in list_queries(("analyses",)):
        if any(parameter.default is None for parameter in query.parameters):
            continue
        lake, plain = (_measure(settings, query.name, kind) for kind in ("lake", "plain"))
        print(
            f"{query.name:<28}{lake['cpu_s']:>12.2f}{lake['peak_mb']:>8.0f}{plain['cpu_s']:>13.2f}{plain['peak_mb']:>8.0f}"
            f"{lake['cpu_s'] / max(plain['cpu_s'], 1e-3):>8.2f}   {lake['cpu_s'] - plain['cpu_s']:+.2f} s, {lake['rows']} rows",
            flush=True,
        )


def _measure(settings: Settings, name: str, kind: str) -> dict[str, float]:
    code = (
        "import sys\nfrom tests.benchmarks.history_cost import run_query\n"
        f"run_query({str(settings.home)!r}, {name!r}, {kind!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} ({kind}): {done.stderr[-600:]}")
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def run_query(home: str, name: str, kind: str) -> None:
    """Run one named query in this process and print what it took, opening and imports aside.

    On both sides a first statement has been run before, so that neither pays for what DuckDB imports to hand rows over, and
    parameters go in as literals: bound as Python objects they make DuckDB import pandas, a second or more.
    """
    settings = Settings(home=Path(home))
    query = find_query(name)
    values = bind_parameters(query, {})
    if kind == "lake":
        with open_lake(settings, read_only=True) as lake:
            lake.query("SELECT 1")
            cpu = time.process_time()
            rows = lake.run_named(name).height
            cpu = time.process_time() - cpu
    else:
        with connect_duckdb(settings.home) as connection:
            _attach_files(settings, connection)
            execute_statement(connection, "SELECT 1", {}, lambda result: result.pl())
            cpu = time.process_time()
            rows = execute_statement(connection, query.body, values, lambda result: result.pl()).height
            cpu = time.process_time() - cpu
    peak = read_peak_mb()
    print(json.dumps({"cpu_s": cpu, "peak_mb": peak, "rows": rows}))


def read_peak_mb() -> float:
    """Peak resident memory of this process, in MB.

    What getrusage reports of a child includes its parent's memory.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) / 1024
    return float("nan")


def _attach_files(settings: Settings, connection: object) -> None:
    """Attach the lake's Parquet files to a connection.

    The contract's tables become views over these files, and the project's views stand over them.
    """
    import duckdb

    from schemas.table import DUCKDB_TYPES
    from schemas.tables import TABLES
    from tests.warehouse.lake.kit import read_views
    from warehouse.lake.reading.queries import order_by_dependency

    assert isinstance(connection, duckdb.DuckDBPyConnection)
    with open_lake(settings, read_only=True) as lake:
        files = {
            name: lake.query("SELECT data_file FROM ducklake_list_files('exam', $name)", {"name": name})[
                "data_file"
            ].to_list()
            for name in TABLES
        }
    for table in TABLES.values():
        columns = ", ".join(
            f'NULL::{DUCKDB_TYPES[column.type]} AS "{column.name}"' for column in table.columns
        )
        source = (
            f"SELECT * FROM read_parquet({files[table.name]}, union_by_name => true, hive_partitioning => false)"
            if files[table.name]
            else f"SELECT {columns} LIMIT 0"
        )
        connection.execute(f'CREATE VIEW "{table.name}" AS {source}')
    for query in order_by_dependency(read_views()):
        connection.execute(f'CREATE VIEW "{query.name}" AS {query.body}')


if __name__ == "__main__":
    numbers = dict(zip(("months", "candidates", "questions"), map(int, sys.argv[1:4]), strict=False))
    main(**numbers, keep="".join(sys.argv[4:5]))
