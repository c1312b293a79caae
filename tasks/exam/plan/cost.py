"""What a run is expected to cost, before any call is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.models.registry import RegisteredModel


@dataclass(frozen=True)
class TokenEstimate:
    """Tokens that one question is expected to take, by prompt style, for the preview's cost.

    Attributes:
        thinking_factor: how many times as many a thinking model returns.
        picture_share: share of the questions that may have pictures, each of them one.
    """

    input_tokens: Mapping[str, int] = field(
        default_factory=lambda: {"zero_shot": 200, "few_shot": 1000, "chain_of_thought": 260}
    )
    output_tokens: Mapping[str, int] = field(
        default_factory=lambda: {"zero_shot": 350, "few_shot": 350, "chain_of_thought": 800}
    )
    thinking_factor: float = 6.0
    picture_tokens: int = 1_500
    picture_share: float = 0.0

    def compute_cost(self, model: RegisteredModel, style: str) -> float | None:
        """Expected cost in USD of one question; null when the registry has no price."""
        if model.input_price_usd is None or model.output_price_usd is None:
            return None
        factor = self.thinking_factor if model.mode == "thinking" else 1.0
        sent: float = self.input_tokens.get(style, max(self.input_tokens.values()))
        if model.sees_pictures:
            sent += self.picture_share * self.picture_tokens
        returned = self.output_tokens.get(style, max(self.output_tokens.values())) * factor
        return (sent * model.input_price_usd + returned * model.output_price_usd) / 1e6
