"""Why answers fail: a random sample of failed responses is labelled.

An LLM is asked first, and people confirm or correct it. The five classes are those of LLMEval-Fair (section 3.1, figure
3); their descriptions here are ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

import polars as pl

from schemas.errors import UsageError
from schemas.judgements import ERROR_CLASSES
from tasks.judging.judge import PutResponse
from tasks.judging.prompts import render_sections
from tasks.models import CallRequest, ModelClient
from tasks.models.reading import drop_thinking, find_objects
from tasks.models.registry import RegisteredModel
from tasks.questions import QuestionContent, compute_rank
from tasks.questions.forms import Messages
from tasks.texts import read_texts

PURPOSE = "error_label"
MOST_TRIES = 3
# Recorded with every label: a changed word here or in error_labels.yaml needs a new version (a test compares).
VERSION = "1"
# A simulated labeller knows the request by this line.
REQUEST = {
    "zh": "下面的作答被判为错误。请指出它失败的主要原因属于哪一类。",
    "en": "The response below was marked wrong. Say which class the main cause of its failure belongs to.",
}
_CLASSES: Final[dict[str, dict[str, str]]] = read_texts("tasks.judging", "error_labels.yaml")
_REPLY = {
    "zh": '只输出一个 JSON 对象：{"error_class": "……"}，取值为上面五类之一的英文名。',
    "en": 'Return one JSON object and nothing else: {"error_class": "..."}, with the name of one of the five classes.',
}


def draw_failure_sample(failed: pl.DataFrame, *, per_model: int, seed: str) -> pl.DataFrame:
    """Up to `per_model` failed responses of each candidate, of `failed_count`, by lot of `seed`."""
    if per_model < 1:
        raise UsageError("A sample of failures needs at least one response per candidate.")
    luck = [
        compute_rank(f"{seed}/{session_id}/{seq}").hex()
        for session_id, seq in failed.select("session_id", "seq").iter_rows()
    ]
    return (
        failed.with_columns(
            pl.Series("luck", luck, dtype=pl.String), failed_count=pl.len().over("model").cast(pl.Int64)
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


def render_label_prompt(question: QuestionContent, response: str) -> Messages:
    """The messages that ask for the class of a failure."""
    language = question.language
    classes = "\n".join(f"{name}: {about}" for name, about in _CLASSES[language].items())
    sections = render_sections(question, response)
    return [
        {"role": "user", "content": f"{REQUEST[language]}\n\n{classes}\n\n{sections}\n\n{_REPLY[language]}"}
    ]


def parse_label(text: str) -> str | None:
    """The one class that a reply names outside of quotations; null for none or several."""
    text = drop_thinking(text)
    objects = find_objects(text, repair=True)
    if objects is None:
        return None
    labelled = [one for one in objects if "error_class" in one.value]
    if not labelled:
        return _pick_only(name for name in ERROR_CLASSES if name in text.casefold())
    # What is weighed before the object is no verdict yet; what follows it is.
    named = [name for name in ERROR_CLASSES if name in text[labelled[-1].end :].casefold()]
    own = [str(one.value["error_class"]).strip().casefold() for one in labelled if one.voice == "own"]
    label = _pick_only([*named, *own])
    return label if label in ERROR_CLASSES else None


def _pick_only(names: Iterable[str]) -> str | None:
    found = set(names)
    return found.pop() if len(found) == 1 else None
