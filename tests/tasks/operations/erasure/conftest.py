"""A home with a run that is published, its answers and reasons marked; made once, copied."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from schemas.tables import get_table
from tasks.exam.closed import land_access_log
from tasks.exam.log import check_log
from tasks.exam.public.draws import disclose_closed_runs
from tasks.exam.public.log import check_public_log
from tasks.models import CallReply, CallRequest
from tasks.models.registry import RegisteredModel
from tasks.operations.erasure.erase import erase_texts
from tasks.operations.erasure.scope import Scope
from tests.fresh import copy_home, make_once, open_new_lake
from tests.tasks.editions.kit import publish_and_keep_root
from tests.tasks.exam.kit import land_run, sit_sessions
from tests.tasks.exam.world import (
    MONTH,
    AnsweringClient,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
)
from tests.tasks.judging.control_rows import make_control_frame
from tests.tasks.judging.kit import land_judgements, name_unit, read_put_responses
from tests.warehouse.bank_rows import land_bank_rows
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money import calls
from warehouse.ledger.trust import users

MARKER = "QZXWMARKER"
THOUGHT = "QZXWTHOUGHT"
QUOTED = "QZXWQUOTED"
CACHED = "QZXWCACHED"
MARKERS = (MARKER, THOUGHT, QUOTED, CACHED)
JUDGE = "judge-a"
CHECKS = (
    "what_was_erased_has_no_text",
    "no_answer_is_without_its_text_unless_it_was_erased",
    "landings_count_their_rows",
)
LATER = datetime.now(UTC) + timedelta(days=400)


class PaidClient(AnsweringClient):
    """Answers with the marker, at the usual length, and keeps each call as a run's client."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        reply = await super().complete(model, request)
        text = f"{MARKER} true, says {model.name} at length: {'so it is, ' * 40}"
        reply = replace(reply, text=text, reasoning=f"{THOUGHT} {'hm ' * 30}")
        keep_call(self._ledger, reply.call_key, request.purpose, request.run_id, request.unit, text)
        return reply


def keep_call(
    ledger: Ledger, key: str, purpose: str, run_id: str | None, unit: str | None, text: str
) -> None:
    new = calls.NewCall(key, purpose, run_id, unit, "http://127.0.0.1:9/v1", "m")
    done = calls.FinishedCall(key, "done", attempts=1, reply={"text": f"{CACHED} {text}"}, cost_usd=0.001)
    with ledger.write() as connection:
        calls.start_call(connection, new)
        calls.finish_call(connection, done)


def judge(ledger: Ledger, lake: Lake, rows: list[Mapping[str, Any]]) -> None:
    """Land a judgement of each response, with its reason and its reply, as a judge's run does."""
    units: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        stars = (len(str(row["model"])) + int(row["seq"])) % 4
        reason = f"It says {QUOTED} {row['response'][:40]} {'because ' * 20}"
        units.setdefault(name_unit(row["session_id"], JUDGE), []).append(
            {
                name: row[name]
                for name in ("run_id", "session_id", "seq", "question_uuid", "model", "prompt_style", "month")
            }
            | {
                "judge": JUDGE,
                "stars": stars,
                "reason": reason,
                "raw": f"{stars} {reason}",
                "parse_status": "parsed",
                "prompt_version": "1/en",
                "occasion": "first",
                "judged_at": datetime.now(UTC),
                "cost_usd": 0.01,
                "attempt": 1,
                "is_simulated": False,
            }
        )
    for unit, own in units.items():
        for row in own:
            keep_call(ledger, f"{unit}/{row['seq']}", "judge", str(row["run_id"]), unit, str(row["raw"]))
    land_judgements(ledger, lake, list(units.values()))
    first = next(iter(units.values()))[0]
    # A judgement that a rule refuses is put aside whole, its reason included.
    refused = get_table("judgements").frame([{**first, "judge": "judge-b", "stars": 9}])
    lake.land("judgements", name_unit(str(first["session_id"]), "judge-b"), refused)
    label_and_anchor(ledger, lake, first)


def label_and_anchor(ledger: Ledger, lake: Lake, row: Mapping[str, Any]) -> None:
    """Add a failure that a model has labelled, and an anchor response judged a month later."""
    place = {name: row[name] for name in ("session_id", "seq", "model")}
    raw = f"{QUOTED} shows a want of knowledge"
    label = place | {"labeller": "m", "is_human": False, "error_class": "misunderstanding", "sample_size": 1}
    label |= {"raw": raw, "parse_status": "parsed", "prompt_version": "1/en"}
    lake.land("error_labels", f"{MONTH}/m", get_table("error_labels").frame([label]))
    keep_call(ledger, "label", "errors", str(row["run_id"]), f"{row['session_id']}/labels/m", raw)
    anchor = place | {
        "anchor_set": "anchors",
        "run_id": row["run_id"],
        "month": MONTH,
        "question_uuid": row["question_uuid"],
        "discipline": "History",
        "drawn_at": datetime.now(UTC),
        "is_simulated": False,
    }
    lake.land("anchor_responses", "anchors", get_table("anchor_responses").frame([anchor]))
    unit = f"anchors/{JUDGE}/prompt-1/2026-12/1"
    keep_call(ledger, "anchor", "drift", "drift/anchors/2026-12", unit, raw)


def make_judged_home(settings: Settings, open_lake_of: Callable[[Settings], Lake]) -> None:
    """The run 2026-11 of alpha, beta and the reference rho, of six questions each."""
    rho = make_model("rho", roles=("candidate", "reference"))
    registry = make_registry(make_model("alpha"), make_model("beta"), rho)
    bank = make_bank()
    with open_ledger(settings.ledger_address) as ledger, open_lake_of(settings) as lake:
        plan = publish(ledger, settings, registry, bank)
        with ledger.write() as connection:
            users.add_user(connection, user_id="cora", role="admin")
            users.add_user(connection, user_id="xu", role="examiner")
        asyncio.run(sit_sessions(ledger, settings, registry, PaidClient(ledger), plan.run_id))
        land_bank_rows(lake, bank)
        land_run(ledger, lake, plan.run_id)
        land_access_log(ledger, lake)
        sessions = lake.query("select session_id from sessions")["session_id"].to_list()
        judge(ledger, lake, list(read_put_responses(lake, sessions, [MONTH]).iter_rows(named=True)))
        controls = make_control_frame(plan.run_id, MONTH, JUDGE, "1/en", is_simulated=False)
        lake.land("judge_controls", f"controls/{plan.run_id}/{JUDGE}/prompt-1", controls)
        disclose_closed_runs(ledger, settings)
        publish_and_keep_root(ledger, lake, settings, plan.run_id)


@pytest.fixture(scope="session")
def judged_home() -> Path:
    """Such a home with embedded stores, made once for all workers; only copied."""
    return make_once("judged", lambda home: make_judged_home(settings_of(home), open_new_lake))


def settings_of(home: Path | str, **values: Any) -> Settings:
    return make_settings(Path(home), judge_ratings_gate=0, objection_days=30, **values)


def hold_home(home: Path, copy: Path) -> Settings:
    """A copy of a home, and its settings."""
    settings = settings_of(copy)
    copy_home(home, settings)
    return settings


@pytest.fixture
def settings(judged_home: Path, tmp_path: Path) -> Settings:
    return hold_home(judged_home, tmp_path / "home")


def find_marked(settings: Settings, markers: tuple[str, ...] = MARKERS) -> list[str]:
    """Where a marker is: files of the home by their bytes, the lake's columns by their values."""
    found = [
        f"{path.relative_to(settings.home)}: {marker}"
        for path in sorted(settings.home.rglob("*"))
        if path.is_file()
        for marker in markers
        if marker.encode() in path.read_bytes()
    ]
    with open_lake(settings, read_only=True) as lake, lake.read_transaction():
        tables = lake.query("select distinct table_name from landings")["table_name"].to_list()
        for table in [*tables, "landings", "quarantine"]:
            text = lake.query(f"select * from {table}").write_json()
            found += [f"table {table}: {marker}" for marker in markers if marker in text]
    return found


def erase(settings: Settings, scope: Scope | None = None, **values: Any) -> Any:
    given = {"reason": "kept long enough", "erased_by": "cora", "now": LATER, **values}
    return erase_texts(settings, scope or Scope(month=MONTH), **given)


def read_faults(settings: Settings) -> set[str]:
    with open_ledger(settings.ledger_address) as ledger:
        found = {finding.name for finding in check_log(ledger, settings).findings}
        return found | {finding.name for finding in check_public_log(ledger, settings).findings}
