"""Candidates write texts, and the texts get Gscores."""

from __future__ import annotations

from typing import Literal

from tasks.gscore import answer_cgeval, score_cgeval
from tasks.report import render_reports
from tasks.running.flow_runs import check_written, flow, publish_summary, require_budget
from tasks.running.sharing import conducting


@flow
def gscore(
    models: list[str],
    references: str,
    profile: Literal["cgeval-paper", "standard"] = "cgeval-paper",
    embedding: str = "",
    several: Literal["best", "mean"] = "best",
    run_id: str = "cgeval",
) -> dict[str, object]:
    """Put CG-Eval's questions to every model, score what it answered, and publish the page.

    Args:
        models: registered models to ask.
        references: path of the file with the references.
        profile: how texts are scored.
        embedding: embedding model, a name or a folder; empty for that of the settings, `none` for none.
        several: which of several references counts.
        run_id: name under which answers are kept.
    """
    require_budget()
    with conducting(
        f"cgeval/{run_id}",
        "gscore",
        models=models,
        references=references,
        profile=profile,
        embedding=embedding,
        several=several,
        run_id=run_id,
    ):
        answered = [answer_cgeval(model, run_id) for model in models]
        scored = [score_cgeval(model, references, profile, embedding, several, run_id) for model in models]
        published = render_reports("")

    result = {"run_id": run_id, "answered": answered, "scored": scored} | published
    publish_summary(result)
    check_written(result)
    return result
