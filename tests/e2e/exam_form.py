"""The exam that the embedded and the server form have in common.

It has papers, people, models and a seed, and a gate before the models.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from aiohttp import web

from deployments.home import create_home
from deployments.model_server.server import SimulatedServer
from schemas.settings import Settings, load_settings
from tasks.exam.month import preview_month, publish_month
from tasks.exam.plan import RunWishes
from tasks.exam.public.bank import blinding
from tasks.review.channels import export_open_batches, read_workbooks
from tasks.review.recording import record
from tests.deployments.demo.kit import fill_workbook
from tests.tasks.exam.world import make_chance
from warehouse.lake import open_lake
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user

MONTH = "2026-11"
SEED = "5eed" * 8
JUDGE = "sim-judge"
DISCIPLINES = ("Engineering", "Law")


@dataclass(frozen=True)
class Exam:
    """How large the exam is: the same in both forms.

    Attributes:
        papers: papers of each discipline.
        questions: questions of each paper.
        candidates: candidates; the last is the reference, too.
        set_size: lineages that each sits.
        repeats: sessions of each.
    """

    papers: int = 1
    questions: int = 5
    candidates: int = 2
    set_size: int = 6
    repeats: int = 2

    @property
    def names(self) -> list[str]:
        return [f"sim-{number}" for number in range(self.candidates)]

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "disciplines": DISCIPLINES,
            "set_size": self.set_size,
            "repeats": self.repeats,
            "prompt_styles": ("zero_shot",),
            "lasting_sets": 1,
            "call_concurrency": 1,
            "judges": (JUDGE,),
            "review_gold_share": 0.0,
        }

    def write_registry(self, path: Path) -> None:
        roles = dict.fromkeys(self.names, "candidate")
        roles[self.names[-1]] = "candidate, reference"
        roles[JUDGE] = "judge"
        path.write_text(
            "providers:\n  simulated: {base_url: simulated, max_concurrency: 1}\nmodels:\n"
            + "".join(
                f"  {name}: {{provider: simulated, organisation: {name} labs, is_open: false, roles: [{role}], "
                "input_price_usd: 1.0, output_price_usd: 2.0, release_date: 2026-01-01, "
                "parameters: {temperature: 0, max_tokens: 120}}\n"
                for name, role in roles.items()
            ),
            "utf-8",
        )

    def write_papers(self, folder: Path) -> list[str]:
        """Papers of two disciplines; returns what the flow `ingest` is told of them."""
        for discipline in DISCIPLINES:
            (folder / discipline).mkdir(parents=True)
            for paper in range(self.papers):
                lines = ["一、单项选择题"]
                for number in range(1, self.questions + 1):
                    name = f"{discipline}第{paper + 1}份第{number}题"
                    key = "ABCD"[(paper + number) % 4]
                    lines += [
                        f"{number}. {name}中，下列哪一项符合该情形的要求？（{key}）",
                        *(f"{label}. {name}的第{place}种做法" for place, label in enumerate("ABCD", start=1)),
                    ]
                (folder / discipline / f"paper-{paper + 1}.txt").write_text("\n".join(lines), "utf-8")
        return [str(folder)]

    def write_map(self, folder: Path) -> Path:
        """What says which discipline a paper is of: the folder that it lies in."""
        path = folder / "map.yaml"
        path.write_text("".join(f"{name}: {name}\n" for name in DISCIPLINES), "utf-8")
        return path


def prepare(settings: Settings, exam: Exam, *, joins: bool = False) -> None:
    """Make a home, as `proctor init` does.

    It has the models, the people and the key that both forms have.
    """
    if not joins:
        settings.registry_path.parent.mkdir(parents=True, exist_ok=True)
        exam.write_registry(settings.registry_path)
        # Names of lineages are drawn with it.
        key = settings.secrets_path / blinding.FILE
        key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        key.write_text("5e" * 32)
        key.chmod(0o600)
    create_home(settings, joins=joins)
    if not joins:
        with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
            for name in ("ann", "bob"):
                add_user(connection, user_id=name, role="annotator")


def review(settings: Settings, folder: Path) -> list[str]:
    """Fill in the workbooks of the open batch, accepting everything.

    Returns the batches that are complete.
    """
    with open_ledger(settings.ledger_address) as ledger:
        filled = export_open_batches(ledger, folder)
        for path in filled:
            fill_workbook(path, [])
        report = record(ledger, read_workbooks(ledger, filled), now_text())
    assert not report.refusals
    return list(report.complete_batches)


def plan(settings: Settings, exam: Exam, url: str) -> str:
    """Publish the month's run with a known seed, as an examiner would have done before.

    Returns the run's id.
    """
    with (
        mock.patch.dict(os.environ, {"PROCTOR_SIMULATED_URL": url}),
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings, read_only=True) as lake,
    ):
        found = preview_month(ledger, lake, settings, RunWishes(MONTH, exam.names), chance=make_chance(SEED))
        assert found is not None
        return publish_month(ledger, settings, found)


@contextmanager
def as_process_of(variables: Mapping[str, str]) -> Iterator[None]:
    """This process has the variables of a host meanwhile, and no other of ours."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}
    with mock.patch.dict(os.environ, kept | dict(variables), clear=True):
        load_settings.cache_clear()
        try:
            yield
        finally:
            load_settings.cache_clear()


def write_variables(values: Mapping[str, Any]) -> dict[str, str]:
    """Settings as the variables of a process."""
    return {
        f"PROCTOR_{name.upper()}": json.dumps(value) if isinstance(value, tuple) else str(value)
        for name, value in values.items()
    }


@dataclass
class Gate:
    """Holds replies of the simulated models back.

    So many more of each kind (`exam`, `judge`) are let through; None means all.
    """

    left: dict[str, int | None] = field(default_factory=lambda: {"exam": None, "judge": None})

    def take(self, kind: str) -> bool:
        left = self.left[kind]
        if left is None:
            return True
        if left > 0:
            self.left[kind] = left - 1
        return left > 0

    def install(self, patch: pytest.MonkeyPatch) -> None:
        whole = SimulatedServer.answer

        async def answer(server: SimulatedServer, request: web.BaseRequest) -> web.StreamResponse:
            if request.method == "POST":
                kind = "judge" if json.loads(await request.read())["model"] == JUDGE else "exam"
                while not self.take(kind):  # noqa: ASYNC110 - another thread opens it
                    await asyncio.sleep(0.01)
            return await whole(server, request)

        patch.setattr(SimulatedServer, "answer", answer)
