"""What a simulated candidate answers, and what it remembers of questions that it has read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from deployments.model_server.key import EXPLANATIONS, AnswerKey, KnownQuestion, hash_question, is_right
from deployments.model_server.profile import (
    SimulatedModel,
    compute_logistic,
    compute_logit,
    draw_index,
    draw_normal,
    draw_uniform,
)
from schemas import patterns as re
from tasks.texts import read_texts

# Questions differ in difficulty by this many logits (standard deviation), the same for all models.
DIFFICULTY_SPREAD = 1.2
# A model mostly fails the same questions again: the share of its luck that belongs to the question, not to the sitting.
LASTING_LUCK = 0.9
# With a normal spread of difficulty the mean probability shrinks towards one half by about this factor.
_WIDENING = math.sqrt(1 + math.pi * DIFFICULTY_SPREAD**2 / 8)

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WORDS: Final[dict[str, dict[str, str]]] = read_texts("deployments.model_server", "candidates.yaml")
# Blanked question, hashed → its span.
Memory = Mapping[str, str]
_GUESSES = ("37", "基本原理", "the general case", "1986", "相关要求", "an important factor", "第三种情形")


def compute_probability(model: SimulatedModel, entry: KnownQuestion, style: str, seed: str) -> float:
    """Probability that the model answers the question: logistic in ability less difficulty."""
    accuracy = model.accuracy.get(entry.discipline, model.accuracy["default"])
    ability = compute_logit(accuracy) * _WIDENING + model.style_effect.get(style, 0.0)
    return compute_logistic(ability - DIFFICULTY_SPREAD * draw_normal(seed, "difficulty", entry.hash))


def is_answered(model: SimulatedModel, entry: KnownQuestion, style: str, draw: str, seed: str) -> bool:
    """Whether the model answers correctly in this draw (one repeat of one style)."""
    lasting = draw_normal(seed, model.name, entry.hash)
    passing = draw_normal(seed, model.name, entry.hash, style, draw)
    luck = LASTING_LUCK * lasting + math.sqrt(1 - LASTING_LUCK**2) * passing
    share = 0.5 * (1 + math.erf(luck / math.sqrt(2)))
    return share < compute_probability(model, entry, style, seed)


def write_answer(
    model: SimulatedModel, entry: KnownQuestion, key: AnswerKey, style: str, draw: str, seed: str
) -> str:
    """The candidate's response to a question of the key."""
    words = _WORDS[entry.language]
    place = (seed, model.name, entry.hash, style, draw)
    knows = is_answered(model, entry, style, draw, seed)
    answer = _state(entry, entry.answer) if knows else _write_wrong_answer(entry, key, place)
    quality = _draw_quality(model, knows, place)
    texts = EXPLANATIONS[entry.language][quality]
    reason = texts[draw_index(len(texts), *place, "wording")]
    if quality == "reasonable" and knows and entry.explanation:
        reason = entry.explanation
    if style == "chain_of_thought":
        return (
            f"{words['steps']}\n{words['reason']}{reason}\n{words['final']}{answer}{words['stop'].rstrip()}"
        )
    return f"{answer}{words['stop']}{words['reason']}{reason}"


def write_unknown_answer(model: SimulatedModel, question: str, draw: str, seed: str) -> str:
    """The response to a question that is not in the key."""
    language = "zh" if any("\u4e00" <= character <= "\u9fff" for character in question) else "en"
    place = (seed, model.name, question, draw)
    texts = EXPLANATIONS[language]["partial" if draw_uniform(*place) < 0.5 else "reasonable"]
    return f"{_WORDS[language]['unknown']}{texts[draw_index(len(texts), *place, 'wording')]}"


def _state(entry: KnownQuestion, answer: tuple[str, ...]) -> str:
    words = _WORDS[entry.language]
    if entry.question_type == "true_false":
        return words.get(answer[0], answer[0]) if answer else words["lost"]
    if entry.question_type == "multiple_choice":
        return "".join(sorted(answer))
    return words["join"].join(part.rstrip("。.") for part in answer) or words["lost"]


def _write_wrong_answer(entry: KnownQuestion, key: AnswerKey, place: tuple[str, ...]) -> str:
    if entry.question_type == "true_false":
        return _state(entry, ("false" if entry.answer == ("true",) else "true",))
    if entry.question_type == "multiple_choice":
        return _draw_wrong_labels(entry, place)
    if entry.question_type == "calculation":
        wrong = _NUMBER.sub(_bend_number, _state(entry, entry.answer))
        if not is_right(entry, wrong):
            return wrong
    neighbours = key.neighbours(entry)
    for turn in range(min(5, len(neighbours))):
        other = neighbours[draw_index(len(neighbours), *place, "neighbour", turn)]
        wrong = _state(other, other.answer)
        if other is not entry and not is_right(entry, wrong):
            return wrong
    return _WORDS[entry.language]["lost"]


def _draw_wrong_labels(entry: KnownQuestion, place: tuple[str, ...]) -> str:
    """Another option; for a question with several keys, one key too few or one option too many."""
    right = set(entry.answer)
    others = [label for label in entry.labels if label not in right]
    if len(right) > 1 and (not others or draw_uniform(*place, "several") < 0.5):
        dropped = sorted(right)[draw_index(len(right), *place, "dropped")]
        return "".join(sorted(right - {dropped}))
    if not others:
        return _WORDS[entry.language]["lost"]
    chosen = others[draw_index(len(others), *place, "option")]
    return "".join(sorted(right | {chosen})) if len(right) > 1 else chosen


def _bend_number(match: re.Match[str]) -> str:
    value = float(match.group())
    return f"{value * 1.5 + 1:g}"


def _draw_quality(model: SimulatedModel, knows: bool, place: tuple[str, ...]) -> str:
    luck = draw_uniform(*place, "quality")
    if knows:
        return "reasonable" if luck < model.explanation else "partial"
    return "partial" if luck < 0.4 * model.explanation else "wrong"


def build_memory(spans: Mapping[str, str]) -> Memory:
    """The memory from blanked question → span."""
    return {hash_question(blanked): span for blanked, span in spans.items()}


def complete_passage(model: SimulatedModel, passage: str, memory: Memory, draw: str, seed: str) -> str:
    """The span of the share `memorised`, now and then inexact; otherwise a guess."""
    place = hash_question(passage)
    span = memory.get(place)
    knows = span is not None and draw_uniform(seed, "memory", model.name, place) < model.memorised
    if knows and draw_uniform(seed, "recall", model.name, place, draw) < 0.95:
        return str(span)
    return _GUESSES[draw_index(len(_GUESSES), seed, "guess", model.name, place, draw)]
