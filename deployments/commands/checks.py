"""What a command looks up before anything is started: the registry, and the run."""

from __future__ import annotations

from schemas.settings import load_settings
from tasks.models.registry import check_callable, read_registry

# Imported within a function: what brings Polars, NumPy or SQLAlchemy. Not every check needs it.


def check_registry(names: list[str] | None = None) -> None:
    """Read the registry, and see that the models can be called, before anything is started."""
    registry = read_registry(load_settings().registry_path)
    check_callable(registry.get(name) for name in names or [])


def check_run(run_id: str) -> None:
    """Refuse a run that does not exist before anything is started; an empty id means every run."""
    from tasks.exam import month
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    if not run_id:
        return
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        month.check_run(ledger, lake, run_id)


def has_published() -> bool:
    """Whether any run was published."""
    from warehouse.lake import open_lake

    with open_lake(load_settings(), read_only=True) as lake:
        return bool(lake.units("editions"))


def list_unpublished() -> list[str]:
    """Judged runs that are not published, the oldest first: each is linked to those before."""
    from warehouse.lake import open_lake

    with open_lake(load_settings(), read_only=True) as lake:
        return [str(run_id) for run_id in lake.read("unpublished_runs")["run_id"]]
