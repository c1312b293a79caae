"""The hourly seal, as Prefect runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schemas.errors import FlowError
from schemas.settings import Settings
from tasks.exam.closed import force_close
from tasks.exam.log import HeadKeeper
from tests.tasks.exam.world import World


def test_the_hourly_seal_tells_all_witnesses_and_fails_where_one_is_not_told(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tasks.exam.public.log import task  # Imports Prefect.

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
