"""The profile of a simulated server.

It says who answers there, how well, how fast, and what goes wrong. Draws that depend on nothing but what is
asked. The same request always meets the same luck.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final, TypeVar

import yaml

from deployments.model_server.gaming import MANNERS
from schemas.errors import UsageError, suggest
from tasks.questions import compute_short_rank

KINDS = ("candidate", "judge", "generator")
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Faults:
    """How often each fault happens.

    Rates are shares of requests, in this order; each request meets one fault at most. `rate_limit` to `malformed` strike an
    attempt and may spare the next one; `attempts` is the number of first attempts of one request that they can strike (null:
    any). `empty`, `refusal`, `truncated` and `no_usage` (whole, without a count of tokens) are answers and stay the same.
    """

    rate_limit: float = 0.0
    server_error: float = 0.0
    hang: float = 0.0
    cut_stream: float = 0.0
    malformed: float = 0.0
    empty: float = 0.0
    refusal: float = 0.0
    truncated: float = 0.0
    no_usage: float = 0.0
    attempts: int | None = None
    retry_after_s: float = 1.0
    hang_s: float = 3600.0


@dataclass(frozen=True)
class BatchTraits:
    """How long batches take, and what goes wrong with them.

    Attributes:
        seconds: from a batch's creation to its end.
        failed: so many batches, the first ones, fail whole before they begin.
        expired: so many batches, after the failed ones, expire with half of their requests done.
        refused: share of requests that end with an error of their own (400).
        missing: share of requests without any line in the output, although they were worked on.
        doubled: share of lines that stand in the output twice.
        garbage: share of lines after which a line that is no JSON, or names no request, follows.
        is_shuffled: whether the lines come in another order than the requests.
        is_listed: whether the list of batches shows them: some providers' do not.
    """

    seconds: float = 0.0
    failed: int = 0
    expired: int = 0
    refused: float = 0.0
    missing: float = 0.0
    doubled: float = 0.0
    garbage: float = 0.0
    is_shuffled: bool = False
    is_listed: bool = True


@dataclass(frozen=True)
class LeagueTraits:
    """How a candidate plays in a league; abilities are in logits.

    `solving` is what its answers are worth and `setting` how hard its questions are, on average. `judging_spread` is the
    error of its eye, `family_bias` what it adds to answers in the manner of its own `family` (empty: its organisation).
    `memorised` is the share of its answers that recite a template, `detection` the share of others' such answers that it
    flags, `false_flag` the share of other answers. `copies` is the share of first drafts that are a question it has set before.
    """

    solving: float = 0.0
    setting: float = 0.0
    judging_spread: float = 0.5
    family: str = ""
    family_bias: float = 0.0
    memorised: float = 0.0
    detection: float = 0.6
    false_flag: float = 0.001
    copies: float = 0.0


@dataclass(frozen=True)
class WritingTraits:
    """What a generator does wrong when it writes variants.

    Each trait is a share of its replies, and each reply has one fault at most. `unreadable` replies are no JSON,
    `foreign_support` cites sentences that the material does not have, `one_sided` states nothing but truths, `copied`
    states the material's own sentences, `changed` changes a number or turns a negation round. Asked again, it has luck
    again.
    """

    unreadable: float = 0.0
    foreign_support: float = 0.0
    one_sided: float = 0.0
    copied: float = 0.0
    changed: float = 0.0


@dataclass(frozen=True)
class SimulatedModel:
    """One model of the server.

    Attributes:
        name: the name that requests carry.
        owned_by: its organisation, for /v1/models.
        kind: `candidate`, `judge` or `generator`.
        accuracy: share of questions answered correctly, by discipline; `default` for the others.
        explanation: share of its correct answers that come with a fully reasonable explanation.
        style_effect: shift in logits when asked few-shot or chain-of-thought.
        manner: how it answers whatever it is asked, without knowing anything: `blind`, `echo` or `inject` (gaming.py); empty for one
            that answers as well as it can.
        is_thinking: whether it returns its reasoning apart from the answer.
        sees_pictures: whether it sees the pictures of a request; it knows a question with pictures only with all of them before it.
        agreement: share of a judge's stars that equal the true ones.
        leniency: -1 to 1; a judge that errs gives more stars (1), fewer (-1), or either (0).
        noise: share of a judge's stars that it gives by lot, whatever the answer; one with 1 judges at random.
        unparsed: share of a judge's replies that carry no readable stars.
        family_bias: share of answers of its own organisation to which a judge gives a star more (below 0: fewer).
        signature: words with which a candidate ends every answer: by them a judge of its organisation knows it.
        length_bias: share of answers longer than `long_answer` to which a judge gives a star more (below 0: fewer).
        long_answer: characters from which an answer is long.
        position_bias: share of answers that name the first option (A, or true) to which a judge gives a star more.
        drift: share of all answers to which a judge gives a star more than it used to (below 0: fewer).
        wobble: share of judgements that a judge gives by the luck of the request: asked again, it may say something else.
        memorised: share of the questions in the server's memory that a candidate completes from memory.
        gullible: share of answers addressed to the judge that win all stars.
        latency_ms: median time to a reply; latencies are lognormal.
        latency_spread: standard deviation of the latency's logarithm.
        league: how it plays in a league.
        writing: what a generator does wrong.
    """

    name: str
    owned_by: str = "Simulated"
    kind: str = "candidate"
    accuracy: Mapping[str, float] = field(default_factory=lambda: {"default": 0.6})
    explanation: float = 0.8
    style_effect: Mapping[str, float] = field(
        default_factory=lambda: {"few_shot": 0.05, "chain_of_thought": 0.1}
    )
    manner: str = ""
    is_thinking: bool = False
    sees_pictures: bool = False
    agreement: float = 0.95
    leniency: float = 0.0
    noise: float = 0.0
    unparsed: float = 0.0
    family_bias: float = 0.0
    signature: str = ""
    length_bias: float = 0.0
    long_answer: int = 400
    position_bias: float = 0.0
    drift: float = 0.0
    wobble: float = 0.0
    memorised: float = 0.0
    gullible: float = 0.0
    latency_ms: float = 0.0
    latency_spread: float = 0.5
    faults: Faults = field(default_factory=Faults)
    league: LeagueTraits = field(default_factory=LeagueTraits)
    writing: WritingTraits = field(default_factory=WritingTraits)


@dataclass(frozen=True)
class ServerProfile:
    """All models of a server, the seed of its luck, and how it treats batches."""

    models: dict[str, SimulatedModel]
    seed: str = "simulated"
    batches: BatchTraits = field(default_factory=BatchTraits)


T = TypeVar("T", BatchTraits, Faults, LeagueTraits, SimulatedModel, WritingTraits)
# What a model has of its own beside plain values.
_PARTS: Final[Mapping[str, type[Any]]] = {"faults": Faults, "league": LeagueTraits, "writing": WritingTraits}


def read_profile(path: Path) -> ServerProfile:
    """Read a profile from YAML; raises UsageError naming file, model and field."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The profile {path} cannot be read ({type(error).__name__}).") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise UsageError(f"The profile {path} is not UTF-8 YAML.") from None
    if not isinstance(content, dict):
        raise UsageError(f"The profile {path} is empty; it needs a section `models`.")
    return parse_profile(content, str(path))


def parse_profile(content: Mapping[str, Any], origin: str = "profile") -> ServerProfile:
    """A profile from plain data: `seed`, `defaults` of every model, `batches`, `models`."""
    defaults = content.get("defaults") or {}
    entries = content.get("models")
    if not isinstance(entries, Mapping) or not entries:
        raise UsageError(f"{origin}: the section `models` is missing or empty.")
    models: dict[str, SimulatedModel] = {}
    for name, entry in entries.items():
        values = {**defaults, **(entry or {})}
        for part, kind in _PARTS.items():
            own = {**(defaults.get(part) or {}), **((entry or {}).get(part) or {})}
            values[part] = _build(kind, own, f"{origin}, model {name!r}, {part}")
        values["accuracy"] = _spread_accuracy(values.get("accuracy", 0.6))
        model = _build(SimulatedModel, {"name": str(name), **values}, f"{origin}, model {name!r}")
        if model.kind not in KINDS:
            raise UsageError(f"{origin}, model {name!r}: kind {model.kind!r} is none of {', '.join(KINDS)}.")
        if model.manner and model.manner not in MANNERS:
            raise UsageError(
                f"{origin}, model {name!r}: manner {model.manner!r} is none of {', '.join(MANNERS)}."
            )
        models[model.name] = model
    batches = _build(BatchTraits, content.get("batches") or {}, f"{origin}, batches")
    return ServerProfile(models, str(content.get("seed", "simulated")), batches)


def _spread_accuracy(value: Any) -> dict[str, float]:
    if isinstance(value, Mapping):
        return {"default": 0.6, **{str(name): float(share) for name, share in value.items()}}
    return {"default": float(value)}


def _build(kind: type[T], values: Mapping[str, Any], origin: str) -> T:
    known = {item.name for item in fields(kind)}
    for name in values:
        if name not in known:
            raise UsageError(
                f"{origin}: unknown field {name!r}.{suggest(name, known)} The fields are {', '.join(sorted(known))}."
            )
    return kind(**values)


def draw_uniform(*parts: object) -> float:
    """A number in (0, 1) fixed by the parts."""
    return (int.from_bytes(compute_short_rank(*parts), "big") + 0.5) / 2.0**64


def draw_normal(*parts: object) -> float:
    """A standard normal number fixed by the parts."""
    return _NORMAL.inv_cdf(min(max(draw_uniform(*parts), 1e-12), 1 - 1e-12))


def draw_index(count: int, *parts: object) -> int:
    """A number from 0 to count - 1 fixed by the parts."""
    return min(count - 1, int(draw_uniform(*parts) * count))


def compute_logistic(logit: float) -> float:
    """The probability of a logit."""
    return 1.0 / (1.0 + math.exp(-logit))


def compute_logit(probability: float) -> float:
    """The logit of a probability, kept finite."""
    kept = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(kept / (1.0 - kept))
