"""Which fault a request meets."""

from __future__ import annotations

from collections import Counter

from deployments.model_server.draws import draw_uniform
from deployments.model_server.profile import SimulatedModel

ATTEMPT_FAULTS = ("rate_limit", "server_error", "hang", "cut_stream", "malformed")
ANSWER_FAULTS = ("empty", "refusal", "truncated", "no_usage")


class FaultDraws:
    """Draws faults, and counts the attempts of each request.

    The count lets a fault of one attempt spare the next.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._attempts: Counter[str] = Counter()

    def draw(self, model: SimulatedModel, request_hash: str) -> str | None:
        """The fault that this attempt meets; null for none."""
        faults = model.faults
        rates = [(name, getattr(faults, name)) for name in (*ATTEMPT_FAULTS, *ANSWER_FAULTS)]
        if not any(rate for _, rate in rates):
            return None
        self._attempts[request_hash] += 1
        attempt = self._attempts[request_hash]
        if faults.attempts is None or attempt <= faults.attempts:
            fault = _choose(
                rates[: len(ATTEMPT_FAULTS)], draw_uniform(self._seed, model.name, request_hash, attempt)
            )
            if fault is not None:
                return fault
        return _choose(rates[len(ATTEMPT_FAULTS) :], draw_uniform(self._seed, model.name, request_hash))


def _choose(rates: list[tuple[str, float]], luck: float) -> str | None:
    total = 0.0
    for name, rate in rates:
        total += rate
        if luck < total:
            return name
    return None
