"""Draw sets: lineages by discipline, one question of each, and the secret order of a session.

Everything drawn follows from a secret seed and a label, so that a draw can be repeated and, once the seed is disclosed,
checked (`runs.seed_hash`). The paper draws 1,000 questions per sitting without replacement (LLMEval-Fair §2.2.1).
"""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import polars as pl

from schemas.errors import ContractError, GateError


@dataclass(frozen=True)
class BankIndex:
    """A bank version as the draw sees it.

    Attributes:
        bank_version: its version.
        lineages: discipline → its lineages, sorted.
        questions: lineage → its questions, sorted.
        disciplines: lineage → its discipline.
    """

    bank_version: int
    lineages: Mapping[str, Sequence[str]]
    questions: Mapping[str, Sequence[str]]
    disciplines: Mapping[str, str]


@dataclass(frozen=True)
class Shortfall:
    """A discipline that cannot fill its share of a set.

    Attributes:
        discipline: the stratum.
        needed: lineages that the set needs.
        available: lineages that may still be put to the organisation.
        total: lineages of the discipline in the bank version.
    """

    discipline: str
    needed: int
    available: int
    total: int


class BankTooSmall(GateError):
    """The bank cannot satisfy a set; carries the numbers per discipline."""

    def __init__(self, message: str, shortfalls: Sequence[Shortfall]) -> None:
        super().__init__(message)
        self.shortfalls = tuple(shortfalls)


@dataclass(frozen=True)
class DrawnQuestion:
    """One question of a set, as drawn."""

    lineage_uuid: str
    question_uuid: str
    discipline: str


def index_bank(bank: pl.DataFrame, disciplines: Sequence[str]) -> BankIndex:
    """Index the rows of one bank version (columns bank_version, lineage_uuid, question_uuid, discipline).

    A lineage belongs to the discipline of its first question by UUID. Raises GateError for an empty bank and
    ContractError for several versions at once.
    """
    if bank.is_empty():
        raise GateError("The bank version has no questions. Publish a bank version first (`proctor dedupe`).")
    versions = bank["bank_version"].unique().to_list()
    if len(versions) != 1:
        raise ContractError(f"A run draws from one bank version; the frame holds {sorted(versions)}.")
    grouped = (
        bank.select("lineage_uuid", "question_uuid", "discipline")
        .sort("lineage_uuid", "question_uuid")
        .group_by("lineage_uuid", maintain_order=True)
        .agg(pl.col("question_uuid"), pl.col("discipline").drop_nulls().first())
        .filter(pl.col("discipline").is_in(list(disciplines)))
    )
    lineages: dict[str, list[str]] = {discipline: [] for discipline in disciplines}
    questions: dict[str, list[str]] = {}
    strata: dict[str, str] = {}
    for lineage, found, discipline in grouped.iter_rows():
        lineages[discipline].append(lineage)
        questions[lineage] = found
        strata[lineage] = discipline
    return BankIndex(int(versions[0]), lineages, questions, strata)


def compute_shares(set_size: int, disciplines: Sequence[str]) -> dict[str, int]:
    """Equal shares of a set; a remainder goes, one each, to the disciplines that come first."""
    share, remainder = divmod(set_size, len(disciplines))
    return {
        discipline: share + (1 if position < remainder else 0)
        for position, discipline in enumerate(disciplines)
    }


def draw_set(
    index: BankIndex,
    shares: Mapping[str, int],
    *,
    excluded: AbstractSet[str],
    avoided: AbstractSet[str],
    is_capped: bool,
    seed: str,
    label: str,
    purpose: str,
) -> list[DrawnQuestion]:
    """Draw one set without replacement.

    `excluded` lineages are never drawn; `avoided` ones only where a discipline has no others, so that a shared set can
    also be sat by others. With `is_capped` a small discipline gives what it has. `purpose` names the sitting in the
    message of BankTooSmall, which lists every discipline that falls short.
    """
    drawn: list[DrawnQuestion] = []
    shortfalls: list[Shortfall] = []
    for discipline, needed in shares.items():
        everything = index.lineages[discipline]
        allowed = [lineage for lineage in everything if lineage not in excluded]
        if len(allowed) < needed and not is_capped:
            shortfalls.append(Shortfall(discipline, needed, len(allowed), len(everything)))
            continue
        random_source = make_random(seed, f"{label}|{discipline}")
        for lineage in _draw_lineages(allowed, min(needed, len(allowed)), avoided, random_source):
            question = random_source.choice(index.questions[lineage])
            drawn.append(DrawnQuestion(lineage, question, discipline))
    if shortfalls:
        numbers = "; ".join(
            f"{short.discipline}: {short.needed} needed, {short.available} left of {short.total}"
            for short in shortfalls
        )
        raise BankTooSmall(
            f"Bank version {index.bank_version} cannot fill {purpose}. {numbers}. Add questions to the bank, make the "
            "set smaller (PROCTOR_SET_SIZE), evaluate fewer candidates, or set PROCTOR_CAP_SMALL_DISCIPLINES.",
            shortfalls,
        )
    if not drawn:
        raise BankTooSmall(
            f"Bank version {index.bank_version} has nothing left for {purpose}. Add questions to the bank.",
            (),
        )
    return drawn


def draw_order(lineages: Collection[str], seed: str, label: str) -> list[str]:
    """The lineages of a set in the secret order of one session."""
    order = sorted(lineages)
    make_random(seed, label).shuffle(order)
    return order


def make_random(seed: str, label: str) -> random.Random:
    """A generator that follows from the seed and the label alone."""
    digest = hmac.new(seed.encode(), label.encode(), hashlib.sha256).digest()
    return random.Random(int.from_bytes(digest, "big"))


def _draw_lineages(
    allowed: Sequence[str], count: int, avoided: AbstractSet[str], random_source: random.Random
) -> list[str]:
    preferred = [lineage for lineage in allowed if lineage not in avoided] if avoided else list(allowed)
    if len(preferred) >= count:
        return random_source.sample(preferred, count)
    others = [lineage for lineage in allowed if lineage in avoided]
    return preferred + random_source.sample(others, count - len(preferred))
