"""What a plan follows from: the request, and what the ledger says before it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tasks.exam.plan.bank import BankIndex, make_seed
from tasks.exam.plan.cost import TokenEstimate
from tasks.exam.plan.due import Schedule
from tasks.exam.plan.shares import ShareRule
from tasks.exam.public.bank import BankRows
from warehouse.ledger.trust.organisations import SIMULATED_PREFIX, make_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from schemas.settings import Settings
    from tasks.models.registry import RegisteredModel


@dataclass(frozen=True)
class Sitter:
    """Who sits: registry name, candidate user, organisation's key, what the answers depend on."""

    model: str
    user_id: str
    organisation: str
    fingerprint: str = ""


@dataclass(frozen=True)
class Chance:
    """What the seed of a run is mixed from.

    Attributes:
        share: the operator's share, 32 bytes.
        added: the shares that candidates gave, in the order of the log.
        beacon: the public value that was named beforehand, as the commitment has it; null without one.
        given: that value, as the draw has it, once it is known.
        commit: number of the entry by which the run was committed to before; null where it is committed to as it is drawn.
        committed_at: when that was: what had rested then has rested.
        replaces: number of the entry that this commitment takes the place of.
        reason: why.
    """

    share: bytes = field(repr=False)
    added: tuple[bytes, ...] = ()
    beacon: Mapping[str, Any] | None = None
    given: Mapping[str, Any] | None = None
    commit: int | None = None
    committed_at: datetime | None = None
    replaces: int | None = None
    reason: str | None = None

    @cached_property
    def seed(self) -> bytes:
        """The seed of orders, of new sets and of the sessions' names."""
        return make_seed(self.share, self.added, None if self.given is None else str(self.given["value"]))


@dataclass(frozen=True)
class PlanRequest:
    """Everything that a plan follows from, besides the ledger.

    Attributes:
        month: YYYY-MM.
        repetition: name of a further run of the month; empty for the month's own.
        rows: the questions of the bank with their content: read for what is drawn, and once for the bank's public file.
        rule: the shares of a set.
        set_size: lineages asked for in a set.
        policy: `shared` or `unique`.
        candidates: who sits as a candidate.
        references: the reference, and the former one in a bridging run.
        models: every model of the run by name.
        organisations: key → name of every organisation of the registry.
        aliases: key of another name → key of the organisation.
        outside: candidates with their own client.
        is_simulated: whether the run is a simulation.
        is_reference_renewed: whether the reference answers sets again whatever it has answered.
        settings: what else is set: styles, repeats, rests, limits, folders.
    """

    run_id: str
    month: str
    repetition: str
    index: BankIndex
    rows: BankRows = field(repr=False)
    rule: ShareRule
    set_size: int
    policy: str
    candidates: Sequence[Sitter]
    references: Sequence[Sitter]
    models: Mapping[str, RegisteredModel]
    organisations: Mapping[str, str]
    aliases: Mapping[str, str]
    schedule: Sequence[Schedule]
    outside: frozenset[str]
    is_simulated: bool
    is_reference_renewed: bool
    settings: Settings
    chance: Chance
    planned_on: datetime = field(default_factory=lambda: datetime.now(UTC))

    @cached_property
    def estimate(self) -> TokenEstimate:
        """What a call is expected to take."""
        return TokenEstimate(picture_share=self.settings.picture_share)

    @property
    def approval_days(self) -> int | None:
        """Days that a request for a second person waits; null where planning needs none."""
        return self.settings.approval_days if "plan" in self.settings.two_persons else None

    @cached_property
    def season(self) -> str:
        """Sets may be shared only where bank version, policy, size and shares are the same."""
        shares = "|".join(f"{discipline}={share}" for discipline, share in self.rule.planned.items())
        if self.settings.picture_share:
            shares += f"|pictures={self.settings.picture_share:g}"
        shape = hashlib.sha256(shares.encode()).hexdigest()[:6]
        prefix = SIMULATED_PREFIX if self.is_simulated else ""
        return f"{prefix}bank-{self.index.bank_version}/{self.policy}-{self.set_size}-{shape}"

    @cached_property
    def rested_before(self) -> str:
        """A lineage met before this moment may return; empty, and none may, without a rest period."""
        return self._subtract_months(self.settings.rest_months)

    @cached_property
    def kept_since(self) -> str:
        """What was planned before this moment is due to be erased soon; empty without a policy."""
        return self._subtract_months(self.settings.keep_raw_months)

    def _subtract_months(self, months: int | None) -> str:
        if months is None:
            return ""
        year, month = divmod(self.planned_on.year * 12 + self.planned_on.month - 1 - months, 12)
        return f"{year:04d}-{month + 1:02d}-{min(self.planned_on.day, 28):02d}T00:00:00.000000+00:00"

    def with_chance(self, chance: Chance) -> PlanRequest:
        """The same with another seed."""
        return replace(self, chance=chance)

    def find_key(self, name: str) -> str:
        """The key of an organisation of this run's kind by any of its names."""
        key = make_key(name, is_simulated=self.is_simulated)
        return self.aliases.get(key, key)

    def name_organisation(self, key: str) -> str:
        """The organisation as people know it."""
        return self.organisations.get(key, key.removeprefix(SIMULATED_PREFIX))


class PastSitting(NamedTuple):
    """A set that a model has sat in a style."""

    model: str
    set_id: str
    prompt_style: str


class KnownSet(NamedTuple):
    """A set in the ledger, who may share it, and the positions of its lineages in the index.

    `possible` is a mask of all that a set of the run that is planned could hold, whatever its seed; null for a set that is there.
    """

    set_number: int
    set_id: str
    set_group: int
    positions: NDArray[np.int64]
    possible: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class LedgerState:
    """What the ledger says before the plan. Masks are over the positions of the bank index.

    Attributes:
        season_sets: sets of the season by number.
        met: organisation key → mask of lineages met and not rested, and of all that ask about the same passages.
        first_bank: the bank version of the first set ever drawn for this kind; null where there is none.
        groups: organisation key → the group of the set that it shared last.
        met_by_any: mask of lineages that any organisation of this kind (real or simulated) has met.
        rested: mask of lineages that rest, as so many organisations have met them; null where none is asked to rest.
        asked: position of a lineage that a candidate has answered → the question that was asked, where it has a slot.
        asked_of: position of such a lineage → how many candidates have answered its set.
        sittings: what the references have sat → fingerprint of the last time; null where none was kept.
    """

    season_sets: Sequence[KnownSet]
    met: Mapping[str, NDArray[np.bool_]]
    met_by_any: NDArray[np.bool_]
    rested: NDArray[np.bool_] | None
    asked: Mapping[int, str]
    asked_of: Mapping[int, int]
    groups: Mapping[str, int]
    first_bank: int | None
    sittings: Mapping[PastSitting, str | None]
