"""What an exam came to, table by table, without what two executions cannot have in common."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from schemas.settings import Settings
from schemas.tables import TABLES
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import metadata

# Of both forms: every column that ends with `_at` is a moment. Besides, by name, with the reason:
LEFT_ASIDE: Mapping[str, str] = {
    "latency_ms": "a duration",
    "attempts": "a call that was cut off is made again",
    "extra_usd": "what an attempt may have cost that was in flight at a kill",
    "holder": "drawn for each process",
    "lease_hash": "the secret of a lease is drawn",
    "lease_generation": "a session that was taken over has one more",
    "root_hash": "over moments and signatures",
    "flow_run_id": "drawn for each run",
    "content_hash": "over a unit with its moments",
    "rows_hash": "over a unit with its moments",
    "leaves": "over rows with their moments",
    "code_version": "of the checkout",
}
# Equal answers to one question are judged by one call, which is booked with the session that was judged first.
_BOOKED = frozenset({"unit", "landing_unit"})
# Tables of the ledger that hold no result: who works, what ran, what this installation is; and logs, compared by what they attest.
NO_RESULT: Mapping[str, str] = {
    "access_chain": "the end of the audit log",
    "access_heads": "days of the audit log",
    "access_log": "compared by its answers (read_attested)",
    "signed_heads": "signatures over the audit log",
    "public_head": "the end of the public log",
    "public_log": "compared by its entries of the run (read_attested)",
    "log_keys": "each host signs with a key of its own",
    "budget_shares": "which process set what aside",
    "process_leases": "which process makes calls",
    "jobs": "which process works on what",
    "provider_paces": "when the next call may go",
    "web_sessions": "who is signed in",
    "flow_runs": "which flows ran",
    "run_notices": "which flows ended badly, and who was told",
    "commit_counts": "transactions of each connection to a server",
    "flow_schedules": "which deployments are registered",
    "clock_marks": "what proves the time",
    "shared_files": "what the hosts of one installation agree on",
    "installation": "its id is drawn; commits of SQLite are counted",
    "exam_installation": "its id is drawn; commits of SQLite are counted",
}
# Of the public log: a key of a host is no part of the run.
_OF_RUN = ("commit", "draw", "open", "close", "disclose", "edition")

Tables = dict[str, list[dict[str, Any]]]


def read_final_tables(settings: Settings) -> Tables:
    """Every table of the lake and of the ledger that holds results.

    Each is given as its rows, sorted, without the columns that are left aside.
    """
    found: Tables = {}
    with open_lake(settings, read_only=True) as lake, lake.read_transaction():
        for name in TABLES:
            if name == "closed_months":
                # What they rest on is named by the numbers of the lake's files.
                found[f"lake.{name}"] = lake.query(f"SELECT * EXCLUDE (basis_hash) FROM {name}").to_dicts()
            elif name != "access_log":
                found[f"lake.{name}"] = lake.query(f"SELECT * FROM {name}").to_dicts()
        # How many calls a session is booked with follows from the above; the calls themselves are compared.
        query = "SELECT * FROM landings WHERE table_name NOT IN ('access_log', 'llm_calls')"
        found["lake.landings"] = lake.query(query).to_dicts()
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        for table in metadata.sorted_tables:
            if table.name not in NO_RESULT:
                rows = connection.execute(table.select()).mappings()
                found[f"ledger.{table.name}"] = [dict(row) for row in rows]
        found["attested"] = _read_attested(connection)
    return {
        name: sorted((_strip(row, has_calls=name.endswith("llm_calls")) for row in rows), key=_write)
        for name, rows in found.items()
    }


def find_differences(expected: Tables, found: Tables) -> list[str]:
    """What differs, a line for each table."""
    wrong = [f"{name}: in one form only" for name in sorted(expected.keys() ^ found.keys())]
    for name in sorted(expected.keys() & found.keys()):
        before, after = (Counter(map(_write, rows)) for rows in (expected[name], found[name]))
        if before != after:
            wrong.append(f"{name}: lacks {list(before - after)[:2]}, has besides {list(after - before)[:2]}")
    return wrong


def _read_attested(connection: Any) -> list[dict[str, Any]]:
    """What the two logs say of the exam: each answer with its hash, and the entries of the run."""
    log, public = metadata.tables["access_log"], metadata.tables["public_log"]
    answers = connection.execute(log.select().where(log.c.answer_hash.is_not(None))).mappings()
    entries = connection.execute(public.select().where(public.c.kind.in_(_OF_RUN))).mappings()
    wanted = ("action", "http_status", "code", "user_id", "session_id", "seq", "answer_hash")
    return [{name: row[name] for name in wanted} for row in answers] + [
        {"kind": row["kind"], "run_id": row["run_id"]} for row in entries
    ]


def _strip(row: Mapping[str, Any], *, has_calls: bool) -> dict[str, Any]:
    """A row without what is left aside.

    Sums of money are added up in the order in which calls end, hence the rounding.
    """
    left_aside = LEFT_ASIDE.keys() | (_BOOKED if has_calls else set())
    return {
        name: round(value, 12) if isinstance(value, float) else value
        for name, value in row.items()
        if name not in left_aside and not name.endswith("_at")
    }


def _write(row: Mapping[str, Any]) -> str:
    return json.dumps(row, default=str, sort_keys=True, ensure_ascii=False)
