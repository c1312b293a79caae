"""Exam papers become questions that wait for review."""

from __future__ import annotations

from tasks.ingest import ingest_documents
from tasks.operations.reconcile import reconcile_stores
from tasks.review import open_review_batch
from tasks.running.flow_runs import check_ingested, flow, publish_summary


@flow
def ingest(
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
    """Land every document under `paths` and its questions.

    The questions then wait at the review gate.

    The flow ends here: `review_gate` starts when a batch is decided.

    Args:
        paths: files and folders with papers.
        again: read documents again that are landed.
        discipline_map: path of a YAML file with disciplines by folder or name.
        mapping_file: path of a YAML file with columns of workbooks.
        source_kind: kind of source of all these papers.
        use_ocr: read scanned pages.
        workers: documents read at once; null for the setting's.
        assist: registered model that reads the papers which the rules may have read wrongly (docs/ingest.md); null for the
            setting's, `none` for nobody.
        assist_all: it reads every paper.
    """
    reconcile_stores()
    landed = ingest_documents(
        paths, again, discipline_map, mapping_file, source_kind, use_ocr, workers, assist, assist_all
    )
    waiting = open_review_batch()

    result = landed | waiting
    publish_summary(result)
    check_ingested(result)
    return result
