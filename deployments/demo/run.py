"""The demo: a whole exam of two months on our own sample papers.

Candidates and judges are simulated. Everything goes through the same flows, ledger and lake as a real exam. Doing it
again changes nothing, and each analysis has as many rows as were counted once.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from deployments.command_line.printing import draw_table, print_note
from schemas.errors import UsageError, WorkbookError
from schemas.settings import Settings, is_home, load_settings
from warehouse.lake import share_lake

HERE = Path(__file__).parent
PAPERS = HERE / "papers"
MONTHS = ("2026-10", "2026-11")
ANNOTATORS = ("demo-annotator-1", "demo-annotator-2")
# Small enough for a laptop: three lineages of each of ten disciplines in a set, one repeat, all three styles.
DEMO_SETTINGS = {"PROCTOR_SET_SIZE": "30", "PROCTOR_REPEATS": "1"}
# What a month pays for: candidates, their judges, and the judges' anchor set where there is one.
_CALLS = ("calls", "judge_calls", "anchor_calls")
# Analysis → its rows after the demo, and after `--everything`: written by `python -m tests.benchmarks.demo_rows`.
ROW_COUNTS: Final = HERE / "row_counts.yaml"


@dataclass
class StageCost:
    """What a stage of the demo took; CPU of this process and of the children that it waited for."""

    stage: str
    wall_s: float
    cpu_s: float


@dataclass
class DemoResult:
    """What the demo made, and where it lies."""

    home: str
    report: str = ""
    league_report: str = ""
    lake: str = ""
    workbooks: list[str] = field(default_factory=list)
    bank_version: int = 0
    runs: list[str] = field(default_factory=list)
    new_calls: int = 0
    leaderboard: list[dict[str, Any]] = field(default_factory=list)
    text: str = ""
    analyses_with_rows: int = 0
    analyses_without_rows: dict[str, str] = field(default_factory=dict)
    stages: list[StageCost] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return asdict(self)


def run_demo(
    *, everything: bool = False, keep_server: bool = False, without_server: bool = False
) -> DemoResult:
    """Run the demo in PROCTOR_HOME; stops the server that it started, unless told to keep it.

    With `everything` also what fills every analysis that simulated data can fill.
    """
    if without_server:
        os.environ["PROCTOR_NO_SERVER"] = "true"
    settings = _set(DEMO_SETTINGS)
    result = DemoResult(home=str(settings.home), lake=settings.data_address)
    with _measured(result, "set-up"):
        _prepare_home(settings)
    with _measured(result, "server"):
        is_ours = not settings.no_server and _start_server(settings)
    try:
        with share_lake():
            _run_stages(settings, result)
            if everything:
                _run_rest(result)
            with _measured(result, "leaderboard"):
                _read_leaderboard(settings, result)
    finally:
        if is_ours and not keep_server:
            from deployments.flow_runs import send_what_is_left
            from deployments.flow_runs.server import stop_server

            with _measured(result, "server stopped"):
                send_what_is_left()
                stop_server(settings)
    return result


def _run_stages(settings: Settings, result: DemoResult) -> None:
    from deployments.demo.beside_the_exam import play_demo_league, report_demo_league
    from deployments.demo.simulation import serving_models
    from deployments.flow_runs import load_flow, run_flow

    with _measured(result, "import of Prefect"):
        if not settings.no_server:
            load_flow("ingest")
    with _measured(result, "ingest"):
        run_flow("ingest", paths=[str(PAPERS)])
    with _measured(result, "review"):
        result.workbooks = [str(path) for path in _review(settings)]
    with _measured(result, "review gate, augment, dedupe"):
        gate = run_flow("review_gate")
        result.bank_version = gate["bank_version"]
    with serving_models(settings):
        candidates = _list_candidates()
        for month in MONTHS:
            if month == MONTHS[-1]:
                # Its page compares with the first month, and the report of the second links to it.
                with _measured(result, "league"):
                    sent = play_demo_league(settings)["calls"].get("sent", 0)
                result.new_calls += sent
                with _measured(result, "league's page"):
                    result.league_report = str(report_demo_league(settings, is_new=sent > 0))
            with _measured(result, f"monthly {month}"):
                run = run_flow("monthly", month=month, candidates=candidates)
            result.runs.append(run["run_id"])
            result.new_calls += sum(run[calls].get("sent", 0) for calls in _CALLS)
            result.report = run["report"]
    with _measured(result, "audit log"):
        _land_log(settings)


def _land_log(settings: Settings) -> None:
    """Land what the last stages left in the audit log, as the nightly clean-up does."""
    from tasks.exam.closed import land_access_log
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        land_access_log(ledger, lake)


def _run_rest(result: DemoResult) -> None:
    from deployments.demo.everything import RATERS, SETTINGS, count_rows, run_everything

    settings = _set(SETTINGS)
    _add_annotators(settings, RATERS)
    paid = _count_calls(settings)
    result.runs += run_everything(settings, result.runs, _review, lambda stage: _measured(result, stage))
    result.new_calls += _count_calls(settings) - paid
    with _measured(result, "audit log of the rest"):
        _land_log(settings)
    with _measured(result, "rows of every analysis"):
        filled = count_rows(settings)
    result.analyses_with_rows = sum(count > 0 for count in filled.row_counts.values())
    result.analyses_without_rows = filled.without_rows


def _count_calls(settings: Settings) -> int:
    from warehouse.lake import open_lake

    with open_lake(settings, read_only=True) as lake:
        return int(lake.run_named("cost_by_month")["call_count"].sum())


def _set(settings: Mapping[str, str]) -> Settings:
    """Settings with these beside them, where nobody said otherwise."""
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    load_settings.cache_clear()
    return load_settings()


def _prepare_home(settings: Settings) -> None:
    """Stores, registry and annotators; what is there is left alone."""
    from deployments.home import create_home

    _check_home(settings)
    settings.home.mkdir(parents=True, exist_ok=True)
    if not settings.registry_path.exists():
        shutil.copyfile(HERE / "models.yaml", settings.registry_path)
    create_home(settings)
    _add_annotators(settings, ANNOTATORS)


def _check_home(settings: Settings) -> None:
    """Refuse a home of something else before its bank has the demo's questions; UsageError."""
    from tasks.models.registry import read_registry

    path = settings.registry_path
    is_there = path.exists()
    if not is_there and not is_home(settings.home):
        return
    there = read_registry(path).models if is_there else ()
    if missing := [name for name in read_registry(HERE / "models.yaml").models if name not in there]:
        lack = f"{path} has no model {missing[0]!r}" if is_there else f"there is no {path}"
        raise UsageError(
            f"{settings.home} is a home of something else than the demo: {lack}. Nothing was written. Set PROCTOR_HOME to an empty "
            "folder, then run `proctor demo` again."
        )


def _add_annotators(settings: Settings, names: Sequence[str]) -> None:
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.trust.users import add_user, read_user

    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        for name in names:
            if read_user(connection, name) is None:
                add_user(connection, user_id=name, role="annotator")


def _start_server(settings: Settings) -> bool:
    from deployments.flow_runs.server import read_state, start_server

    if os.environ.get("PREFECT_API_URL") or read_state(settings) is not None:
        return False
    print_note("Starting a local Prefect server (about 20 s) …")
    start_server(settings, with_worker=False)
    return True


def _review(settings: Settings) -> list[Path]:
    """Export the open batch's workbooks, fill them in as our annotators would, and import them."""
    from deployments.demo.reviewing import fill_workbook, read_verdicts
    from deployments.flow_runs import record_and_continue
    from tasks.review.channels import export_open_batches, read_workbooks
    from warehouse.ledger.engine.opening import open_ledger

    folder = settings.home / "demo" / "workbooks"
    verdicts = read_verdicts(HERE / "questions" / "review.yaml")
    with open_ledger(settings.ledger_address) as ledger:
        filled = export_open_batches(ledger, folder)
    for path in filled:
        fill_workbook(path, verdicts)
    # What follows is a stage of its own here, so that it is measured.
    done = record_and_continue(lambda ledger: read_workbooks(ledger, filled), starts_next=False)
    if done.report.refusals:
        raise WorkbookError(done.report.refusals[0].message)
    return filled or sorted(folder.glob("*.xlsx"))


def _list_candidates() -> list[str]:
    """Those of the demo's own registry: the rest of the demo adds others to that of the home."""
    from tasks.models.registry import read_registry

    return [model.name for model in read_registry(HERE / "models.yaml").candidates()]


def _read_leaderboard(settings: Settings, result: DemoResult) -> None:
    from tasks.report import describe_marks
    from warehouse.lake import open_lake
    from warehouse.lake.reading import find_query

    with open_lake(settings, read_only=True) as lake:
        frame = lake.run_named("leaderboard")
    result.leaderboard = frame.to_dicts()
    marks = sorted(
        {f"{name}: {about}" for one in frame["marks"] for _, name, about in describe_marks(one, "en")}
    )
    shown = find_query("leaderboard").shown
    result.text = "\n".join(draw_table(shown, frame.select(shown).rows(), title="\n".join(marks)))


@contextmanager
def _measured(result: DemoResult, stage: str) -> Iterator[None]:
    wall, cpu = time.perf_counter(), _cpu_s()
    print_note(f"demo: {stage} …")
    yield
    result.stages.append(StageCost(stage, time.perf_counter() - wall, _cpu_s() - cpu))


def _cpu_s() -> float:
    """CPU of this process and of the children that it has waited for."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def render_stages(stages: Sequence[StageCost]) -> list[str]:
    """The costs as lines of a table."""
    lines = [f"{'stage':<32}{'wall s':>8}{'CPU s':>8}"]
    lines += [f"{cost.stage:<32}{cost.wall_s:>8.1f}{cost.cpu_s:>8.1f}" for cost in stages]
    total = [sum(cost.wall_s for cost in stages), sum(cost.cpu_s for cost in stages)]
    return [*lines, f"{'total':<32}{total[0]:>8.1f}{total[1]:>8.1f}"]


def read_row_counts() -> dict[str, list[int]]:
    """Rows of every analysis after `proctor demo` and after `proctor demo --everything`."""
    return dict(yaml.safe_load(ROW_COUNTS.read_text("utf-8")))
