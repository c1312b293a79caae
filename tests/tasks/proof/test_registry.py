"""Commands close the registry; an edit by hand is told until a run closes it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import func, select

from schemas.settings import Settings
from tasks.exam.log import LogFinding
from tasks.proof import check_stages
from tests.deployments.test_cli import invoke
from warehouse.lake import open_lake
from warehouse.ledger.engine.logs.stages import close_rows
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import access_log


def find(home: Path) -> tuple[LogFinding, ...]:
    settings = Settings(home=home)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        return check_stages(ledger, lake, settings).findings


def test_commands_close_it_and_an_edit_by_hand_is_told(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert invoke(home, "init").exit_code == 0
    entry = ("--url", "http://127.0.0.1:9/v1", "--organisation", "Lab", "--open")
    for name in ("lab-1", "lab-2"):
        assert invoke(home, "models", "add", name, *entry).exit_code == 0
        assert find(home) == ()
    assert invoke(home, "models", "remove", "lab-1").exit_code == 0
    assert find(home) == ()

    registry = home / "models.yaml"
    registry.write_text(registry.read_text("utf-8").replace("127.0.0.1:9", "127.0.0.1:8"), "utf-8")
    [told] = find(home)
    assert told.name == "registry_changed"
    assert "edited by hand" in told.reason
    assert "the next run closes it" in told.reason
    # What a command changes beside it is closed with it: the file is then what somebody meant.
    assert invoke(home, "models", "add", "lab-3", *entry).exit_code == 0
    assert find(home) == ()


def test_closing_begins_once_however_much_the_first_transaction_closes(tmp_path: Path) -> None:
    begun = select(func.count()).where(access_log.c.action == "begin_stages")
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        with ledger.write() as connection:
            for unit in ("models", "prices"):
                close_rows(connection, "registry", unit, [((unit,), ("1",))])
        with ledger.read() as connection:
            assert connection.execute(begun).scalar_one() == 1
