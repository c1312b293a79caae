"""The hourly seal, as Prefect runs it; and a ledger of before the public log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from alembic import command

from schemas.errors import FlowError
from schemas.settings import Settings
from tasks.exam.closing import force_close
from tasks.exam.log.heads import HeadKeeper
from tasks.exam.public import task
from tasks.exam.public.check import check_public_log
from tasks.exam.public.log_file import name_log_file, write_public_log
from tests.tasks.exam.world import World
from warehouse.ledger.connections import create_ledger_engine
from warehouse.ledger.migrate import make_config
from warehouse.ledger.opening import open_ledger


def test_the_hourly_seal_tells_all_witnesses_and_fails_where_one_is_not_told(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.jsonl"
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"

    def use(*witnesses: str) -> None:
        settings = world.settings.model_copy(update={"witnesses": witnesses})
        monkeypatch.setattr(Settings, "ledger_address", property(lambda _: url))
        monkeypatch.setattr(task, "load_settings", lambda: settings)

    HeadKeeper(world.ledger, world.settings)
    use(str(kept))
    assert task.seal_log.fn() == {"number": 1, "given": 1, "known": 0}
    assert task.seal_log.fn() == {"number": 1, "given": 0, "known": 1}
    use("command:false", str(kept))
    force_close(world.ledger, world.plan.run_id, "over")
    with pytest.raises(FlowError, match="1 of 2 witnesses") as failed:
        task.seal_log.fn()
    assert failed.value.result == {"number": 3, "given": 1, "known": 0}
    assert [json.loads(line)["number"] for line in kept.read_text().splitlines()] == [1, 3]


def test_a_ledger_of_before_the_log_begins_it_with_its_key_and_says_that_runs_were_before(
    world: World, tmp_path: Path
) -> None:
    signer = HeadKeeper(world.ledger, world.settings).signer
    world.ledger.close()
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    for file, side in ((f"sqlite:///{tmp_path / 'ledger.exam.sqlite'}", "exam"), (url, "ledger")):
        engine = create_ledger_engine(file)
        command.downgrade(make_config(engine, side), "0019")  # type: ignore[arg-type]
        engine.dispose()
    with open_ledger(url) as ledger:
        force_close(ledger, world.plan.run_id, "over")
        assert write_public_log(ledger, world.settings) == 3
        assert check_public_log(ledger, world.settings).findings == ()
    begin = json.loads(name_log_file(world.settings).read_text().splitlines()[0])
    assert begin["body"] == {
        "installation": "",
        "key": signer.key_id,
        "public_key": signer.public_key,
        "has_former_runs": True,
    }
