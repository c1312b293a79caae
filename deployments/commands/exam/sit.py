"""`exam sit`: continue a planned run in house, or sit one session over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from deployments.command_line.printing import print_note, print_result, render_duration
from deployments.commands.checks import check_registry, check_run
from deployments.commands.options import NoServer
from deployments.flow_runs import run_flow
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.exam import HttpCaller
from tasks.exam.outside import (
    CommandAnswerer,
    Credentials,
    EndpointAnswerer,
    OutsideProgress,
    OutsideReport,
    OutsideSitter,
    SittingState,
    make_own_model,
    read_signing_key,
)
from tasks.models.registry import read_registry
from tasks.running import HEARTBEAT_S

_TOKEN_VARIABLE = "PROCTOR_EXAM_TOKEN"  # noqa: S105 - the name of a variable
_PASSWORD_VARIABLE = "PROCTOR_EXAM_PASSWORD"  # noqa: S105 - the name of a variable


@dataclass(frozen=True)
class SeatOptions:
    """Whose session it is, and what shows it."""

    session_id: Annotated[
        str, typer.Option("--session", help="Session; `practice` for public questions. Default: the token's.")
    ] = ""
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", help=f"File with the token. Default: the variable {_TOKEN_VARIABLE}."),
    ] = None
    user_id: Annotated[
        str, typer.Option("--user", help=f"Ask for tokens as this user; password in {_PASSWORD_VARIABLE}.")
    ] = ""


@dataclass(frozen=True)
class AnswererOptions:
    """Who answers: a model at an address, one of the registry, or a program."""

    endpoint: Annotated[
        str, typer.Option("--endpoint", help="OpenAI-compatible address of the model, with /v1.")
    ] = ""
    model: Annotated[
        str, typer.Option("--model", help="Model at the endpoint; without --endpoint, one of the registry.")
    ] = ""
    key_variable: Annotated[
        str, typer.Option("--key-variable", help="Variable with the endpoint's API key.")
    ] = ""
    parameters: Annotated[
        str, typer.Option("--parameters", help="JSON that goes into every request, e.g. max_tokens.")
    ] = ""
    command: Annotated[
        str, typer.Option("--command", help="Program that answers: question as JSON in, answer as text out.")
    ] = ""
    sees_pictures: Annotated[
        bool,
        typer.Option("--sees-pictures", help="Send the model at the endpoint the pictures of questions."),
    ] = False


@dataclass(frozen=True)
class SittingOptions:
    """How a session is sat: what signs the answers, where they are kept, how long to wait."""

    key: Annotated[
        Path | None, typer.Option("--key", help="Ed25519 private key (PEM) that signs every answer.")
    ] = None
    state: Annotated[
        Path | None, typer.Option("--state", help="Folder of the sitting. Default: proctor-exam/SESSION.")
    ] = None
    timeout_s: Annotated[float, typer.Option("--timeout", min=1, help="Seconds a model may think.")] = 1800.0
    patience_s: Annotated[
        float, typer.Option("--patience", min=0, help="Seconds to wait for a server that is away.")
    ] = 3600.0


def sit(
    run_id: Annotated[str, typer.Argument(help="The run; none with --url.")] = "",
    url: Annotated[
        str, typer.Option("--url", help="Exam API to sit a session at, with a model of one's own.")
    ] = "",
    *,
    seat: SeatOptions,
    who: AnswererOptions,
    sitting: SittingOptions,
    no_server: NoServer = False,
) -> None:
    """Continue a planned run in house; with --url, sit one session as an outside candidate.

    With --url it renews the lease while the model thinks and waits for a server that is away. It keeps every answer before it
    is sent: stop and start it as you like. Token and password never stand on the command line. A home is not needed.

    Example: proctor exam sit --url https://exam.example --endpoint http://127.0.0.1:8000/v1 --model my-model
    """
    if bool(run_id) == bool(url):
        raise UsageError("Name a run to continue in house, or give --url to sit a session over HTTP.")
    if not url:
        _sit_in_house(run_id, no_server=no_server)
        return
    if sum(map(bool, (who.endpoint or who.model, who.command))) != 1:
        raise UsageError(
            "Say who answers: --endpoint ADDRESS --model NAME, --model NAME of the registry, or --command PROGRAM."
        )
    answerer = _make_answerer(who, sitting.timeout_s)
    report = asyncio.run(_sit_over_http(url, seat, answerer, sitting))
    _print_report(report)
    if not report.is_finished:
        raise typer.Exit(1)


def _sit_in_house(run_id: str, *, no_server: bool) -> None:
    check_registry()
    check_run(run_id)
    from deployments.commands.exam.evaluate import render_exam

    result = run_flow("evaluate", without_server=no_server, run_id=run_id)
    then = f"proctor {'exam sit' if result['open_sessions'] else 'judge --run'} {run_id}"
    print_result(result, lines=render_exam(result), then=then)
    if result["open_sessions"]:
        raise typer.Exit(1)


def _make_answerer(who: AnswererOptions, timeout_s: float) -> EndpointAnswerer | CommandAnswerer:
    if who.command:
        return CommandAnswerer(who.command, timeout_s=timeout_s)
    try:
        chosen = json.loads(who.parameters or "{}")
        if not isinstance(chosen, dict):
            raise ValueError
    except ValueError:
        raise UsageError("--parameters is one JSON object, for example '{\"max_tokens\": 4096}'.") from None
    if not who.model:
        raise UsageError("--endpoint needs --model: the name that is sent to it.")
    if who.endpoint:
        return EndpointAnswerer(
            make_own_model(
                who.model, who.endpoint, who.key_variable or None, chosen, sees_pictures=who.sees_pictures
            ),
            timeout_s=timeout_s,
        )
    found = read_registry(load_settings().registry_path).get(who.model)
    return EndpointAnswerer(replace(found, parameters={**found.parameters, **chosen}), timeout_s=timeout_s)


async def _sit_over_http(
    url: str, seat: SeatOptions, answerer: EndpointAnswerer | CommandAnswerer, sitting: SittingOptions
) -> OutsideReport:
    credentials = Credentials(
        token=os.environ.get(_TOKEN_VARIABLE, "").strip(),
        token_file=seat.token_file,
        user_id=seat.user_id,
        password=os.environ.get(_PASSWORD_VARIABLE, ""),
    )
    if not (credentials.token or seat.token_file or (seat.user_id and credentials.password)):
        raise UsageError(
            f"There is no token: set {_TOKEN_VARIABLE}, name a --token-file, or give --user with {_PASSWORD_VARIABLE} set."
        )
    signing = None if sitting.key is None else read_signing_key(sitting.key)
    advice = "When it is back, run this command again: it continues where it stopped."
    try:
        async with HttpCaller(
            url, patience_s=sitting.patience_s, longest_wait_s=30.0, advice=advice
        ) as caller:
            chosen = seat.session_id or await credentials.find_session(caller)
            folder = sitting.state or Path("proctor-exam") / "".join(
                c if c.isalnum() or c in "-_" else "_" for c in chosen
            )
            with SittingState(folder, url, chosen) as kept:
                sitter = OutsideSitter(
                    caller, credentials, chosen, kept, answerer, key=signing, progress=_Told()
                )
                return await sitter.sit()
    finally:
        await answerer.close()


class _Told:
    """A line now and then: done, pace, time left; of practice questions each one's result."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, progress: OutsideProgress) -> None:
        if progress.result is not None:
            is_correct = progress.result.get("is_correct")
            word = "not marked" if is_correct is None else "right" if is_correct else "wrong"
            print_note(f"question {progress.done} of {progress.total}: {word}")
        is_due = time.monotonic() - self._last >= HEARTBEAT_S or progress.done == progress.total
        if not is_due or progress.per_minute is None or progress.left_s is None:
            return
        self._last = time.monotonic()
        print_note(
            f"{progress.session_id}: {progress.done} of {progress.total} answered, {progress.per_minute:.1f} a minute, "
            f"{render_duration(progress.left_s)} left"
        )


def _print_report(report: OutsideReport) -> None:
    result: dict[str, Any] = asdict(report)
    counts = (
        f"{report.session_id}: {report.answered_count} of {report.question_count} answered, {report.sent_count} of them now"
        + (f" ({report.replayed_count} kept from an earlier call)" if report.replayed_count else "")
        + (f"; {report.late_count} too late" if report.late_count else "")
    )
    # Of a session that could not be opened nothing is known.
    lines = [counts] * bool(report.question_count) + [report.end_reason] * bool(report.end_reason)
    print_result(result, lines=lines)
