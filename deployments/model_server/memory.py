"""What a simulated model remembers of questions that it has read: the span behind a blank."""

from __future__ import annotations

from collections.abc import Mapping

from deployments.model_server.draws import draw_index, draw_uniform
from deployments.model_server.key import hash_question
from deployments.model_server.profile import SimulatedModel

# Blanked question, hashed → its span.
Memory = Mapping[str, str]

_GUESSES = ("37", "基本原理", "the general case", "1986", "相关要求", "an important factor", "第三种情形")


def build_memory(spans: Mapping[str, str]) -> Memory:
    """The memory from blanked question → span."""
    return {hash_question(blanked): span for blanked, span in spans.items()}


def complete_passage(model: SimulatedModel, passage: str, memory: Memory, draw: str, seed: str) -> str:
    """The span, for the share `memorised` of the questions in memory; otherwise a guess.

    Now and then the span of a memorised question is not given exactly.
    """
    place = hash_question(passage)
    span = memory.get(place)
    knows = span is not None and draw_uniform(seed, "memory", model.name, place) < model.memorised
    if knows and draw_uniform(seed, "recall", model.name, place, draw) < 0.95:
        return str(span)
    return _GUESSES[draw_index(len(_GUESSES), seed, "guess", model.name, place, draw)]
