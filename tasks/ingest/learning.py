"""Fitting the confidence again on decisions of review, and on papers read by eye.

What would change is reported first. A fit that is taken into use holds for what is read from then on; what was landed keeps
its confidence, and the name of the fit it came from, until it is read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.documents import CONFIDENCE_FITS
from schemas.errors import UsageError
from tasks.ingest.confidence import (
    Fit,
    Known,
    KnownPaper,
    Terms,
    compute_confidences,
    fit_confidence,
    gather_questions,
    know_paper,
    parse_reading,
    read_fit,
    read_truths,
    try_left_out,
)
from tasks.ingest.documents import IngestOptions, parse_document
from tasks.ingest.intake import name_source
from warehouse.lake import Lake

# Reasons of a rejection that say nothing of how the paper was read.
_OF_CONTENT = ("factual_error", "duplicate", "misclassified", "other")
# Fewer questions fit nothing.
LEAST_QUESTIONS = 100
_COMPARED = ("type", "stem", "material", "options", "answer")


@dataclass(frozen=True)
class FitReport:
    """What a new fit comes to, and what it would change.

    Attributes:
        version, old_version: the new fit's name, and that of the one in use.
        paper_count, question_count: what it was fitted on.
        table: the bins of confidence, each source left out of the fit, as Markdown.
        raised, lowered: landed questions that would cross the threshold, upwards and downwards.
        held, released: paths of landed papers that would be held and are not, and the other way round.
        is_applied: whether it was taken into use.
    """

    version: str
    old_version: str
    paper_count: int
    question_count: int
    table: str
    raised: int
    lowered: int
    held: Sequence[str]
    released: Sequence[str]
    is_applied: bool


def read_fit_in_use(lake: Lake) -> str | None:
    """The JSON of the fit that was last taken into use here; None for the packaged one."""
    rows = lake.read("confidence_fit_in_use").to_dicts()
    return str(rows[0]["fitted"]) if rows else None


def learn_confidence(
    lake: Lake, folders: Sequence[Path], options: IngestOptions, person: str, *, apply: bool
) -> FitReport:
    """Fit the confidence on decisions and truth files of `folders`; report what changes.

    With `apply` the fit is taken into use. Doing it twice changes nothing.

    Raises:
        UsageError: too little is known, or a folder holds no truth files.
    """
    papers = [*_know_reviewed(lake), *(one for folder in folders for one in _know_folder(folder, options))]
    count = sum(len(paper.known) for paper in papers)
    if count < LEAST_QUESTIONS:
        raise UsageError(
            f"{count} questions are known to be right or wrong, and {LEAST_QUESTIONS} are needed. Let review decide on more, or "
            "name folders of papers with truth files: --truth FOLDER."
        )
    in_use = read_fit(read_fit_in_use(lake))
    made = {
        "papers": len(papers),
        "sources": len({paper.source for paper in papers}),
        "questions": count,
        "reviewed_papers": sum(1 for paper in papers if not paper.name.startswith("truth:")),
    }
    fit = fit_confidence(papers, made)
    terms = Terms(options.confidence_threshold, options.hold_least_right, options.hold_most_broken)
    raised, lowered, held, released = _compare_landed(lake, fit, terms)
    if apply and fit.version != in_use.version:
        row = {
            "confidence_version": fit.version,
            "fitted": fit.render(),
            "applied_by": person,
            "applied_at": datetime.now(UTC),
        }
        lake.land("confidence_fits", fit.version, CONFIDENCE_FITS.frame([row]))
    table = try_left_out(papers).render("Every source left out of the fit that judges it:", terms.least_right)
    return FitReport(
        fit.version,
        in_use.version,
        len(papers),
        count,
        table,
        raised,
        lowered,
        held,
        released,
        is_applied=apply,
    )


def is_read_right(row: Mapping[str, Any]) -> bool | None:
    """Whether a reviewed question was read right; None where its decision says nothing of that."""
    if row["outcome"] == "rejected":
        return None if row["reject_reason"] in _OF_CONTENT else False
    if row["outcome"] != "accepted":
        return None
    if not row["was_edited"]:
        return True
    pairs = (
        (row["question_type" if name == "type" else name], row[f"accepted_{name}"]) for name in _COMPARED
    )
    return all((parsed or None) == (accepted or None) for parsed, accepted in pairs)


def _know_reviewed(lake: Lake) -> list[KnownPaper]:
    """The papers of which review has decided on questions."""
    found = []
    for document in lake.read("documents_with_reading").to_dicts():
        rows = _read_questions(lake, document)
        verdicts = [is_read_right(row) for row in rows]
        if all(verdict is None for verdict in verdicts):
            continue
        evidence, checked = parse_reading(document["reading"])
        own = gather_questions(evidence, rows, checked.breaches)
        known = [
            Known(one, verdict) for one, verdict in zip(own, verdicts, strict=True) if verdict is not None
        ]
        found.append(
            KnownPaper(document["document_id"], name_source(document["source_path"]), evidence, known)
        )
    return found


def _know_folder(folder: Path, options: IngestOptions) -> list[KnownPaper]:
    """The papers of a folder that were read by eye, read now."""
    truths = read_truths(folder)
    if not truths:
        raise UsageError(
            f"{folder} holds no truth files (truth/PAPER.json). docs/ingest.md says what one holds."
        )
    found = []
    for name, truth in truths.items():
        if (folder / name).exists() and truth["n_questions"]:
            parsed = parse_document(folder / name, options)
            paper = know_paper(parsed.document, parsed.questions, truth)
            found.append(replace(paper, name=f"truth:{paper.name}"))
    return found


def _read_questions(lake: Lake, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    params = {"document_id": document["document_id"]}
    rows = lake.read("questions_beside_decisions", params).to_dicts()
    return [row | {"parse_notes": row["parse_notes"] or [], "options": row["options"] or []} for row in rows]


def _compare_landed(lake: Lake, fit: Fit, terms: Terms) -> tuple[int, int, list[str], list[str]]:
    """Questions that another fit raises and lowers, papers newly held and no longer held."""
    raised = lowered = 0
    held: list[str] = []
    released: list[str] = []
    for document in lake.read("documents_with_reading").to_dicts():
        rows = _read_questions(lake, document)
        before = [row["parse_confidence"] >= terms.threshold for row in rows]
        evidence, checked = parse_reading(document["reading"])
        share = compute_confidences(fit, evidence, rows, checked.breaches)
        now = [row["parse_confidence"] >= terms.threshold for row in rows]
        raised += sum(new and not old for old, new in zip(before, now, strict=True))
        lowered += sum(old and not new for old, new in zip(before, now, strict=True))
        is_held = share < terms.least_right or 1 - checked.score > terms.most_broken
        if is_held != (document["status"] == "held"):
            (held if is_held else released).append(str(document["source_path"]))
    return raised, lowered, held, released
