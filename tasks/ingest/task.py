"""Ingest as Prefect sees it, list → parse → archive → land; only paths and counts pass."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from schemas.settings import load_settings
from tasks.ingest.documents import make_options
from tasks.ingest.landing import land_documents
from tasks.ingest.requested_reading import read_requested
from tasks.ingest.second_reader import Assistant, read_assist_model
from tasks.running.flow_runs import require_budget, step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


@step()
def ingest_documents(
    paths: list[str],
    again: bool = False,
    discipline_map: str | None = None,
    mapping_file: str | None = None,
    source_kind: str | None = None,
    use_ocr: bool = True,
    workers: int | None = None,
    assist: str | None = None,
    assist_all: bool = False,
) -> dict[str, object]:
    """Land what is new under `paths`: documents, their text, their questions.

    The originals are archived. `assist` names the model that reads what the rules may have read wrongly (the setting's by default, `none` for
    nobody), with `assist_all` every paper.
    """
    settings = load_settings()
    options = make_options(discipline_map, mapping_file, source_kind, use_ocr=use_ocr, settings=settings)
    with ExitStack() as stack:
        ledger = stack.enter_context(open_ledger(settings.ledger_address))
        assistant = None
        if (reader := settings.choose_reader(assist)) is not None:
            require_budget()
            model = read_assist_model(settings, reader)
            assistant = Assistant(ledger, settings, model, reads_all=assist_all)
        summary = land_documents(
            stack.enter_context(open_lake(settings)),
            settings,
            [Path(path) for path in paths],
            again=again,
            options=options,
            workers=workers,
            assistant=assistant,
            ledger=ledger,
        )
    return summary.as_counts()


@step()
def read_requested_paper(document_id: str) -> dict[str, object]:
    """Have the paper read that somebody at the desk asked for; empty for all such papers."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        return read_requested(lake, ledger, settings, document_id)
