"""Who sits and who judges: entries of the registry that answer."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http.client import HTTPException
from typing import Final, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from deployments.guide.talking import GivenAnswers, StepError, Talk, split_names
from schemas.errors import UsageError, suggest
from schemas.settings import load_settings
from tasks.models import SIMULATED_FINGERPRINT
from tasks.models.registry import SIMULATED_URL, RegisteredModel, read_registry

_PATIENCE_S: Final = 5.0
_MOST_LISTED: Final = 40
# What `models check --judge` ends with where the gate would shut.
_CANNOT_JUDGE: Final = 3
_NO_KEY: Final = "none"
# Stands for the names that were not listed.
_MORE: Final = "…"
_LOCAL_URL: Final = "http://127.0.0.1:8000/v1"
_JUDGE_HELP: Final = "It must not be one of the candidates, and better not of one of their families."

# What a simulation costs. Without a price no budget would hold it, and so no schedule.
_FREE: Final = (0.0, 0.0)


@dataclass(frozen=True)
class _Place:
    """Where models answer, with which key, whose they are, and what they cost."""

    url: str
    key_variable: str
    organisation: str
    is_simulated: bool
    prices: tuple[float | None, float | None]

    @classmethod
    def read(cls, model: RegisteredModel) -> _Place:
        """The place of a model as it is registered."""
        prices = (model.input_price_usd, model.output_price_usd)
        key = model.key_variable or _NO_KEY
        return cls(model.base_url, key, model.organisation, model.is_simulated, prices)

    def write_options(self) -> list[str]:
        """The same as options of `models add`."""
        options = ["--url", self.url, "--organisation", self.organisation]
        options += [] if self.key_variable == _NO_KEY else ["--key-variable", self.key_variable]
        options += ["--simulated"] if self.is_simulated else []
        for option, price in zip(("--input-price", "--output-price"), self.prices, strict=True):
            options += [] if price is None else [option, f"{price:g}"]
        return options


class _Found(NamedTuple):
    """What an address lists of its models, and whether it is our simulation."""

    names: tuple[str, ...] = ()
    is_simulation: bool = False


def register_models(talk: Talk, answers: GivenAnswers) -> None:
    """Register candidates and a judge until all answer; StepError where one does not."""
    talk.head(4, "Who sits, and who judges")
    if talk.is_silent and answers.candidates and not _list_own("judge"):
        # What will be missing is said before anything is written.
        for option, given in (
            ("--judge", answers.judge),
            ("--judge-organisation", answers.judge_organisation),
        ):
            if not given:
                raise UsageError(f"Nobody is asked with --yes, and a judge is needed: give {option}.")
    for role, add in (("candidate", _add_candidates), ("judge", _add_judge)):
        said, own, is_new = answers, _list_own(role), False
        asked = split_names(answers.candidates if role == "candidate" else answers.judge)
        wrong: list[RegisteredModel] = []
        # What does not answer is asked for again, and what was answered is then the default.
        while not own or (wrong := _find_wrong(talk, role, answers)):
            # Of the options of an earlier call none is left: those of this one correct them.
            is_corrected = not is_new and (
                {*asked} not in (set(), {model.name for model in own}) or bool(_list_late(role, answers, own))
            )
            if wrong and not (
                is_corrected
                if talk.is_silent
                else talk.confirm("Answer again for what is wrong?", default=True)
            ):
                raise StepError(1)
            own = _list_own(role)
            named = add(talk, said, own, wrong)
            for model in own:
                if model.name not in named:
                    talk.run("models", "remove", model.name)
            said, own = GivenAnswers(are_simulated=answers.are_simulated), _list_own(role)
            is_new = True
        if not is_new and (unknown := sorted({*asked} - {model.name for model in own})):
            said_of = (
                f"{', '.join(model.name for model in own)} is registered as {role} already, and {', '.join(unknown)} is not. Add it: "
                "proctor models add NAME … Or begin again: proctor models remove NAME, then proctor start."
            )
            if talk.is_silent:
                raise UsageError(said_of)
            talk.tell(said_of)
        elif not is_new and (late := _list_late(role, answers, own)):
            talk.tell(
                f"{', '.join(late)} change nothing: {', '.join(model.name for model in own)} is registered as {role} already. To change it: "
                "proctor models add NAME … --again"
            )
        if role == "judge" and is_new:
            _try_judges(talk)
    talk.tell(
        f"{load_settings().registry_path} has all of it; limits and families can be added by `proctor models add NAME … --again`."
    )


def register_reader(talk: Talk) -> str:
    """Register a model that reads papers; returns its name."""
    talk.tell("It sits no exam: it sees the questions and their answers.")
    own = _list_own("generator")
    like = own[0] if own else None
    owner = like.organisation if like else ""
    place, listed = _ask_place(talk, "reader", "", ("", "", "", ""), like, owner, is_simulated=False)
    name = ""
    while not name or not _confirm_names(talk, [name], listed):
        name = talk.ask("Reader, by its name there", like.name if like else "", check=_check_reader)
    _add_model(talk, name, place, "generator", own)
    if talk.run("models", "check", name, may_refuse=True):
        raise StepError(1)
    return name


def _check_reader(name: str) -> None:
    if name in [model.name for role in ("candidate", "reference", "judge") for model in _list_own(role)]:
        raise UsageError(f"{name} sits the exam or judges it. Name another model.")


def _list_late(role: str, answers: GivenAnswers, own: Sequence[RegisteredModel]) -> list[str]:
    """The options of a place that were given and differ from every entry of this role."""
    prefix = "" if role == "candidate" else "judge_"
    places = [_Place.read(model) for model in own]
    late = []
    for field in ("url", "key_variable", "organisation", "prices"):
        given = getattr(answers, prefix + field)
        if given and field == "prices":
            given = _read_prices(given)
        if given and given not in [getattr(place, field) for place in places]:
            late.append("--" + (prefix + field).replace("_", "-"))
    return late


def has_own_models() -> bool:
    """Whether somebody has registered a model here; those of demo and `init` are nobody's."""
    return load_settings().registry_path.is_file() and bool(_list_own(""))


def _find_wrong(talk: Talk, role: str, answers: GivenAnswers) -> list[RegisteredModel]:
    """Those that do not answer as registered; a simulation is marked as one if agreed."""
    models = _list_own(role)
    names = ",".join(model.name for model in models)
    if not talk.run("models", "check", names, may_refuse=True):
        return []
    found = talk.read("models", "check", names, may_refuse=True)["models"]
    wrong = [one for one in found if one["problem"]]
    simulations = {one["model"] for one in wrong if one["is_simulation"]}
    if simulations and (answers.are_simulated or _confirm_simulation(talk)):
        _mark_simulated(talk, [model for model in models if model.name in simulations])
        return _find_wrong(talk, role, answers)
    return [model for model in models if model.name in {one["model"] for one in wrong}]


def _mark_simulated(talk: Talk, models: Sequence[RegisteredModel]) -> None:
    for model in models:
        place = replace(_Place.read(model), is_simulated=True, prices=_FREE)
        _add_model(talk, model.name, place, ",".join(model.roles), models)


def _try_judges(talk: Talk) -> None:
    """Let each judge show that it can judge; one that cannot is taken out, and the step ends."""
    for judge in _list_own("judge"):
        if code := talk.run("models", "check", "--judge", judge.name, may_refuse=True):
            if code == _CANNOT_JUDGE:
                talk.run("models", "remove", judge.name)
            raise StepError(code)


def _list_own(role: str) -> list[RegisteredModel]:
    """The models of a role, or all, that can be called; the examples of `init` are nobody's."""
    models = read_registry(load_settings().registry_path).models.values()
    return [
        model
        for model in models
        if (not role or role in model.roles) and model.base_url != SIMULATED_URL and not model.is_outside
    ]


def _add_candidates(
    talk: Talk, answers: GivenAnswers, own: Sequence[RegisteredModel], wrong: Sequence[RegisteredModel]
) -> list[str]:
    """Ask for all candidates, and write the entries that are not right yet; returns their names."""
    if not own:
        talk.tell("An endpoint speaks OpenAI's API: a provider's, or your own (vLLM, llama.cpp, SGLang).")
    given = (answers.url, answers.key_variable, answers.organisation, answers.prices)
    like = wrong[0] if wrong else None
    owner = like.organisation if like else "My lab"
    place, listed = _ask_place(talk, "models", "", given, like, owner, is_simulated=answers.are_simulated)
    right = {model.name: model for model in own if model.name not in {one.name for one in wrong}}
    # The reference stands first.
    before = sorted(own, key=lambda model: "reference" not in model.roles)
    question = "Candidates, by their names there, with commas; the first is the reference"
    names: list[str] = []
    while not names or not _confirm_names(talk, [name for name in names if name not in right], listed):
        names = split_names(
            talk.ask(
                question,
                ", ".join(model.name for model in before),
                given=answers.candidates,
                option="--candidates",
                check=_check_candidates,
            )
        )
    for number, name in enumerate(names):
        roles = "candidate" if number else "candidate,reference"
        _add_model(talk, name, _Place.read(right[name]) if name in right else place, roles, own)
    if len(names) == 1:
        talk.tell(
            f"{names[0]} sits alone, with nothing to compare it with. Another later: proctor models add NAME …"
        )
    if load_settings().reference_model != names[0]:
        talk.set("reference_model", names[0])
    return names


def _confirm_names(talk: Talk, names: Sequence[str], listed: Sequence[str]) -> bool:
    """Whether all names are among those that the address lists, or are meant all the same."""
    strange = [name for name in names if name not in listed]
    if talk.is_silent or not strange or not listed or listed[-1] == _MORE:
        return True
    near = suggest(strange[0], listed) or " A name is wrong, or the list is not whole."
    talk.tell(f"The address does not list {', '.join(strange)}.{near}")
    return talk.confirm("Take it as it is typed?", default=False)


def _check_candidates(names: str) -> None:
    listed = [name.strip() for name in names.split(",") if name.strip()]
    if not listed:
        raise UsageError("Name one candidate at least.")
    if twice := [name for name in listed if listed.count(name) > 1]:
        raise UsageError(f"{twice[0]} is named twice. Name each once.")
    if judges := {model.name for model in _list_own("judge")} & {*split_names(names)}:
        raise UsageError(f"{min(judges)} is the judge, and must not judge itself. Name candidates only.")
    if (reader := load_settings().second_reader) in listed:
        raise UsageError(
            f"{reader} reads the papers with their answers, and cannot sit. Name candidates only."
        )


def _add_judge(
    talk: Talk, answers: GivenAnswers, own: Sequence[RegisteredModel], wrong: Sequence[RegisteredModel]
) -> list[str]:
    """Ask for a judge in the place of those that are wrong; returns the names of all."""
    if not own:
        talk.tell(f"A judge gives every answer its stars. {_JUDGE_HELP}")
    candidates = _list_own("candidate")
    owners = {model.organisation for model in candidates}

    def check(name: str) -> None:
        if name in [model.name for model in candidates]:
            raise UsageError(f"{name} is a candidate, and must not judge itself. Name another model.")

    given = (answers.judge_url, answers.judge_key_variable, answers.judge_organisation, answers.judge_prices)
    like = (*wrong, *candidates)[0]
    # Nobody is taken for the candidates' owner without having said so: judges favour their kin.
    owner = "" if like.organisation in owners else like.organisation
    place, listed = _ask_place(
        talk, "judge", "judge-", given, like, owner, is_simulated=answers.are_simulated
    )
    if place.organisation in owners:
        talk.tell(
            f"{place.organisation} owns candidates, too. Judges favour their kin: one of somebody else's is believed more."
        )
    judge, before = "", wrong[0].name if wrong else ""
    while not judge or not _confirm_names(talk, [judge], listed):
        judge = talk.ask(
            "Judge, by its name there", before, given=answers.judge, option="--judge", check=check
        )
    _add_model(talk, judge, place, "judge", own)
    replaced = {model.name for model in wrong}
    judges = list(dict.fromkeys([*(model.name for model in own if model.name not in replaced), judge]))
    talk.set("judges", ", ".join(judges))
    return judges


def _ask_place(
    talk: Talk,
    whose: str,
    prefix: str,
    given: tuple[str, str, str, str],
    like: RegisteredModel | None,
    owner: str,
    *,
    is_simulated: bool,
) -> tuple[_Place, tuple[str, ...]]:
    """Ask for address, key, owner and prices; returned with the names that the address lists."""
    url = talk.ask(
        f"Address of the {whose}",
        like.base_url if like else _LOCAL_URL,
        given=given[0],
        check=lambda text: _look_at(text.rstrip("/")),
    ).rstrip("/")
    key_variable = talk.ask(
        f"Environment variable with its key (`{_NO_KEY}` for none)",
        (like and like.key_variable) or _NO_KEY,
        given=given[1],
        check=_check_key,
    )
    found = _look_at(url, key_variable)
    if not talk.is_silent and found.names:
        talk.tell(f"There are: {', '.join(found.names)}")
    is_known = is_simulated or any(one.is_simulated and one.base_url == url for one in _list_own(""))
    is_simulated = is_known or (found.is_simulation and _confirm_simulation(talk))
    organisation = talk.ask(
        f"Who owns the {whose}",
        owner,
        given=given[2],
        option=f"--{prefix}organisation",
        check=lambda text: _check_owner(text, found.names),
    )
    if is_simulated:
        return _Place(url, key_variable, organisation, is_simulated, _FREE), found.names
    # A model without a key stands on a machine of one's own, mostly; a provider's price is never guessed.
    priced = _write_prices(like) or ("0, 0" if key_variable == _NO_KEY else "")
    question = "Dollars per million tokens read and written (0, 0 on your own machine)"
    prices = talk.ask(question, priced, given=given[3], option=f"--{prefix}prices", check=_read_prices)
    return _Place(url, key_variable, organisation, is_simulated, _read_prices(prices)), found.names


def _check_owner(owner: str, models: Sequence[str]) -> None:
    if meant := [name for name in split_names(owner) if name in models]:
        raise UsageError(f"{meant[0]} is a model there, and owns none. Name whose models they are.")


def _confirm_simulation(talk: Talk) -> bool:
    """Whether what answers as a simulation is to be marked as one."""
    if talk.is_silent:
        talk.tell("What answers as a simulation is marked as one with: proctor start --simulated")
        return False
    return talk.confirm("This is a simulation and no model: mark it so everywhere?", default=True)


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


def _add_model(talk: Talk, name: str, place: _Place, roles: str, before: Sequence[RegisteredModel]) -> None:
    """Write an entry; one that is there and stays as it is keeps what else people wrote in it."""
    known = next((model for model in before if model.name == name), None)
    # The example of `proctor init` makes room for a model of its name.
    example = read_registry(load_settings().registry_path).models.get(name)
    is_there = known is not None or (example is not None and example.base_url == SIMULATED_URL)
    again = ["--again"] if is_there else []
    if known is not None and _Place.read(known) == place and ",".join(known.roles) == roles:
        return
    talk.run("models", "add", name, *place.write_options(), "--roles", roles, *again)


def _look_at(url: str, key_variable: str = _NO_KEY) -> _Found:
    """Ask an address for its models; raises UsageError where nothing answers there."""
    if not url.startswith(("http://", "https://")):
        raise UsageError(
            f"{url} is no address of an API: it begins with http:// or https:// and ends in /v1 mostly."
        )
    try:
        asked = Request(f"{url}/models")  # noqa: S310 - checked to be http or https
        if key_variable != _NO_KEY:
            asked.add_header("Authorization", f"Bearer {os.environ.get(key_variable, '')}")
        with urlopen(asked, timeout=_PATIENCE_S) as reply:  # noqa: S310
            said = json.load(reply)
        names = [str(one["id"]) for one in said["data"]]
        is_simulation = said.get("system_fingerprint") == SIMULATED_FINGERPRINT
    except HTTPError:
        # It answers; whether it knows the models is asked when they are named.
        return _Found()
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        cause = getattr(reason, "strerror", None) or reason
        raise UsageError(
            f"Nothing answers at {url} ({cause}). Start what is to answer there, or correct the address."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        return _Found()
    return _Found((*names[:_MOST_LISTED], *([_MORE] if len(names) > _MOST_LISTED else [])), is_simulation)


def _check_key(name: str) -> None:
    if name != _NO_KEY and not os.environ.get(name):
        raise UsageError(
            f"No environment variable {name} is set. Name the variable, not the key; to set it, stop (Ctrl-C), export it and start again."
        )
