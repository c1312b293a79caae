"""On a server threads of one process take locks of units before their lake's, in one order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from tests.warehouse.ledger.postgresql import PostgresqlServer
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Lake, open_lake
from warehouse.lake.locks import hold_all
from warehouse.lake.upkeep import compact_lake, maintenance, purge_files

pytestmark = pytest.mark.service


@pytest.mark.parametrize(
    "take_care",
    [
        pytest.param(lambda lake: compact_lake(lake, keep_days=0), id="compacting", marks=pytest.mark.long),
        pytest.param(lambda lake: purge_files(lake, ["sessions"]), id="purging"),
    ],
)
def test_a_landing_and_what_wants_every_unit_do_not_wait_for_each_other(
    take_care: Callable[[Lake], object],
    postgresql: PostgresqlServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The landing has its unit and is about to take the lake when the other asks for every unit."""
    settings = Settings.model_validate({"home": tmp_path / "home", "lake_catalog": postgresql.new_catalog()})
    has_unit, wants_all = threading.Event(), threading.Event()
    write = Lake._write_alone

    def write_late(self: Lake, *arguments: Any) -> None:
        has_unit.set()
        wants_all.wait(60)
        write(self, *arguments)

    def hold_all_seen(settings: Settings, timeout_s: float = 5.0) -> object:
        wants_all.set()
        return hold_all(settings, timeout_s)

    faults: list[BaseException] = []

    def land(lake: Lake) -> None:
        try:
            lake.land("sessions", "unit", session_frame(2))
        except BaseException as error:
            faults.append(error)

    with open_lake(settings, lock_timeout_s=5.0) as lake:
        lake.land("sessions", "before", session_frame(2, first=10))
        monkeypatch.setattr(Lake, "_write_alone", write_late)
        monkeypatch.setattr(maintenance, "hold_all", hold_all_seen)
        landing = threading.Thread(target=land, args=(lake,))
        landing.start()
        assert has_unit.wait(60)
        try:
            take_care(lake)
        finally:
            landing.join()
        assert faults == []
        assert lake.query("SELECT count(*) FROM sessions").item() == 4
