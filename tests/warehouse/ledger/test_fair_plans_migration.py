"""A ledger of the form before fair plans is brought up to date with everything that it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Engine, inspect

from tests.warehouse.ledger.postgresql import start_postgresql
from warehouse.ledger.connections import create_ledger_engine
from warehouse.ledger.migrate import HEAD, make_config, read_ledger_version
from warehouse.ledger.opening import open_ledger

PLAN = {
    "candidates": ["m"],
    "bridged_reference": None,
    "models": {"m": {"endpoint_model": "m-1", "mode": "standard", "parameters": {}}},
}


def fill(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")

        def add(table: str, **values: object) -> None:
            written = ", ".join(
                "NULL"
                if value is None
                else str(value).lower()
                if isinstance(value, bool)
                else str(value)
                if isinstance(value, int)
                else "'" + str(value).replace("'", "''") + "'"
                for value in values.values()
            )
            connection.exec_driver_sql(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({written})")

        for run_id in ("2026-09", "2026-09-2", "own"):
            add(
                "runs",
                run_id=run_id,
                month="2026-09",
                season="s",
                bank_version=1,
                reference_model="r",
                set_size=1,
                policy="shared",
                seed="x",
                status="closed",
                is_simulated=False,
                plan=json.dumps(PLAN),
                planned_at="2026-09-01",
            )
        for name, limit, at in (("Org 0", 9, "2026-01"), ("org0", 7, "2026-02"), ("Rho", None, "2026-03")):
            add("organisations", organisation=name, question_limit=limit, created_at=at)
        for set_id in ("s/1", "s/2"):
            add(
                "set_numbers",
                set_id=set_id,
                season="s",
                set_number=int(set_id[-1]),
                bank_version=1,
                is_simulated=False,
                created_at="1",
            )
            add(
                "sets",
                set_id=set_id,
                lineage_uuid=f"l{set_id[-1]}",
                question_uuid="q",
                discipline="Law",
                content="{}",
            )
        for name, set_id, at in (
            ("Org 0", "s/1", "2026-01"),
            ("org0", "s/1", "2026-05"),
            ("org0", "s/2", "2026-05"),
        ):
            add(
                "set_claims",
                organisation=name,
                set_id=set_id,
                model="m",
                repeat=1,
                run_id="2026-09",
                claimed_at=at,
            )
            add("exposures", organisation=name, lineage_uuid=f"l{set_id[-1]}", set_id=set_id, exposed_at=at)
        for number, (owner, is_reference) in enumerate((("Org 0", False), ("org0", False), ("Rho", True))):
            add(
                "sessions",
                session_id=f"s{number}",
                run_id="2026-09",
                set_id="s/1",
                user_id="u",
                model=f"m{number}" if number else "m",
                organisation=owner,
                prompt_style="zero_shot",
                repeat=1,
                is_reference=is_reference,
                is_simulated=False,
                pending_window=1,
                question_count=1,
                next_seq=1,
                answered_count=0,
                status="closed",
                lease_generation=0,
            )
        add(
            "users",
            user_id="u",
            role="candidate",
            organisation="Org 0",
            model="m",
            is_active=True,
            created_at="1",
        )
        connection.exec_driver_sql("COMMIT")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'old.sqlite'}"
        return
    with start_postgresql() as server:
        yield server.new_ledger_url()


def test_organisations_merge_references_count_and_runs_get_their_names(url: str) -> None:
    engine = create_ledger_engine(url)
    if url.startswith("postgresql"):
        command.downgrade(make_config(engine), "0002")
    else:
        command.upgrade(make_config(engine), "0002")
    fill(engine)
    engine.dispose()
    with open_ledger(url) as ledger, ledger.read() as connection:

        def rows(query: str) -> list[tuple[object, ...]]:
            return [tuple(row) for row in connection.exec_driver_sql(query)]

        assert rows("SELECT run_id, repetition FROM runs ORDER BY run_id") == [
            ("2026-09", ""),
            ("2026-09-2", "2"),
            ("own", "own"),
        ]
        assert rows("SELECT organisation, name, question_limit FROM organisations ORDER BY organisation") == [
            ("org0", "Org 0", 7),
            ("rho", "Rho", None),
        ]
        assert rows(
            "SELECT organisation, set_id, claimed_at FROM set_claims WHERE NOT is_reference ORDER BY set_id"
        ) == [("org0", "s/1", "2026-05"), ("org0", "s/2", "2026-05")]
        assert rows("SELECT organisation, set_id FROM set_claims WHERE is_reference") == [("rho", "s/1")]
        assert rows(
            "SELECT organisation, lineage_uuid, exposed_at FROM exposures ORDER BY organisation, lineage_uuid"
        ) == [("org0", "l1", "2026-05"), ("org0", "l2", "2026-05"), ("rho", "l1", "2026-09-01")]
        assert rows("SELECT organisation FROM sessions ORDER BY session_id") == [
            ("org0",),
            ("org0",),
            ("rho",),
        ]
        assert rows("SELECT organisation FROM users") == [("org0",)]
        assert rows("SELECT count(*) FROM sets WHERE is_anchor") == [(0,)]
        known = {row[0]: row[1] for row in rows("SELECT model, fingerprint FROM sessions")}
        assert json.loads(str(known["m"]))["endpoint_model"] == "m-1"
        assert known["m1"] is None


def test_the_migration_can_be_taken_back(tmp_path: Path) -> None:
    engine = create_ledger_engine(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    command.upgrade(make_config(engine), "head")
    made = set(inspect(engine).get_table_names())
    command.downgrade(make_config(engine), "0002")
    assert read_ledger_version(engine) == "0002"
    assert "repetition" not in {column["name"] for column in inspect(engine).get_columns("runs")}
    command.upgrade(make_config(engine), "head")
    assert read_ledger_version(engine) == HEAD
    assert set(inspect(engine).get_table_names()) == made
    engine.dispose()
