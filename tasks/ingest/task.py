"""Ingest as Prefect sees it: list → parse → archive → land. Ids and counts only pass through Prefect."""

from __future__ import annotations

from pathlib import Path

from prefect import task

from schemas.settings import load_settings
from tasks.faults import hide_content
from tasks.ingest.landing import land_documents
from warehouse.lake.store import open_lake


@task(name="ingest_documents")
@hide_content
def ingest_documents(paths: list[str], again: bool = False) -> dict[str, object]:
    """Land what is new under `paths`: documents, their text, their questions; the originals are archived."""
    settings = load_settings()
    with open_lake(settings) as lake:
        summary = land_documents(lake, settings, [Path(path) for path in paths], again=again)
    return summary.as_counts()
