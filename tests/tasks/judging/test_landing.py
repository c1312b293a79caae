"""What was judged is not judged again, unless the prompt is another one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from deployments.model_server import RunningServer
from schemas.errors import RegistryError, UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.judging import judge as judging
from tasks.judging import prompts
from tasks.judging.landing import judge_landed
from tasks.running import Progress
from tests.fresh import copy_home, open_new_lake
from tests.tasks.judging.test_unparsed import land_session
from tests.tasks.models.simulation import start_server
from tests.warehouse.first_form import unpack_first_home
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

REGISTRY = """
providers:
  simulated: {base_url: simulated}
models:
  judge: {provider: simulated, organisation: Lab, roles: [judge], is_open: false}
"""


class Room(NamedTuple):
    settings: Settings
    ledger: Ledger
    lake: Lake
    server: RunningServer

    def judge(self, run_id: str | None = "run-1", entry: str = "is_open: false") -> int:
        """Judge by a registry whose judge has this entry; returns how many were judged."""
        self.settings.registry_path.write_text(REGISTRY.replace("is_open: false", entry), "utf-8")
        with Progress("judge: responses") as progress:
            return asyncio.run(judge_landed(self.ledger, self.lake, self.settings, run_id, progress)).judged


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed home with a session that nobody has judged; only copied."""
    settings = Settings(home=tmp_path_factory.mktemp("landed") / "home")
    with open_new_lake(settings) as lake:
        land_session(lake, questions=2)
    return settings.home


@pytest.fixture
def room(landed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """Such a home of its own, and a judge that answers."""
    settings = Settings(home=tmp_path / "home")
    copy_home(landed, settings)
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        start_server(b"", judge={"kind": "judge"}) as server,
    ):
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        yield Room(settings, ledger, lake, server)


@pytest.mark.long
def test_judging_a_home_of_the_first_form_again_makes_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = unpack_first_home(tmp_path)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        before = lake.query("select count(*) from judgements").item()
        runs = lake.query("select run_id from runs order by run_id")["run_id"].to_list()
        for run_id in (None, *runs):
            with Progress("judge: responses") as progress:
                summary = asyncio.run(judge_landed(ledger, lake, settings, run_id, progress))
            assert (summary.judged, summary.unparsed, summary.failed, dict(summary.calls)) == (0, 0, 0, {})
            assert bool(summary.judges) is (run_id is not None)
        assert lake.query("select count(*) from judgements").item() == before


def test_another_wording_is_judged_again_beside_the_first_and_changes_nothing_that_was_shown(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = room.lake

    def read_units() -> list[tuple[str, str, int]]:
        return lake.query(
            "select landing_unit, prompt_version, count(*) from judgements group by all order by all"
        ).rows()

    assert (room.judge(None), room.judge()) == (2, 0)
    assert read_units() == [("s1/judge/prompt-1", "1/zh", 2)]
    shown = lake.query("select * from scored_responses order by seq")

    monkeypatch.setattr(prompts, "VERSION", "2")
    monkeypatch.setitem(prompts.PROMPTS, "zh", "请评阅。" + prompts.PROMPTS["zh"])
    assert room.judge(None) == 0, "without a run, a changed prompt must not pay for the history again"
    assert (room.judge(), room.judge()) == (2, 0)
    assert room.server.state.requests["judge"] == 4
    assert read_units() == [("s1/judge/prompt-1", "1/zh", 2), ("s1/judge/prompt-2", "2/zh", 2)]
    assert lake.query("select * from scored_responses order by seq").equals(shown)


def test_a_new_judge_does_not_pay_for_what_was_published_before_it_came(room: Room) -> None:
    assert room.judge(None) == 2
    edition = {"edition_id": "run-1/1", "run_id": "run-1", "month": "2026-10", "is_simulated": True}
    table = get_table("editions")
    room.lake.land("editions", "run-1/1", fill_rows(table, [edition]).drop("landing_unit"))
    land_session(room.lake, "s2", questions=2)
    newcomer = (
        "is_open: false}\n  newcomer: {provider: simulated, endpoint_model: judge, organisation: Lab,"
        " roles: [judge], is_open: false"
    )
    assert room.judge(None, newcomer) == 2, "a session that closed after the edition, by the judge of its run"
    assert room.lake.query("select distinct judge from judgements").rows() == [("judge",)]
    assert (room.judge(None, newcomer), room.judge("run-1", newcomer)) == (0, 4)


def test_one_run_is_judged_by_one_entry_of_the_registry(room: Room) -> None:
    first, other = "parameters: {temperature: 0}", "parameters: {temperature: 1}"
    assert room.judge(entry=first) == 2
    # All of it is judged already: who judges other runs may have changed.
    assert room.judge(entry=other) == 0
    land_session(room.lake, "s2", questions=2)
    for changed in (other, f"endpoint_model: judge-2, {first}"):
        with pytest.raises(RegistryError, match="judge has judged 1 sessions of run run-1 by another entry"):
            room.judge(entry=changed)
    # Its answers are those of the first, and its calls, too: they are paid for once, and told as the same.
    assert room.judge(entry=first) == 2
    land_session(room.lake, "s3", questions=2)
    assert room.judge(entry=first) == 2
    assert room.server.state.requests == {"judge": 2}


def test_who_sat_a_run_before_it_became_a_judge_judges_none_of_it(room: Room) -> None:
    settings, ledger, lake, _ = room
    settings.registry_path.write_text(REGISTRY.replace("  judge:", "  sim:"), "utf-8")
    progress = Progress("judge: responses")
    with pytest.raises(UsageError, match="sim sat run run-1, and would judge its own answers"):
        asyncio.run(judge_landed(ledger, lake, settings, "run-1", progress))
    assert asyncio.run(judge_landed(ledger, lake, settings, None, progress)).judges == []


def test_another_wording_makes_other_units() -> None:
    assert judging.name_unit("s", "judge") == "s/judge/prompt-1"
    assert judging.name_unit("s", "judge", judging.read_wording("2/zh")) == "s/judge/prompt-2"
    assert judging.name_unit("s", "judge", occasion="again-1") == "s/judge/prompt-1/again-1"
