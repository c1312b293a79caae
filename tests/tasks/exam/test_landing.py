"""What the ledger has closed reaches the lake once, whole, without what must stay behind."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import RowMapping, delete, func, select

from schemas.errors import UsageError
from tasks.exam.closed import landing
from tasks.exam.closed.landing import iter_landings, land_access_log, land_closed_sessions, land_run
from tasks.exam.closed.verify import find_changed_sessions
from tasks.exam.sitting import SittingPart, sit_sessions
from tasks.models import CallReply, CallRequest
from tasks.models.registry import RegisteredModel
from tests.fresh import open_new_lake
from tests.tasks.exam.world import (
    KEY_MARKER,
    SEED,
    WHY_MARKER,
    AnsweringClient,
    World,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
    seed_of,
)
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import access_log, organisations
from warehouse.ledger.money import calls
from warehouse.ledger.trust import access

STYLES = ("zero_shot", "few_shot")


def none_landed(_table: str, _units: Sequence[str]) -> set[str]:
    return set()


class RecordingClient(AnsweringClient):
    """Writes its calls to the ledger, as the real client does."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        reply = await super().complete(model, request)
        call = calls.NewCall(reply.call_key, request.purpose, request.run_id, request.unit, "own", model.name)
        done = calls.FinishedCall(
            reply.call_key, "done", 1, {"text": reply.text, "answered_by": "alpha-0601"}, 10, 5, 0.001, 1.5
        )
        await self._ledger.writer.run_async(lambda c: calls.start_call(c, call))
        await self._ledger.writer.run_async(lambda c: calls.finish_call(c, done).read())
        return reply


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A closed world of which alpha has sat both styles, and the reference none; only copied."""
    settings = make_settings(tmp_path_factory.mktemp("sat") / "home", prompt_styles=STYLES)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    bank = make_bank()
    with open_ledger(settings.ledger_address) as ledger:
        world = World(ledger, settings, registry, bank, publish(ledger, settings, registry, bank))
        run(world, "alpha")
    return world


@pytest.fixture
def sat(made: World, tmp_path: Path) -> Iterator[World]:
    """Such a world of its own."""
    settings = make_settings(tmp_path / "home", prompt_styles=STYLES)
    shutil.copytree(made.settings.home, settings.home)
    with open_ledger(settings.ledger_address) as ledger:
        yield replace(made, ledger=ledger, settings=settings)


def run(world: World, model: str) -> None:
    client = RecordingClient(world.ledger)
    asyncio.run(
        sit_sessions(
            world.ledger,
            world.settings,
            world.registry,
            client,
            world.plan.run_id,
            part=SittingPart(models=[model]),
        )
    )


@pytest.fixture
def lake(sat: World) -> Iterator[Lake]:
    with open_new_lake(sat.settings) as opened:
        yield opened


def counts(lake: Lake) -> dict[str, int]:
    tables = ("runs", "models", "sets", "sessions", "allocations", "responses", "llm_calls", "quarantine")
    return {table: int(lake.query(f"select count(*) as n from {table}")["n"][0]) for table in tables}


def test_closed_sessions_land_with_everything_that_belongs_to_them(sat: World, lake: Lake) -> None:
    landed = land_run(sat.ledger, lake, sat.plan.run_id)
    expected = {
        "runs": 1,
        "models": 2,
        "sets": 6,
        "sessions": 2,
        "allocations": 12,
        "responses": 12,
        "llm_calls": 12,
    }
    assert landed == expected
    assert counts(lake) == {**expected, "quarantine": 0}
    rows = lake.query(
        "select session_id, seq, question_uuid, lineage_uuid, model, organisation, prompt_style, repeat, month, "
        "bank_version, response, answer, answer_status, input_tokens, is_simulated from responses order by session_id, seq"
    )
    named = lake.query("select distinct model, answered_by, extra_usd from llm_calls")
    assert named.rows() == [("alpha", "alpha-0601", 0.0)]
    first = rows.row(0, named=True)
    allocated = lake.query(
        "select session_id, seq, question_uuid, lineage_uuid from allocations order by session_id, seq"
    )
    assert rows.select(allocated.columns).equals(allocated)
    assert {name: first[name] for name in rows.columns[4:]} == {
        "model": "alpha",
        "organisation": "alpha labs",
        "prompt_style": first["prompt_style"],
        "repeat": 1,
        "month": "2026-11",
        "bank_version": 1,
        "response": "true, says alpha",
        "answer": first["answer"],
        "answer_status": "answered",
        "input_tokens": 10,
        "is_simulated": False,
    }
    kinds = dict(sat.bank.select("question_uuid", "question_type").rows())
    for row in rows.rows(named=True):
        # A choice is not answered by "true": nothing is read out of it, and nothing is guessed.
        assert row["answer"] == ("true" if kinds[row["question_uuid"]] == "true_false" else None)


def test_the_rest_lands_later_and_nothing_lands_twice_passes_a_check_wrongly_or_holds_a_secret(
    sat: World, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert land_run(sat.ledger, lake, sat.plan.run_id)["sessions"] == 2
    assert land_run(sat.ledger, lake, sat.plan.run_id) == {}
    run(sat, "rho")
    landed = land_closed_sessions(sat.ledger, lake)
    assert {table: landed[table] for table in ("runs", "sessions", "responses")} == {
        "runs": 1,
        "sessions": 2,
        "responses": 12,
    }
    row = lake.query("select status, seed_hash, closed_at is not null as is_over from runs").row(0)
    assert row == ("closed", hashlib.sha256(seed_of(SEED).encode()).hexdigest(), True)
    flags = lake.query("select model, is_reference, status from sessions order by model, prompt_style").rows()
    assert flags == [("alpha", False, "closed")] * 2 + [("rho", True, "closed")] * 2
    # A run that is in the lake as a whole is not read again.
    looked_at: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(landing, "land_run", lambda _, __, run_id, **___: looked_at.append(run_id))
        assert land_closed_sessions(sat.ledger, lake) == {}
    assert looked_at == []
    assert land_access_log(sat.ledger, lake)["access_log"] > 0
    for check in ("every_response_has_an_allocation", "no_organisation_meets_a_lineage_twice"):
        sql = (Path(__file__).parents[3] / f"warehouse/sql/checks/{check}.sql").read_text()
        params = {name: None for name in ("rest_months", "month") if f"${name}::" in sql}
        assert lake.query(sql, params).is_empty()
    everything = ""
    for table in (
        "runs",
        "models",
        "sets",
        "sessions",
        "allocations",
        "responses",
        "llm_calls",
        "access_log",
    ):
        everything += lake.query(f"select * from {table}").write_ndjson()
    secrets = (
        SEED,
        sat.keys.read().present.secret.decode(),
        KEY_MARKER,
        WHY_MARKER,
        "asks something",
        "lease_hash",
    )
    assert [secret for secret in secrets if secret in everything] == []


def test_what_the_lake_lost_is_landed_again(sat: World, lake: Lake) -> None:
    land_closed_sessions(sat.ledger, lake)
    before = counts(lake)
    # The organisation that sat is gone from the register meanwhile.
    with sat.ledger.write() as connection:
        connection.execute(delete(organisations))
    with open_new_lake(
        sat.settings.model_copy(update={"home": sat.settings.home.with_name("another home")})
    ) as fresh:
        land_closed_sessions(sat.ledger, fresh)
        assert counts(fresh) == before


def test_the_audit_log_lands_in_pages_and_only_the_last_one_is_read_again(
    sat: World, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landing, "ENTRIES_PER_PAGE", 5)
    landed_rows = land_access_log(sat.ledger, lake)
    # Those that say that the heads were signed are among them.
    entries = count_accesses(sat)
    assert entries > 10
    assert landed_rows == {"access_log": entries}
    assert land_access_log(sat.ledger, lake) == {}
    full = {f"page-{page:08d}" for page in range(1, entries // 5)}
    assert full < lake.units("access_log")

    run(sat, "rho")
    read = []
    monkeypatch.setattr(
        access,
        "read_entries",
        lambda c, first, last, read=access.read_entries: note(first, read(c, first, last)),
    )

    def note(first: int, rows: list[RowMapping]) -> list[RowMapping]:
        read.append(first)
        return rows

    land_access_log(sat.ledger, lake)
    assert min(read) >= entries // 5 * 5 - 5, "pages that were full are not read again"
    landed = lake.query("select access_id, entry_hash from access_log order by access_id")
    with sat.ledger.read() as connection:
        kept = connection.execute(
            select(access_log.c.access_id, access_log.c.entry_hash).order_by(access_log.c.access_id)
        ).all()
    assert landed.rows() == [tuple(row) for row in kept]


def count_accesses(world: World) -> int:
    with world.ledger.read() as connection:
        return int(connection.execute(select(func.count()).select_from(access_log)).scalar_one())


def test_a_run_lands_as_closed_only_after_its_last_session(sat: World, lake: Lake) -> None:
    run(sat, "rho")
    chunks = list(iter_landings(sat.ledger, sat.plan.run_id, none_landed))
    said = [batch.frame["status"][0] for chunk in chunks for batch in chunk if batch.table == "runs"]
    assert said == ["open", "closed"]
    # Killed before the last chunk: the next flow makes it whole.
    for chunk in chunks[:-1]:
        lake.land_together(chunk)
    assert lake.query("select status from runs").item() == "open"
    assert land_closed_sessions(sat.ledger, lake) == {"runs": 1}
    assert lake.query("select status from runs").item() == "closed"


def test_sessions_share_a_chunk_until_it_has_rows_enough(sat: World) -> None:
    run(sat, "rho")
    by_rows = {
        most: [
            len({batch.unit for batch in chunk if batch.table == "sessions"})
            for chunk in iter_landings(sat.ledger, sat.plan.run_id, none_landed, rows_per_chunk=most)
        ]
        for most in (1, 12, 20_000)
    }
    # The run with its models and the set come first, in chunks of their own; the run that is over comes last, again.
    assert by_rows == {1: [0, 0, 1, 1, 1, 1, 0], 12: [0, 0, 2, 2, 0], 20_000: [0, 0, 4, 0]}


def test_the_ledger_is_not_being_read_while_a_chunk_lands(sat: World) -> None:
    run(sat, "rho")
    pool: Any = sat.ledger.engine.pool
    before = pool.checkedout()
    chunks = iter_landings(sat.ledger, sat.plan.run_id, none_landed)
    assert [pool.checkedout() for _ in chunks] == [before] * 4


def test_an_unknown_run_is_a_usage_error(sat: World) -> None:
    with pytest.raises(UsageError, match="no run 'none'"):
        list(iter_landings(sat.ledger, "none", none_landed))


def test_what_the_ledger_says_differently_than_when_it_was_landed_is_found(sat: World, lake: Lake) -> None:
    # What has not landed yet is no difference.
    looked_at: list[int] = []
    assert find_changed_sessions(sat.ledger, lake, looked_at.append) == []
    assert sum(looked_at) > 0
    land_run(sat.ledger, lake, sat.plan.run_id)
    assert find_changed_sessions(sat.ledger, lake) == []

    names = lake.query("select session_id from sessions order by session_id")["session_id"].to_list()
    found: set[str] = set()
    for change, unit in (
        (f"UPDATE responses SET response = 'another answer' WHERE seq = 1 AND session_id = '{names[0]}'", f"responses/{names[0]}"),
        (f"UPDATE responses SET answer_status = 'empty' WHERE seq = 2 AND session_id = '{names[1]}'", f"responses/{names[1]}"),
        (f"UPDATE sessions SET opened_at = '2020-01-01T00:00:00.000000+00:00' WHERE session_id = '{names[0]}'", f"sessions/{names[0]}"),
    ):  # fmt: skip
        with sat.ledger.write() as connection:
            connection.exec_driver_sql(change)
        found.add(unit)
        assert set(find_changed_sessions(sat.ledger, lake)) == found
