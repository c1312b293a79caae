"""Why answers fail: a random sample of failed responses, pre-labelled by an LLM for people to confirm or correct."""

from __future__ import annotations

import asyncio

import polars as pl

from schemas.errors import UsageError
from tasks.judging.judge import PutResponse
from tasks.judging.label_prompts import VERSION, parse_label, render_label_prompt
from tasks.models.client import CallRequest, ModelClient
from tasks.models.registry import RegisteredModel
from tasks.questions.draws import compute_rank

PURPOSE = "error_label"
MOST_TRIES = 3
FAILED_STARS = (0, 1)


def draw_failure_sample(judgements: pl.DataFrame, *, per_model: int, seed: str) -> pl.DataFrame:
    """Up to `per_model` failed responses of each candidate: 0 or 1 star by the judgements given (one judge's).

    Stars by rule (`attempt` 0) are left out: an empty answer has no error to label. Columns session_id, seq, model,
    sample_size (how many were drawn of the model); the same for the same seed.
    """
    if per_model < 1:
        raise UsageError("A sample of failures needs at least one response per candidate.")
    failed = (
        judgements.filter(pl.col("stars").is_in(FAILED_STARS) & (pl.col("attempt") > 0))
        .select("session_id", "seq", "model")
        .unique(maintain_order=True)
    )
    luck = [compute_rank(f"{seed}/{session_id}/{seq}").hex() for session_id, seq, _ in failed.iter_rows()]
    return (
        failed.with_columns(pl.Series("luck", luck, dtype=pl.String()))
        .sort("luck")
        .group_by("model", maintain_order=True)
        .head(per_model)
        .with_columns(pl.len().over("model").cast(pl.Int64).alias("sample_size"))
        .sort("model", "luck")
        .select("session_id", "seq", "model", "sample_size")
    )


async def label_failures(
    client: ModelClient, labeller: RegisteredModel, failures: pl.DataFrame, *, most_tries: int = MOST_TRIES
) -> list[dict[str, object]]:
    """Rows of `error_labels` by an LLM (`is_human` false); a reply that names no class is a row without one, unparsed.

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
                unit=f"{put.session_id}/labels/{labeller.name}",
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
