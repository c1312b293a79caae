"""Questions that may be shown: nobody can be asked them, or everybody has read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from schemas.settings import Settings
from tasks.exam.public.bank.blinding import commit_question, read_blinding_secret
from tasks.exam.public.bank.questions import list_disclosed
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import plans


@dataclass(frozen=True)
class ShowableQuestions:
    """What may be shown of some types of the bank, and what may not.

    Attributes:
        questions: rows of `bank_entries` with what is right, in order of discipline and question.
        live_count: questions that are in the bank, or whose lineage or copy is.
        sitting_count: retired ones of which a session that is not closed has one of the lineage, or a copy, before it.
        unretired_count: those that left the bank otherwise than by being retired.
    """

    questions: pl.DataFrame
    live_count: int
    sitting_count: int
    unretired_count: int


def read_showable(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    question_types: Sequence[str],
    *,
    discipline: str = "",
    language: str = "",
) -> ShowableQuestions:
    """The questions of these types that were disclosed, or are retired and can be put to nobody.

    A retired one is held back while one of its lineage or a copy is in the bank, or before a session that is not closed. An empty
    discipline or language means all.
    """
    parameters = {
        "question_types": list(question_types),
        "discipline": discipline or None,
        "language": language or None,
    }
    found = lake.read("entries_to_show", parameters)
    disclosed = list_disclosed(ledger)
    secret = read_blinding_secret(settings) if disclosed else b""
    with ledger.read() as connection:
        sat = plans.list_open_lineages(connection)
    reasons = [
        "shown"
        if disclosed and commit_question(secret, row).hex() in disclosed
        else "live"
        if row["is_live"]
        else "unretired"
        if not row["is_retired"]
        else "sitting"
        if not sat.isdisjoint(row["lineage_uuids"])
        else "shown"
        for row in found.iter_rows(named=True)
    ]
    shown = found.filter(pl.Series([reason == "shown" for reason in reasons], dtype=pl.Boolean))
    return ShowableQuestions(
        questions=shown.drop("is_retired", "lineage_uuids", "is_live"),
        live_count=reasons.count("live"),
        sitting_count=reasons.count("sitting"),
        unretired_count=reasons.count("unretired"),
    )
