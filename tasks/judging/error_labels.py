"""Why answers fail.

A random sample of failed responses is pre-labelled by an LLM, for people to confirm or correct.
"""

from __future__ import annotations

import asyncio

import polars as pl

from schemas.errors import UsageError
from tasks.judging.judge import PutResponse
from tasks.judging.label_prompts import VERSION, parse_label, render_label_prompt
from tasks.models import CallRequest, ModelClient
from tasks.models.registry import RegisteredModel
from tasks.questions import compute_rank

PURPOSE = "error_label"
MOST_TRIES = 3


def draw_failure_sample(failed: pl.DataFrame, *, per_model: int, seed: str) -> pl.DataFrame:
    """Up to `per_model` of each candidate's failed responses.

    All have the same chance, and the same seed draws the same ones.

    `failed` has session_id, seq and model; added are `failed_count` (how many the candidate has) and `sample_size` (how many
    were drawn of it).
    """
    if per_model < 1:
        raise UsageError("A sample of failures needs at least one response per candidate.")
    luck = [
        compute_rank(f"{seed}/{session_id}/{seq}").hex()
        for session_id, seq in failed.select("session_id", "seq").iter_rows()
    ]
    return (
        failed.with_columns(
            pl.Series("luck", luck, dtype=pl.String),
            failed_count=pl.len().over("model").cast(pl.Int64),
        )
        .sort("luck")
        .group_by("model", maintain_order=True)
        .head(per_model)
        .with_columns(sample_size=pl.len().over("model").cast(pl.Int64))
        .sort("model", "luck")
        .drop("luck")
    )


async def label_failures(
    client: ModelClient, labeller: RegisteredModel, failures: pl.DataFrame, *, most_tries: int = MOST_TRIES
) -> list[dict[str, object]]:
    """Rows of `error_labels` by an LLM (`is_human` false).

    A reply that names no class is a row without one, unparsed.

    `failures` has the columns of join_questions and `sample_size`. Raises CallFailed and BudgetError.
    """
    return list(
        await asyncio.gather(
            *[
                _label(client, labeller, PutResponse.from_row(row), row["sample_size"], most_tries)
                for row in failures.iter_rows(named=True)
            ]
        )
    )


def name_label_unit(session_id: str, labeller: str) -> str:
    """The unit that a labeller's calls for a session are landed with."""
    return f"{session_id}/labels/{labeller}"


async def _label(
    client: ModelClient, labeller: RegisteredModel, put: PutResponse, sample_size: int, most_tries: int
) -> dict[str, object]:
    messages = render_label_prompt(put.question, put.response)
    for attempt in range(1, most_tries + 1):
        reply = await client.complete(
            labeller,
            CallRequest(
                purpose=PURPOSE,
                messages=messages,
                run_id=put.run_id,
                unit=name_label_unit(put.session_id, labeller.name),
                salt=f"/{attempt}" if attempt > 1 else "",
            ),
        )
        label = parse_label(reply.text)
        if label is not None:
            break
    return {
        "session_id": put.session_id,
        "seq": put.seq,
        "model": put.model,
        "labeller": labeller.name,
        "is_human": False,
        "error_class": label,
        "sample_size": sample_size,
        "raw": reply.text,
        "parse_status": "unparsed" if label is None else "parsed",
        "prompt_version": f"{VERSION}/{put.question.language}",
    }
