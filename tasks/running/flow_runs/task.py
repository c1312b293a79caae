"""What goes with a flow run: name, record, summary, budget and id.

The summary is of ids and counts, and the id is in every landing that the run makes.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import UUID

from schemas.errors import BudgetError, ClockError, ConflictError, StoreError, UsageError
from schemas.settings import is_home, load_settings
from tasks.running.counts import render_markdown
from tasks.running.flow_runs.record import (
    StartedRun,
    name_deployment,
    note_end,
    note_result,
    note_start,
    recorded_run,
)
from tasks.running.flow_runs.steps import find_flow_run
from tasks.running.log_lines import RunName, add_run_finder
from tasks.running.progress import read_last_progress
from warehouse.ledger.engine.opening import open_ledger
from warehouse.stores.homes import check_stores
from warehouse.stores.shared_files import check_shared_files, has_hosts

if TYPE_CHECKING:
    from prefect import Flow
    from prefect.client.schemas.objects import FlowRun, State, TaskRun

P = ParamSpec("P")
T = TypeVar("T")

# What a result names as a page that people open.
_PAGES: Final = ("report", "page")
_PROGRESS_EVERY_S: Final = 15.0


def name_run() -> str:
    """The name of the flow run that starts: `monthly-2026-12`, `ingest-3-files`, `judge-all`."""
    from prefect.runtime import flow_run

    return render_name(str(flow_run.flow_name), flow_run.parameters or {})


def render_name(name: str, given: dict[str, Any]) -> str:
    """The name of a run of the flow `name` with these parameters."""
    now = datetime.now(UTC)
    if "paths" in given:
        count = sum(_count_files(Path(path)) for path in given["paths"])
        return f"{name}-{count}-file{'' if count == 1 else 's'}"
    if "replay_id" in given:
        return f"{name}-{given['replay_id']}"
    if "league_id" in given:
        return f"{name}-{given['league_id'] or 'season'}"
    if "month" in given and (given["month"] or "table" not in given):
        named = given.get("run_id") or given["month"] or now.strftime("%Y-%m")
        repetition = given.get("repetition")
        return f"{name}-{named}" + (f"-{repetition}" if repetition else "")
    for parameter in ("run_id", "batch_id", "document_id"):
        if parameter in given:
            return f"{name}-{given[parameter] or 'all'}"
    if name == "seal":
        return f"{name}-{now:%Y-%m-%dT%H}"
    return f"{name}-{now.date().isoformat()}"


def run_plainly(found: Any, parameters: dict[str, Any]) -> Any:
    """Call the function of a flow, without Prefect, and record the run.

    Args:
        found: the flow, whether Prefect knows it or not.
        parameters: name → value.

    Raises:
        UsageError: for one that the flow does not have, one that is missing, and one that is none of its closed list.
    """
    try:
        bound = inspect.signature(found.fn).bind(**parameters)
    except TypeError as error:
        raise UsageError(f"The flow {found.name}: {error}.") from None
    bound.apply_defaults()
    # Prefect would look, too: what the flow pays for before it uses the value would be paid in vain.
    for name, kind in get_type_hints(found.fn).items():
        if get_origin(kind) is Literal and bound.arguments.get(name) not in get_args(kind):
            known = ", ".join(map(str, get_args(kind)))
            raise UsageError(
                f"The flow {found.name}: {name} is {bound.arguments[name]!r}, and can be {known}."
            )
    with recorded_run(found.name, render_name(found.name, bound.arguments)):
        return found.fn(**bound.arguments)


def publish_summary(result: dict[str, object]) -> None:
    """Put the ids and counts of a flow beside its run.

    They go to the ledger, and to Prefect with links to the pages that the flow wrote.
    """
    note_result(result)
    run = find_flow_run()
    if run is None:
        return
    from prefect.artifacts import create_link_artifact, create_markdown_artifact
    from prefect.runtime import flow_run

    name = str(run.name)
    key = str(flow_run.flow_name).replace("_", "-")
    create_markdown_artifact(key=key, markdown=render_markdown(result), description=name)
    for page in _PAGES:
        if path := result.get(page):
            create_link_artifact(
                key=f"{key}-{page}",
                link=Path(str(path)).resolve().as_uri(),
                link_text=f"{page} of {name}",
                description=name,
            )


def require_budget(budget_usd: float | None = None) -> None:
    """Raise BudgetError where a deployment's run has no limit on what it may spend.

    This holds where a deployment started this run: no person looks at its plan first.
    """
    if budget_usd is not None or load_settings().budget_usd is not None:
        return
    run = find_flow_run()
    if (run is not None and run.deployment_id) or name_deployment():
        raise BudgetError(
            "A deployment started this run, and no budget is set: nobody would see what it spends. Set PROCTOR_BUDGET_USD for the "
            "worker (or budget_usd in proctor.toml), restart it with `proctor down` and `proctor up`, then run it again. "
            "Nothing was called."
        )


def may_pass(task: object, run: TaskRun, state: State[Any]) -> bool:
    """Whether a task that failed is worth another try.

    It is worth one where a store was locked or away. What a gate refused stays refused.
    """
    return isinstance(state.data, StoreError) and not isinstance(state.data, ConflictError | ClockError)


# For tasks that end the same however often they are done, and whose stores or disks may be away for a moment.
RETRIED: Final[dict[str, Any]] = {
    "retries": 2,
    "retry_delay_seconds": [5, 30],
    "retry_condition_fn": may_pass,
}


def show_progress(function: Callable[P, T]) -> Callable[P, T]:
    """Show how far the task is beside its run in Prefect.

    It is a number, and of what, renewed every quarter of a minute.
    """

    @functools.wraps(function)
    def shown(*arguments: P.args, **named: P.kwargs) -> T:
        run = find_flow_run()
        if run is None:
            return function(*arguments, **named)
        artifact = _ProgressArtifact(f"{function.__name__.replace('_', '-')}-progress", run.id)
        try:
            return function(*arguments, **named)
        finally:
            artifact.end()

    return shown


class _ProgressArtifact:
    """What a thread of its own tells Prefect of the work that counts in this process."""

    def __init__(self, key: str, flow_run_id: UUID) -> None:
        self._key = key
        self._flow_run_id = flow_run_id
        self._artifact_id: UUID | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell_for_ever, name=key, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Tell once more, and stop."""
        self._ended.set()
        self._thread.join(timeout=10.0)

    def _tell_for_ever(self) -> None:
        while True:
            is_over = self._ended.wait(_PROGRESS_EVERY_S)
            # The run does not end because nobody can be told how far it is.
            with suppress(Exception):
                self._tell()
            if is_over:
                return

    def _tell(self) -> None:
        found = read_last_progress()
        if found is None or not found.total:
            return
        from prefect.client.orchestration import get_client
        from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate

        share = round(100.0 * min(found.done, found.total) / found.total, 1)
        about = f"{found.title}: {found.done} of {found.total}"
        with get_client(sync_client=True) as client:
            if self._artifact_id is None:
                made = client.create_artifact(
                    ArtifactCreate(
                        type="progress",
                        key=self._key,
                        data=share,
                        description=about,
                        flow_run_id=self._flow_run_id,
                    )
                )
                self._artifact_id = made.id
            else:
                client.update_artifact(self._artifact_id, ArtifactUpdate(data=share, description=about))


def check_place() -> None:
    """Pass when a run that a worker started has its home, and what its installation shares.

    Raises StoreError where the home was moved or its disk is away, and nothing is made in its place; UsageError for a host that differs.

    A run that a command started was looked at before it began.
    """
    run = find_flow_run()
    if run is None or run.deployment_id is None:
        return
    settings = load_settings()
    if not is_home(settings.home):
        raise StoreError(
            f"{settings.home} holds no home of Proctor any more, and nothing was made in its place. Put it back (is its disk "
            "mounted, was it moved?), or start the worker again with the PROCTOR_HOME that holds; then run this again."
        )
    check_stores(settings)
    if has_hosts(settings):
        with open_ledger(settings.ledger_address) as ledger:
            check_shared_files(settings, ledger)


# Prefect's worker, which tells of what a run could not note itself, gives these by name: flow, flow_run, state.
def _note_running(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    run, deployment = flow_run, name_deployment()
    started_by = "command" if deployment is None else "person"
    due_at = None
    if run.deployment_id is not None:
        from prefect.client.orchestration import get_client

        with get_client(sync_client=True) as client:
            deployment = client.read_deployment(run.deployment_id).name
        creator = None if run.created_by is None else run.created_by.type
        started_by = "schedule" if run.auto_scheduled else "event" if creator == "AUTOMATION" else "person"
        if run.auto_scheduled and run.expected_start_time is not None:
            due_at = run.expected_start_time.astimezone(UTC).isoformat(timespec="microseconds")
    note_start(StartedRun(str(run.id), flow.name, run.name, deployment, started_by, due_at))


def _note_ended(ending: str) -> Callable[[Flow[..., Any], FlowRun, State[Any]], None]:
    def note(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
        # Prefect keeps what ended a run as it is, or in a record of its result.
        error = getattr(state.data, "result", state.data)
        note_end(RunName(str(flow_run.id), flow_run.name), ending, error)

    note.__name__ = f"note_{ending}"
    return note


# Given to every flow: its runs stand in the ledger.
RECORDED: Final[dict[str, Any]] = {
    "on_running": [_note_running],
    "on_completion": [_note_ended("completed")],
    "on_failure": [_note_ended("failed")],
    "on_crashed": [_note_ended("crashed")],
    "on_cancellation": [_note_ended("cancelled")],
}


def _find_run() -> RunName | None:
    run = find_flow_run()
    return None if run is None else RunName(str(run.id), run.name)


add_run_finder(_find_run)


def _count_files(path: Path) -> int:
    return sum(below.is_file() for below in path.rglob("*")) if path.is_dir() else 1
