"""One reply from one candidate: asked for again while it cannot be read, void in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tasks.league.wording import Prompt
from tasks.models import CallFailed, CallRequest, ModelClient
from tasks.models.registry import RegisteredModel

T = TypeVar("T")


@dataclass
class Usage:
    """Calls, tokens and cost; null where a provider does not tell it of one of the calls."""

    call_count: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_usd: float | None = 0.0

    def add(self, other: Usage) -> None:
        """Count another's as well."""
        self.call_count += other.call_count
        for name in ("input_tokens", "output_tokens", "cost_usd"):
            ours, more = getattr(self, name), getattr(other, name)
            setattr(self, name, None if None in (ours, more) else ours + more)


@dataclass
class Reply(Generic[T]):
    """What came of asking.

    Attributes:
        value: what could be read; null when no call gave anything readable.
        raw: the last text that came; null when no call succeeded.
    """

    value: T | None
    raw: str | None
    version: str
    usage: Usage = field(default_factory=Usage)

    @property
    def parse_status(self) -> str:
        """`parsed` or `unparsed`."""
        return "unparsed" if self.value is None else "parsed"


@dataclass(frozen=True)
class LeagueCalls:
    """How candidates of a league are called.

    Attributes:
        run_id: what the calls are paid for.
        unit: what the calls are landed with.
        place: the round, or the entrant's domain: no other has the same.
        most_tries: calls for one reply, the first included.
        voids_failures: take a call that failed for good as a reply that cannot be read, instead of raising.
    """

    client: ModelClient
    run_id: str
    unit: str
    place: str
    temperature: float
    most_tries: int
    voids_failures: bool = False

    async def ask(
        self,
        model: RegisteredModel,
        role: str,
        prompt: Prompt,
        read: Callable[[str], T | None],
        part: str = "",
    ) -> Reply[T]:
        """Ask until the reply can be read, `most_tries` times at most.

        `part` names what is asked beside role and model: with the place it keeps every call apart from every other, so that
        one that was paid for is found again and never sent twice. Raises CallFailed after the client's last attempt.
        """
        reply: Reply[T] = Reply(None, None, prompt.version)
        for attempt in range(1, self.most_tries + 1):
            request = CallRequest(
                purpose=f"league_{role}",
                messages=prompt.messages,
                run_id=self.run_id,
                unit=self.unit,
                salt=f"{self.place}/{role}/{model.name}/{part}/{attempt}",
                parameters={"temperature": self.temperature},
            )
            try:
                got = await self.client.complete(model, request)
            except CallFailed:
                if not self.voids_failures:
                    raise
                reply.usage.add(Usage(call_count=1))
                break
            reply.usage.add(Usage(1, got.input_tokens, got.output_tokens, got.cost_usd))
            reply.raw = got.text
            reply.value = read(got.text)
            if reply.value is not None:
                break
        return reply
