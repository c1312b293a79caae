"""A simulated judge's reply: the true stars, or others at a known rate, in judges' forms."""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from deployments.model_server.key import (
    AnswerKey,
    KnownQuestion,
    compute_true_stars,
    find_quality,
    hash_question,
)
from deployments.model_server.profile import ServerProfile, SimulatedModel, draw_uniform
from schemas import patterns as re
from schemas.judgements import ERROR_CLASSES
from schemas.vocabulary import LANGUAGES
from tasks.judging import JudgedParts, find_address
from tasks.judging.controls import list_built_in
from tasks.texts import read_texts

REASONS: Final[dict[int, list[str]]] = read_texts("deployments.model_server", "judges.yaml")
_UNREADABLE = (
    "这份作答还可以，具体等级视要求而定。",
    "A fair response; the grade depends on what is wanted.",
)


# What an answer says first where it names the first option, in either language.
_FIRST_OPTION = re.compile(r"\s*(?:A\b|正确|true\b)", re.IGNORECASE)


def write_judgement(
    model: SimulatedModel, parts: JudgedParts, key: AnswerKey, draw: str, profile: ServerProfile
) -> str:
    """The judge's reply: JSON, sometimes fenced or in words, sometimes without readable stars."""
    seed = profile.seed
    place: tuple[object, ...] = (seed, model.name, hash_question(parts.question), parts.response)
    is_english = not any("\u4e00" <= character <= "\u9fff" for character in parts.question)
    if draw_uniform(*place, draw, "unparsed") < model.unparsed:
        return _UNREADABLE[is_english]
    if draw_uniform(*place, draw, "wobble") < model.wobble:
        place = (*place, draw)
    stars = draw_stars(model, compute_stars(parts, key, seed), place)
    stars = bend_stars(model, stars, parts.response, place, _list_signatures(model, profile))
    if draw_uniform(*place, "noise") < model.noise:
        stars = int(draw_uniform(*place, "noisy stars") * len(REASONS))
    reason = REASONS[stars][is_english]
    return render_form(stars, reason, draw_uniform(*place, draw, "form"))


def render_form(stars: int, reason: str, form: float) -> str:
    """A verdict as judges write it: JSON, fenced JSON or words, by `form` from 0 to 1."""
    if form < 0.8:
        return json.dumps({"stars": stars, "reason": reason}, ensure_ascii=False)
    if form < 0.9:
        return f"```json\n{json.dumps({'stars': stars, 'reason': reason}, ensure_ascii=False, indent=2)}\n```"
    return f'"Overall Rating": {stars}\nThe reason why you gave this rating: {reason}'


def write_label(model: SimulatedModel, parts: JudgedParts, seed: str) -> str:
    """The class of a failure by question and response; knowledge is the most frequent."""
    luck = draw_uniform(seed, "label", model.name, parts.question, parts.response)
    shares = (0.42, 0.60, 0.78, 0.94, 1.0)
    name = next(name for name, share in zip(ERROR_CLASSES, shares, strict=True) if luck < share)
    return json.dumps({"error_class": name})


def compute_stars(parts: JudgedParts, key: AnswerKey, seed: str) -> int:
    """The true stars; for a question outside the key, by its explanation and a fixed draw."""
    entry = key.find(parts.question) or _know_built_in().find(parts.question)
    if entry is not None:
        return compute_true_stars(entry, parts.response)
    if not parts.response.strip():
        return 0
    is_correct = draw_uniform(seed, parts.question, parts.response) < 0.6
    quality = find_quality(parts.response)
    return (3 if quality == "reasonable" else 2) if is_correct else (0 if quality == "wrong" else 1)


@cache
def _know_built_in() -> AnswerKey:
    """The questions that a judge is tried with before a run: a simulated one knows them, too."""
    return AnswerKey(
        KnownQuestion.read(control.content) for language in LANGUAGES for control in list_built_in(language)
    )


def draw_stars(model: SimulatedModel, true_stars: int, place: tuple[object, ...]) -> int:
    """The stars this judge gives: the same again however often it is asked."""
    if draw_uniform(*place, "agreement") < model.agreement:
        return true_stars
    step = 1 if draw_uniform(*place, "direction") < 0.5 + model.leniency / 2 else -1
    shifted = true_stars + step
    return shifted if 0 <= shifted <= 3 else true_stars - step


def bend_stars(
    model: SimulatedModel, stars: int, response: str, place: tuple[object, ...], signatures: tuple[str, ...]
) -> int:
    """The stars after the judge's planted biases, each with its own luck.

    Without any biases the stars stay as they are. `signatures` are those of the candidates of its
    organisation.
    """
    if model.gullible and find_address(response) and draw_uniform(*place, "gullible") < model.gullible:
        return 3
    text = response.strip()
    biases = {
        "family": model.family_bias if text.endswith(signatures) else 0.0,
        "length": model.length_bias if len(text) >= model.long_answer else 0.0,
        "position": model.position_bias if _FIRST_OPTION.match(text) else 0.0,
        "drift": model.drift,
    }
    for name, share in biases.items():
        if share and draw_uniform(*place, name) < abs(share):
            stars = min(3, max(0, stars + (1 if share > 0 else -1)))
    return stars


def _list_signatures(model: SimulatedModel, profile: ServerProfile) -> tuple[str, ...]:
    return tuple(
        one.signature for one in profile.models.values() if one.signature and one.owned_by == model.owned_by
    )
