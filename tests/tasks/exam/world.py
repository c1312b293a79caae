"""A small exam: a bank with planted markers, a registry, a client, and a ledger."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import update

from schemas.settings import Settings
from tasks.exam.plan.bank.drawing import make_seed
from tasks.exam.plan.planning import plan_run
from tasks.exam.plan.publishing import publish_plan
from tasks.exam.plan.request import Chance
from tasks.exam.plan.run_plan import RunPlan
from tasks.exam.plan.wishes import RunWishes
from tasks.exam.protocol.tokens.keys import KeyFile, open_keys
from tasks.exam.protocol.tokens.tokens import issue_token
from tasks.exam.public.bank import BankRows
from tasks.models import CallReply, CallRequest
from tasks.models.registry import RegisteredModel, Registry
from tests.tasks.exam.answer_rows import read_response_rows
from tests.warehouse.bank_rows import BANK
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import runs, sessions
from warehouse.ledger.exam import sittings

SEED = "0123456789abcdef0123456789abcdef"
# What names and salts of a bank are made with where a test indexes it by itself.
SECRET = bytes(range(32))
MONTH = "2026-11"
# What stands in the bank beside the bare content: none of it may ever be seen by a candidate.
KEY_MARKER = "KEY-THAT-MUST-NOT-LEAK"
WHY_MARKER = "EXPLANATION-THAT-MUST-NOT-LEAK"
DISCIPLINES = ("Engineering", "Law", "History")
_SPACE = uuid.UUID("00000000-0000-5000-8000-000000000001")


def make_uuid(name: str) -> str:
    return str(uuid.uuid5(_SPACE, name))


def make_bank(
    sizes: Mapping[str, int] | int = 40,
    *,
    variants: int = 2,
    bank_version: int = 1,
    prefix: str = "",
    has_keys: bool = False,
) -> pl.DataFrame:
    """A bank version with so many lineages per discipline, each an original and its variants."""
    counts = dict.fromkeys(DISCIPLINES, sizes) if isinstance(sizes, int) else sizes
    return _make_bank(tuple(counts.items()), variants, bank_version, prefix, has_keys)


@cache
def _make_bank(
    counts: tuple[tuple[str, int], ...], variants: int, bank_version: int, prefix: str, has_keys: bool
) -> pl.DataFrame:
    rows: list[dict[str, object]] = []
    for discipline, count in counts:
        for number in range(count):
            lineage = make_uuid(f"{prefix}{discipline}-{number}")
            for variant in range(variants + 1):
                # One statement in `variants` is true, as it is where each option makes a statement.
                key = None if not variant or not has_keys else ("true" if variant == 1 else "false")
                name = f"{prefix}{discipline}-{number}" + (f"-v{variant}" if variant else "")
                is_choice = variant == 0
                rows.append(
                    {
                        "bank_version": bank_version,
                        "question_uuid": make_uuid(name),
                        "revision": 1,
                        "lineage_uuid": lineage,
                        "parent_uuid": lineage if variant else None,
                        "method": "multiple_choice_to_true_false" if variant else "original",
                        "document_id": make_uuid("document"),
                        "question_type": "multiple_choice" if is_choice else "true_false",
                        "discipline": discipline,
                        "source_kind": "other",
                        "language": "en",
                        "stem": f"Stem {name} asks something.",
                        "material": None,
                        "options": [{"label": "A", "text": "one"}, {"label": "B", "text": "two"}]
                        if is_choice
                        else [],
                        "answer": [KEY_MARKER] if key is None else [key],
                        "explanation": WHY_MARKER,
                    }
                )
    return BANK.frame(rows)


def make_model(
    name: str,
    organisation: str | None = None,
    *,
    is_simulated: bool = False,
    roles: Sequence[str] = ("candidate",),
    released: date | None = date(2026, 1, 1),
    parameters: dict[str, Any] | None = None,
    price: float | None = 1.0,
    mode: str = "standard",
    base_url: str = "http://127.0.0.1:9/v1",
    every: int | None = None,
) -> RegisteredModel:
    return RegisteredModel(
        name=name,
        organisation=organisation or f"{name} labs",
        family=None,
        release_date=released,
        is_open=False,
        mode=mode,
        base_model=None,
        endpoint_model=name,
        base_url=base_url,
        key_variable=None,
        parameters=parameters or {},
        input_price_usd=price,
        output_price_usd=price,
        requests_per_minute=None,
        max_concurrency=None,
        is_simulated=is_simulated,
        provider="own",
        roles=tuple(roles),
        reexamine_every=every,
    )


def make_registry(*models: RegisteredModel) -> Registry:
    return Registry({model.name: model for model in models})


def make_settings(home: Path, **values: Any) -> Settings:
    defaults: dict[str, Any] = {
        "home": home,
        "disciplines": DISCIPLINES,
        "set_size": 6,
        "repeats": 1,
        "prompt_styles": ("zero_shot",),
        # Who shares with whom is looked at in one group, unless a test is about several.
        "set_groups": 1,
    }
    return Settings(**{**defaults, **values})


class AnsweringClient:
    """A model client that answers at once, remembers what it was asked, and can be told to fail."""

    def __init__(
        self, fail: Callable[[RegisteredModel, int], Exception | None] | None = None, delay_s: float = 0.0
    ) -> None:
        self.requests: list[CallRequest] = []
        self._fail = fail
        self._delay_s = delay_s

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        self.requests.append(request)
        if self._fail is not None and (error := self._fail(model, len(self.requests))) is not None:
            raise error
        await asyncio.sleep(self._delay_s)
        key = hashlib.sha256(json.dumps([model.name, request.messages, request.salt]).encode()).hexdigest()
        return CallReply(
            call_key=key,
            text=f"true, says {model.name}",
            reasoning=None,
            finish_reason="stop",
            status="answered",
            input_tokens=10,
            output_tokens=5,
            cost_usd=0.001,
            latency_ms=1.5,
            attempts=1,
        )


class WorldClock:
    """The clock of a world, which is believed as it is."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __call__(self) -> float:
        return self._world.now

    def look(self, connection: Connection) -> None:
        """Nothing to compare with."""

    def has_passed(self, moment: str, since: str) -> bool:
        return moment <= write_moment(self._world.now)


@dataclass
class World:
    """A ledger with one published run, and the means to act in it."""

    ledger: Ledger
    settings: Settings
    registry: Registry
    bank: pl.DataFrame
    plan: RunPlan
    now: float = 1_800_000_000.0
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def keys(self) -> KeyFile:
        return open_keys(self.settings)

    @property
    def clock(self) -> WorldClock:
        return WorldClock(self)

    def sessions(self, model: str = "alpha") -> list[dict[str, Any]]:
        with self.ledger.read() as connection:
            return [
                row.as_values()
                for row in sittings.list_sessions(connection, run_id=self.plan.run_id)
                if row.model == model
            ]

    def token(
        self,
        session_id: str | None,
        *,
        user_id: str = "candidate:alpha",
        permissions: Sequence[str] = ("sit",),
        ttl_s: int = 3600,
    ) -> str:
        return issue_token(self.keys, user_id, session_id, permissions, ttl_s, now=self.now).text

    def order(self, session_id: str) -> list[str]:
        """The stems of a session in the allocated order, from the ledger."""
        with self.ledger.read() as connection:
            return [row["content"]["stem"] for row in read_response_rows(connection, [session_id])]

    def answers(self, session_id: str) -> dict[int, str]:
        with self.ledger.read() as connection:
            return {
                row["seq"]: row["response"]
                for row in read_response_rows(connection, [session_id])
                if row["answered_at"] is not None
            }


@dataclass(frozen=True)
class PublishedWorld:
    """A world whose run was published once, to be copied for each test."""

    folder: Path
    registry: Registry
    bank: pl.DataFrame
    plan: RunPlan
    wishes: Mapping[str, Any]

    @classmethod
    def publish(cls, folder: Path, empty: Path, registry: Registry, **wishes: Any) -> PublishedWorld:
        """Publish it in the folder, with a copy of the empty ledger."""
        restore_ledger(empty, folder / "ledger.sqlite")
        settings, bank = make_settings(folder / "home"), make_bank()
        with open_ledger(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger:
            plan = publish(ledger, settings, registry, bank, **wishes)
        return cls(folder, registry, bank, plan, wishes)

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.sqlite"

    def copy(self, ledger: Ledger, home: Path) -> World:
        """The world of a ledger copied from this one's; one on a server is published again."""
        if ledger.engine.dialect.name != "sqlite":
            settings = make_settings(home)
            plan = publish(ledger, settings, self.registry, self.bank, **self.wishes)
            return World(ledger, settings, self.registry, self.bank, plan)
        shutil.copytree(self.folder / "home", home, dirs_exist_ok=True)
        return World(ledger, make_settings(home), self.registry, self.bank, self.plan)


def seed_of(text: str) -> str:
    """The seed of a run that was planned with `seed=text`, as the ledger keeps it."""
    return make_seed(hashlib.sha256(text.encode()).digest()).hex()


def answer_run(ledger: Ledger, run_id: str) -> None:
    """Count every session of a run as answered and closed, and the run as closed."""
    with ledger.write() as connection:
        connection.execute(
            update(sessions)
            .where(sessions.c.run_id == run_id)
            .values(status="closed", answered_count=sessions.c.question_count, closed_at="2026-11-30")
        )
        connection.execute(update(runs).where(runs.c.run_id == run_id).values(status="closed"))


def make_chance(seed: str) -> Chance:
    """A chance that is the same for the same text."""
    return Chance(hashlib.sha256(seed.encode()).digest())


def plan_wished(
    ledger: Ledger,
    settings: Settings,
    registry: Registry,
    bank: pl.DataFrame | BankRows,
    *,
    seed: str = "",
    judging: Mapping[str, str] | None = None,
    **wishes: Any,
) -> RunPlan:
    """The plan of a run of real candidates in `MONTH`, unless the wishes say otherwise."""
    wished = RunWishes(**{"month": MONTH, "is_simulated": False, **wishes})
    chance = make_chance(seed) if seed else None
    return plan_run(ledger, settings, registry, bank, wished, chance=chance, judging=judging)


def publish(
    ledger: Ledger, settings: Settings, registry: Registry, bank: pl.DataFrame | BankRows, **wishes: Any
) -> RunPlan:
    plan = plan_wished(ledger, settings, registry, bank, **{"seed": SEED, **wishes})
    publish_plan(ledger, plan)
    return plan
