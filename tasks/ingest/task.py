"""Ingest as Prefect sees it: list → parse → archive → land. Paths, flags and counts only pass through Prefect."""

from __future__ import annotations

from pathlib import Path

from prefect import task

from schemas.settings import load_settings
from tasks.faults import hide_content
from tasks.ingest.documents import make_options
from tasks.ingest.landing import land_documents
from warehouse.lake.store import open_lake


@task(name="ingest_documents")
@hide_content
def ingest_documents(
    paths: list[str],
    again: bool = False,
    discipline_map: str | None = None,
    mapping_file: str | None = None,
    source_kind: str | None = None,
    use_ocr: bool = True,
    workers: int | None = None,
) -> dict[str, object]:
    """Land what is new under `paths`: documents, their text, their questions; the originals are archived."""
    settings = load_settings()
    options = make_options(discipline_map, mapping_file, source_kind, use_ocr=use_ocr)
    with open_lake(settings) as lake:
        summary = land_documents(
            lake, settings, [Path(path) for path in paths], again=again, options=options, workers=workers
        )
    return summary.as_counts()
