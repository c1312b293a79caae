"""The registry: models list|add|remove|check, organisations."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import date
from typing import Annotated, Any

import typer

from deployments.command_line import group_with_default
from deployments.command_line.printing import is_json, print_note, print_records, print_result
from deployments.commands.options import split_names
from deployments.home import drop_examples
from schemas.errors import GateError, UsageError
from schemas.settings import Settings, load_settings
from tasks.models.registry import SIMULATED_URL, add_model, close_registry, read_registry, remove_model

# Imported within a function: what brings SQLAlchemy or asyncio. Not every command here needs it.

_MODEL_COLUMNS = (
    "model",
    "organisation",
    "family",
    "released",
    "provider",
    "roles",
    "mode",
    "reexamine_every",
    "input_price_usd",
    "output_price_usd",
    "key_variable",
    "has_key",
    "is_simulated",
    "is_outside",
    "batch_price_share",
)
_CHECK_COLUMNS = ("model", "is_reachable", "has_key", "is_name_known", "has_price", "latency_ms", "cost_usd")

_BATCH_COLUMNS = (
    "batch_id",
    "run_id",
    "model",
    "state",
    "provider_status",
    "call_count",
    "done_count",
    "failed_count",
    "started_at",
)

models_app = typer.Typer(cls=group_with_default("list"))


@dataclass(frozen=True)
class ModelOptions:
    """Where a model is and whose; what is left out can be filled in later (docs/models.md)."""

    url: Annotated[
        str,
        typer.Option(
            "--url",
            help="Address of its API, as https://api.lab.example/v1. `outside`: it sits with a client of its own.",
        ),
    ]
    organisation: Annotated[
        str, typer.Option("--organisation", help="Who owns it: a question is put to an organisation once.")
    ]
    key_variable: Annotated[
        str, typer.Option("--key-variable", help="Environment variable with the key. Empty: none is needed.")
    ] = ""
    key_command: Annotated[
        str, typer.Option("--key-command", help="Program that prints the key, in place of a variable.")
    ] = ""
    called: Annotated[str, typer.Option("--called", help="Its name at that address. Default: NAME.")] = ""
    api: Annotated[str, typer.Option("--api", help="The API that it speaks. Default: OpenAI's.")] = ""
    roles: Annotated[
        str, typer.Option("--roles", help="candidate, reference, judge, generator; with commas.")
    ] = "candidate"
    family: Annotated[str, typer.Option("--family", help="Models that are versions of one another.")] = ""
    released: Annotated[str, typer.Option("--released", help="Day of its release, YYYY-MM-DD.")] = ""
    input_price_usd: Annotated[
        float | None, typer.Option("--input-price", min=0, help="Dollars per million tokens read.")
    ] = None
    output_price_usd: Annotated[
        float | None, typer.Option("--output-price", min=0, help="Dollars per million tokens written.")
    ] = None
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Longest reply.")] = 4096
    offers_schema: Annotated[
        bool, typer.Option("--schema", help="Its API holds replies to a JSON schema: judges are asked so.")
    ] = False
    sees_pictures: Annotated[
        bool, typer.Option("--sees-pictures", help="It is sent the pictures of questions.")
    ] = False
    is_open: Annotated[bool, typer.Option("--open", help="Its weights are open.")] = False
    is_simulated: Annotated[
        bool, typer.Option("--simulated", help="It is no model: what it answers is marked everywhere.")
    ] = False


@models_app.command(name="list")
def list_models() -> None:
    """List the registry: candidates, judges and prices.

    It also shows whether each key variable is set (never the key).

    Example: proctor models
    """
    registry = read_registry(load_settings().registry_path)
    rows = [
        {
            "model": model.name,
            "organisation": model.organisation,
            "family": model.family,
            "released": None if model.release_date is None else model.release_date.isoformat(),
            "provider": model.provider,
            "roles": " ".join(model.roles),
            "mode": model.mode,
            "reexamine_every": model.reexamine_every,
            "input_price_usd": model.input_price_usd,
            "output_price_usd": model.output_price_usd,
            "key_variable": model.key_variable,
            "has_key": model.has_key,
            "is_simulated": model.is_simulated,
            "is_outside": model.is_outside,
            "batch_price_share": None if model.batch is None else model.batch.price_share,
        }
        for model in registry.models.values()
    ]
    print_records(_MODEL_COLUMNS, rows)
    if not is_json():
        print_note(f"Registry: {registry.path}. Next: proctor exam plan")


@models_app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Its name here, on boards and in queries.")],
    *,
    entry: ModelOptions,
    again: Annotated[bool, typer.Option("--again", help="It is registered: replace its entry.")] = False,
) -> None:
    """Add a model to the registry; comments and other entries stay as they are.

    The example that `proctor init` wrote for its role goes, unless somebody has changed it.

    No key is written: name the environment variable that holds it, or the program that prints it.

    Example: proctor models add lab-2 --url https://api.lab.example/v1 --organisation Lab --key-variable LAB_API_KEY --roles candidate,reference

    Example: proctor models add lab-judge --url https://api.lab.example/v1 --organisation Lab --key-variable LAB_API_KEY --roles judge
    """
    fields: dict[str, Any] = {"organisation": entry.organisation}
    if entry.called:
        fields["endpoint_model"] = entry.called
    if entry.family:
        fields["family"] = entry.family
    if entry.released:
        fields["release_date"] = _read_day(entry.released)
    fields["is_open"] = entry.is_open
    fields["roles"] = split_names(entry.roles) or []
    fields["parameters"] = {"temperature": 0, "max_tokens": entry.max_tokens}
    for price in ("input_price_usd", "output_price_usd"):
        if (value := getattr(entry, price)) is not None:
            fields[price] = value
    if entry.offers_schema:
        fields["offers_schema"] = True
    if entry.sees_pictures:
        fields["sees_pictures"] = True
    provider: dict[str, Any] = {"base_url": entry.url.rstrip("/")}
    provider |= {"key_variable": entry.key_variable} if entry.key_variable else {}
    provider |= {"key_command": entry.key_command} if entry.key_command else {}
    provider |= {"api": entry.api} if entry.api else {}
    provider |= {"is_simulated": True} if entry.is_simulated else {}
    settings = load_settings()
    path = settings.registry_path
    added = add_model(path, name, fields, provider, is_replaced=again)
    gone = [] if added.base_url == SIMULATED_URL else drop_examples(settings, added.roles)
    _close(settings)
    print_result(
        {
            "model": added.name,
            "provider": added.provider,
            "roles": list(added.roles),
            "file": str(path),
            "examples_removed": gone,
        },
        then=f"proctor evaluate --outside {added.name}"
        if added.is_outside
        else f"proctor models check {added.name}",
    )


def _close(settings: Settings) -> None:
    """Close the registry in the audit log, as whoever changes it by a command means it to be."""
    from warehouse.ledger.engine.opening import open_ledger

    with open_ledger(settings.ledger_address) as ledger:
        close_registry(ledger, settings)


@models_app.command("remove")
def remove(name: Annotated[str, typer.Argument(help="Its name in the registry.")]) -> None:
    """Take a model out of the registry; comments and other entries stay as they are.

    What it answered stays, on boards and in queries.

    Example: proctor models remove lab-1
    """
    settings = load_settings()
    path = settings.registry_path
    remove_model(path, name)
    _close(settings)
    print_result({"removed": name, "file": str(path)}, then="proctor models")


@models_app.command()
def check(
    models: Annotated[str, typer.Argument(help="Only these, with commas. Default: all.")] = "",
    timeout_s: Annotated[float, typer.Option("--timeout", min=1, help="Seconds to wait for each.")] = 60.0,
    judge: Annotated[
        str,
        typer.Option(
            "--judge", help="Instead: let this judge judge 30 answers of known worth, and say whether it can."
        ),
    ] = "",
) -> None:
    """Ask every registered model one tiny question.

    It checks that the model is reachable, its key set, its name known to the endpoint, and its price registered.

    Costs a fraction of a cent per model, which is said, and stands in the ledger. Exit code 1 when something is to be mended.

    With --judge a judge is tried before money is spent on it: reference answers, wrong options, nonsense, answers to other questions and
    echoes, to built-in questions in Chinese and English. Exit code 3 when it would not pass the gate `judge_controls`.

    Example: proctor models check lab-2,lab-2-thinking

    Example: proctor models check --judge sim-judge-north
    """
    if judge:
        if models:
            raise UsageError("Name models to check, or one judge to try with --judge; not both.")
        _try_judge(judge)
        return
    import asyncio

    from tasks.models import check_models
    from warehouse.ledger.engine.opening import open_ledger

    settings = load_settings()
    registry = read_registry(settings.registry_path)
    all_called = [model.name for model in registry.models.values() if not model.is_outside]
    chosen = [registry.get(name) for name in split_names(models) or all_called]
    with open_ledger(settings.ledger_address) as ledger:
        found = asyncio.run(check_models(ledger, settings, chosen, timeout_s=timeout_s))
    cost_usd = sum(one.cost_usd or 0.0 for one in found)
    bad = [one for one in found if not one.is_well]
    if is_json():
        print_result({"models": [asdict(one) for one in found], "cost_usd": cost_usd})
    else:
        print_records(_CHECK_COLUMNS, [asdict(one) for one in found])
        for one in bad:
            print_note(f"{one.model}: {one.problem}")
        print_note(
            f"{len(found) - len(bad)} of {len(found)} models answer as they should. Cost: ${cost_usd:.6f}."
        )
    if bad:
        raise typer.Exit(1)


def _read_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"--released {text!r} is no day: write it as YYYY-MM-DD, for example 2026-05-20."
        ) from None


def _try_judge(name: str) -> None:
    """Let a judge judge the built-in control answers, and print what it gave them."""
    import asyncio

    from tasks.judging import estimate_judging
    from tasks.judging.controls import TRIAL_CONTROLS, try_controls
    from tasks.statistics.agreement import describe_faults
    from warehouse.ledger.engine.opening import open_ledger

    settings = load_settings()
    judge = read_registry(settings.registry_path).get(name)
    expected = estimate_judging(judge, TRIAL_CONTROLS)
    price = "at an unknown price" if expected is None else f"about ${expected:.4f}"
    if not is_json():
        print_note(f"{name} is asked to judge {TRIAL_CONTROLS} answers of known worth: {price}.")
    with open_ledger(settings.ledger_address) as ledger:
        verdict, rows = asyncio.run(try_controls(ledger, settings, judge))
    lines = [
        f"{row['kind']}: {_describe_mean(row['mean_stars'])} on {row['answers']}"
        + (f", {row['unread']} unreadable" if row["unread"] else "")
        for row in rows
    ]
    found = {
        "judge": name,
        "expected_cost_usd": expected,
        "kinds": rows,
        "answers": verdict.count,
        "wrong": verdict.wrong_count,
        "is_fit": verdict.is_fit,
    }
    passes = f"{name} judged {verdict.wrong_count} of {verdict.count} wrong and would pass the gate judge_controls."
    print_result(found, lines=[*lines, *([passes] if verdict.is_fit else [])])
    if not verdict.is_fit:
        raise GateError(
            f"{name} would not pass the gate judge_controls: it {describe_faults(verdict, settings.control_wrong_gate)}. Judge with "
            "another model, or mend how this one is asked (`parameters`, `judge_kind` in the registry)."
        )


def _describe_mean(stars: float | None) -> str:
    return "no stars that could be read" if stars is None else f"{stars:.2f} stars"


@models_app.command()
def batches(
    collect: Annotated[
        bool, typer.Option("--collect", help="First ask the providers, and book what has been answered.")
    ] = False,
    cancel: Annotated[
        str, typer.Option("--cancel", metavar="BATCH", help="Ask the provider to stop this one.")
    ] = "",
) -> None:
    """List the batches of calls that providers answer in their own time, newest first.

    What is booked here is landed by the next `proctor judge`, which collects by itself, too. A batch that is cancelled ends with
    what was done by then; that much is billed. Exit code 1 when a provider could not be asked.

    Example: proctor models batches --collect
    """
    import asyncio

    from tasks.models.batches import cancel_open_batch, collect_batches
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.money.batches import list_call_batches

    settings = load_settings()
    problems: list[str] = []
    with open_ledger(settings.ledger_address) as ledger:
        if cancel or collect:
            registry = read_registry(settings.registry_path)
            if cancel:
                status = asyncio.run(cancel_open_batch(ledger, settings, registry, cancel))
                print_note(f"{cancel} is {status}. Collect what it has answered in a while.")
            if collect:
                problems = asyncio.run(collect_batches(ledger, settings, registry)).problems
        with ledger.read() as connection:
            rows = [batch.as_values() for batch in reversed(list_call_batches(connection))]
    print_records(_BATCH_COLUMNS, rows)
    for problem in problems:
        print_note(problem)
    if not is_json():
        print_note("Next: proctor judge --batch")
    if problems:
        raise typer.Exit(1)


def organisations(
    register: Annotated[
        bool,
        typer.Option(
            "--register", help="Register organisations of the model registry that are not registered yet."
        ),
    ] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=QUESTIONS",
            help="Limit the questions handed to all candidates of an organisation together; 'none' ends a limit. Repeatable.",
        ),
    ] = None,
) -> None:
    """List the organisations that own models, and limit their questions.

    The list has their other names, their models, the name that is registered, and their limits.

    An organisation is recognised however its name is written. Planning a run registers those of the model registry; do it
    here to add users of an organisation before its first run. A limit counts the questions of all its runs: planning refuses what
    would exceed it, and the exam hands out no more.

    Example: proctor organisations --register --limit "Alpha Labs=3000"
    """
    from tasks.models.registry import list_owners, register_owners
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.trust.organisations import write_organisation_limit

    limits = [_parse_limit(text) for text in limit or []]
    settings = load_settings()
    registry = read_registry(settings.registry_path)
    with open_ledger(settings.ledger_address) as ledger:
        if register:
            register_owners(ledger, registry)
        if limits:
            with ledger.write() as connection:
                for name, questions in limits:
                    write_organisation_limit(connection, name, questions)
        rows = list_owners(ledger, registry)
    columns = ("organisation", "other_names", "models", "is_simulated", "registered_as", "question_limit")
    print_records(columns, rows)
    if not is_json():
        print_note(f"Registry: {registry.path}. Next: proctor exam plan")


def _parse_limit(text: str) -> tuple[str, int | None]:
    """The organisation and its limit, None for NAME=none; raises UsageError."""
    name, _, questions = text.rpartition("=")
    if not name.strip() or not (questions == "none" or re.fullmatch(r"[0-9]{1,9}", questions)):
        raise UsageError(
            f"--limit {text!r} is not NAME=QUESTIONS with a whole number of up to nine digits, or NAME=none. "
            'Write for example --limit "Alpha Labs=3000".'
        )
    return name.strip(), None if questions == "none" else int(questions)
