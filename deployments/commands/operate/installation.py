"""An installation set up and started: init, up, down, status, deploy, worker."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_note, print_result
from deployments.flow_runs.server import has_page, start_server, stop_server
from deployments.home import check_host, create_home, describe_home
from schemas.counting import say_count
from schemas.errors import ProctorError, UsageError, suggest
from schemas.settings import load_settings
from warehouse.stores.away import not_waiting

# Imported within a function: what brings Polars, NumPy, SQLAlchemy, asyncio or HTTP. Not every command here needs it.


def init(
    join: Annotated[
        bool,
        typer.Option(
            "--join", help="Make this home one of the installation that its ledger belongs to already."
        ),
    ] = False,
) -> None:
    """Create PROCTOR_HOME: ledger, lake, and a model registry to fill in.

    Harmless when it exists.

    A ledger or lake that is missing from a home that had one is not made again. With --join a second home shares a ledger on
    a server, or a store that was put in place on purpose becomes this home's.

    Example: PROCTOR_HOME=~/exam proctor init
    """
    settings = load_settings()
    made = create_home(settings, joins=join, tell=print_note)
    print_result(
        made,
        then=f"proctor start, which asks for all of it; or fill in {made['registry']}, then proctor ingest PAPERS",
    )


def up(
    with_worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Also start a worker for scheduled flows.")
    ] = True,
    with_ui: Annotated[
        bool,
        typer.Option(
            "--ui",
            help="Serve Prefect's web page too, and print its address and the password that it asks for.",
        ),
    ] = False,
) -> None:
    """Start a local Prefect server (and worker) in the background.

    Commands then start in a second.

    Example: proctor up --ui
    """
    from tasks.running.notices import read_recipients

    settings = load_settings()
    if with_worker:
        # What the worker would end for at once, where nobody looks.
        check_host(settings)
        read_recipients(settings.notify)
    state = start_server(settings, with_worker=with_worker, with_ui=with_ui)
    result = {"api_url": state.api_url, "server_pid": state.server_pid, "worker_pid": state.worker_pid}
    if with_ui:
        if not has_page(state):
            raise ProctorError(
                "The server runs already, without its page. `proctor down`, then `proctor up --ui` starts it with one."
            )
        result |= {"page": f"http://127.0.0.1:{state.port}", "password": state.auth}
    print_result(result, then="proctor deploy registers the scheduled flows; proctor down stops it")


def down() -> None:
    """Stop the server and worker of this PROCTOR_HOME.

    Nothing is lost: flows resume from the ledger.

    Example: proctor down
    """
    stopped = stop_server(load_settings())
    print_result(
        {"stopped": stopped},
        lines=[
            f"Stopped {say_count(len(stopped), 'process', 'processes')}."
            if stopped
            else "No server was running."
        ],
    )


def status() -> None:
    """Show what runs and what lies where.

    It shows server, ledger, lake, reviews that wait, and runs that are open.

    Example: proctor status --json
    """
    # Whoever looks is to see at once what does not answer.
    with not_waiting():
        description = describe_home(load_settings())
    if description["open_review_batches"]:
        then = "proctor review status"
    elif description["open_runs"]:
        then = f"proctor runs progress {description['open_runs'][0]}"
    else:
        then = "proctor start, which continues from here" if description["rows"] else "proctor ingest PAPERS"
    print_result(description, then=then)


def deploy(
    pool: Annotated[
        str,
        typer.Option("--pool", help="Where runs run: process (a worker on a host), docker or kubernetes."),
    ] = "process",
) -> None:
    """Register every flow of deployments/prefect.yaml with the server.

    Registered are schedules, events and the work pool. Doing it twice changes nothing.

    What a schedule starts needs a budget: set PROCTOR_BUDGET_USD first.

    Example: proctor up && proctor deploy
    """
    from deployments.flow_runs import POOL_KINDS, deploy_flows

    kind = next((one for one in POOL_KINDS if one == pool), None)
    if kind is None:
        raise UsageError(
            f"--pool {pool!r} is unknown.{suggest(pool, POOL_KINDS)} Use one of {', '.join(POOL_KINDS)}."
        )
    deployed = deploy_flows(load_settings(), pool=kind)
    print_result({"deployed": deployed}, then="proctor runs shows what has run")


def worker(
    name: Annotated[
        str,
        typer.Option("--name", help="Name of the worker, different on each host. Default: that of the host."),
    ] = "",
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Runs at once. Default: as many as are due.")
    ] = None,
    only_jobs: Annotated[
        bool,
        typer.Option(
            "--only-jobs", help="Only take sessions and judgements that wait now, then end; without Prefect."
        ),
    ] = False,
) -> None:
    """Run what deployments start on this host, until interrupted.

    They run for the server that PREFECT_API_URL names.

    Where the ledger is on a server, it also takes sessions and judgements of runs that are conducted elsewhere, and conducts a
    month's run in the place of a process that is gone.

    Example: PREFECT_API_URL=http://prefect.example:4200/api proctor worker --name host-2
    """
    from deployments.flow_runs.server import do_jobs, serve_worker

    if only_jobs:
        counts, is_left = do_jobs(load_settings(), name)
        print_result({**counts, "is_left": is_left}, then="proctor runs shows what was done")
        raise typer.Exit(1 if is_left else 0)
    serve_worker(load_settings(), name, limit=limit)
