"""Who sits and who judges: entries of the registry that answer."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Final
from urllib.request import Request, urlopen

from deployments.guide.answers import GivenAnswers
from deployments.guide.talking import StepError, Talk, split_names
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.models.registry import SIMULATED_URL, RegisteredModel, read_registry

_PATIENCE_S: Final = 5.0
_MOST_LISTED: Final = 40
# What `models check --judge` ends with where the gate would shut.
_CANNOT_JUDGE: Final = 3
_LOCAL_URL: Final = "http://127.0.0.1:8000/v1"
_JUDGE_HELP: Final = "It must not be one of the candidates, and better not of one of their families."


def register_models(talk: Talk, answers: GivenAnswers) -> None:
    """Ask for candidates and a judge, write their entries, and go on when all of them answer.

    Raises StepError where one does not and nobody answers again.
    """
    talk.head(4, "Who sits, and who judges")
    for role, add in (("candidate", _add_candidates), ("judge", _add_judge)):
        said, asked, is_new = answers, _list_own(role), False
        # What does not answer is asked for again, and what was answered is then the default.
        while not asked or (asked := _find_wrong(talk, role, answers)):
            if asked and (
                talk.is_silent or not talk.confirm("Answer again for what is wrong?", default=True)
            ):
                raise StepError(1)
            added = add(talk, said, asked)
            for model in asked:
                if model.name not in added:
                    talk.run("models", "remove", model.name)
            said, asked = GivenAnswers(are_simulated=answers.are_simulated), _list_own(role)
            is_new = True
        if role == "judge" and is_new:
            _try_judges(talk)
    talk.tell(
        f"{load_settings().registry_path} has all of it; limits and families can be added by `proctor models add NAME … --again`."
    )


def _find_wrong(talk: Talk, role: str, answers: GivenAnswers) -> list[RegisteredModel]:
    """Those that do not answer as they are registered; the command has said why.

    What turns out to be a simulation is marked as one, where somebody agrees.
    """
    models = _list_own(role)
    names = ",".join(model.name for model in models)
    if not talk.run("models", "check", names, may_refuse=True):
        return []
    found = talk.read("models", "check", names, may_refuse=True)["models"]
    wrong = [one for one in found if one["problem"]]
    simulations = {one["model"] for one in wrong if one["is_simulation"]}
    if simulations:
        if talk.is_silent and not answers.are_simulated:
            talk.tell("What answers as a simulation is marked as one with: proctor start --simulated")
        elif answers.are_simulated or talk.confirm(
            "This is a simulation and no model: mark it so everywhere?", default=True
        ):
            _mark_simulated(talk, [model for model in models if model.name in simulations])
            return _find_wrong(talk, role, answers)
    return [model for model in models if model.name in {one["model"] for one in wrong}]


def _mark_simulated(talk: Talk, models: Sequence[RegisteredModel]) -> None:
    for model in models:
        described = _write_options(
            model.base_url, model.key_variable or "none", model.organisation, True, (None, None)
        )
        _add_model(talk, model.name, described, ",".join(model.roles), models)


def _try_judges(talk: Talk) -> None:
    """Let each judge show that it can judge, before an exam is paid for.

    One that cannot is taken out again, and ends the step; one that could not be asked ends it, too, and stays. A simulation knows its own bank alone, and is not tried.
    """
    for judge in _list_own("judge"):
        if judge.is_simulated:
            continue
        if code := talk.run("models", "check", "--judge", judge.name, may_refuse=True):
            if code == _CANNOT_JUDGE:
                talk.run("models", "remove", judge.name)
            raise StepError(code)


def _list_own(role: str) -> list[RegisteredModel]:
    """The registered models of a role; what `proctor init` writes as an example is nobody's."""
    models = read_registry(load_settings().registry_path).models.values()
    return [model for model in models if role in model.roles and model.base_url != SIMULATED_URL]


def _add_candidates(talk: Talk, answers: GivenAnswers, before: Sequence[RegisteredModel]) -> list[str]:
    if not before:
        talk.tell("An endpoint speaks OpenAI's API: a provider's, or your own (vLLM, llama.cpp, SGLang).")
    given = (answers.url, answers.key_variable, answers.organisation, answers.prices)
    is_simulated = answers.are_simulated or any(model.is_simulated for model in before)
    described = _describe(talk, is_simulated, given, before[:1], "models", "")
    if not talk.is_silent and (offered := _list_offered(described)):
        talk.tell(f"There are: {', '.join(offered)}")
    names = split_names(
        talk.ask(
            "Candidates, by their names there, with commas; the first is the reference",
            ",".join(model.name for model in before),
            given=answers.candidates,
            option="--candidates",
            check=_check_candidates,
        )
    )
    has_reference = bool(before) and not any("reference" in model.roles for model in before)
    for place, name in enumerate(names):
        roles = "candidate" if place or has_reference else "candidate,reference"
        _add_model(talk, name, described, roles, before)
    if not has_reference:
        talk.set("reference_model", names[0])
    return names


def _check_candidates(names: str) -> None:
    if not split_names(names):
        raise UsageError("Name one candidate at least.")
    if judges := {model.name for model in _list_own("judge")} & {*split_names(names)}:
        raise UsageError(f"{min(judges)} is the judge, and must not judge itself. Name candidates only.")


def _add_judge(talk: Talk, answers: GivenAnswers, before: Sequence[RegisteredModel]) -> list[str]:
    if not before:
        talk.tell(f"A judge gives every answer its stars. {_JUDGE_HELP}")
    candidates = _list_own("candidate")

    def check(name: str) -> None:
        if name in [model.name for model in candidates]:
            raise UsageError(f"{name} is a candidate, and must not judge itself. Name another model.")

    judge = talk.ask(
        "Judge, by its name at its address",
        before[0].name if before else "",
        given=answers.judge,
        option="--judge",
        check=check,
    )
    given = (
        answers.judge_url,
        answers.judge_key_variable,
        answers.judge_organisation,
        answers.judge_prices,
    )
    is_simulated = answers.are_simulated or any(model.is_simulated for model in before)
    described = _describe(talk, is_simulated, given, before[:1] or candidates[:1], "judge", "judge-")
    if described[3] in {model.organisation for model in candidates}:
        talk.tell(
            f"{described[3]} owns candidates, too. Judges favour their kin: one of somebody else's is believed more."
        )
    _add_model(talk, judge, described, "judge", before)
    talk.set("judges", judge)
    return [judge]


def _describe(
    talk: Talk,
    is_simulated: bool,
    given: tuple[str, str, str, str],
    like: Sequence[RegisteredModel],
    whose: str,
    prefix: str,
) -> list[str]:
    """Address, key, owner and prices as options of `models add`.

    By default those of the model that is there.
    """
    model = like[0] if like else None
    url = talk.ask(
        f"Address of the {whose}",
        model.base_url if model else _LOCAL_URL,
        given=given[0],
        check=_check_url,
    )
    key_variable = talk.ask(
        "Environment variable with its key (`none` for none)",
        (model and model.key_variable) or "none",
        given=given[1],
        check=_check_key,
    )
    organisation = talk.ask(
        f"Who owns the {whose}", model.organisation if model else "My lab", given=given[2]
    )
    prices: tuple[float | None, float | None] = (None, None)
    if not is_simulated:
        # A model without a key stands on a machine of one's own, mostly; a provider's price is never guessed.
        priced = _write_prices(model) or ("0, 0" if key_variable == "none" else "")
        question = "Dollars per million tokens read and written (0, 0 on your own machine)"
        prices = _read_prices(
            talk.ask(question, priced, given=given[3], option=f"--{prefix}prices", check=_read_prices)
        )
    return _write_options(url.rstrip("/"), key_variable, organisation, is_simulated, prices)


def _write_prices(model: RegisteredModel | None) -> str:
    if model is None or model.input_price_usd is None or model.output_price_usd is None:
        return ""
    return f"{model.input_price_usd:g}, {model.output_price_usd:g}"


def _read_prices(text: str) -> tuple[float, float]:
    try:
        read, written = (float(part) for part in text.split(","))
    except ValueError:
        read = written = -1.0
    if not (0 <= read < math.inf and 0 <= written < math.inf):
        raise UsageError(
            f"{text} are no two prices. Write what a million tokens read and written cost, as 2.5, 10."
        )
    return read, written


def _write_options(
    url: str,
    key_variable: str,
    organisation: str,
    is_simulated: bool,
    prices: tuple[float | None, float | None],
) -> list[str]:
    options = ["--url", url, "--organisation", organisation]
    options += [] if key_variable == "none" else ["--key-variable", key_variable]
    options += ["--simulated"] if is_simulated else []
    for option, price in zip(("--input-price", "--output-price"), prices, strict=True):
        options += [] if price is None else [option, f"{price:g}"]
    return options


def _add_model(
    talk: Talk, name: str, described: list[str], roles: str, before: Sequence[RegisteredModel]
) -> None:
    """Write an entry; one that is there and stays as it is keeps what else people wrote in it."""
    known = next((model for model in before if model.name == name), None)
    # The example of `proctor init` makes room for a model of its name.
    example = read_registry(load_settings().registry_path).models.get(name)
    is_there = known is not None or (example is not None and example.base_url == SIMULATED_URL)
    again = ["--again"] if is_there else []
    if known is not None:
        there = _write_options(
            known.base_url,
            known.key_variable or "none",
            known.organisation,
            known.is_simulated,
            (known.input_price_usd, known.output_price_usd),
        )
        if there == described and ",".join(known.roles) == roles:
            return
    talk.run("models", "add", name, *described, "--roles", roles, *again)


def _list_offered(described: Sequence[str]) -> list[str]:
    """Names of the models at an address, as far as it tells them."""
    said = dict(zip(described[::2], described[1::2], strict=False))
    asked = Request(f"{said['--url']}/models")  # noqa: S310 - checked to be http or https
    if variable := said.get("--key-variable"):
        asked.add_header("Authorization", f"Bearer {os.environ.get(variable, '')}")
    try:
        with urlopen(asked, timeout=_PATIENCE_S) as reply:  # noqa: S310
            found = json.load(reply)["data"]
        names = [str(one["id"]) for one in found]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [*names[:_MOST_LISTED], *(["…"] if len(names) > _MOST_LISTED else [])]


def _check_url(url: str) -> None:
    if not url.startswith(("http://", "https://")):
        raise UsageError(
            f"{url} is no address of an API: it begins with http:// or https:// and ends in /v1 mostly."
        )


def _check_key(name: str) -> None:
    if name != "none" and not os.environ.get(name):
        raise UsageError(
            f"No environment variable {name} is set. Name the variable, not the key; to set it, stop (Ctrl-C), export it and start again."
        )
