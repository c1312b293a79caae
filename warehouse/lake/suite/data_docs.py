"""Great Expectations' Data Docs of what has landed: a page per table, of counts alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.errors import StoreError
from schemas.table import Table
from warehouse.lake.suite.suite import LOCK, build_suite, import_great_expectations, open_context

# The pages name styles and scripts on other people's servers. A browser that opens them is told to fetch none.
NOTHING_REMOTE = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'self' 'unsafe-inline' data:; connect-src 'none'\">"
)
_SITE = "lake"


@dataclass(frozen=True)
class TableCounts:
    """How a table stands to its rules.

    Attributes:
        row_count: rows that were read.
        broken: rule → rows that break it; a rule that every row keeps may be left out.
    """

    table: Table
    row_count: int
    broken: Mapping[str, int]


def write_data_docs(folder: Path, counts: Sequence[TableCounts]) -> Path:
    """Write the pages into `folder`; returns the path of its `index.html`.

    They replace those of an earlier time.

    Raises StoreError when the folder cannot be written. The pages hold rules and counts, no value of a row.
    """
    draft = folder.with_name(f".{folder.name}-{os.getpid()}")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        with LOCK:
            _build_pages(draft, counts)
        for page in draft.rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            page.write_text(text.replace("<head>", f"<head>{NOTHING_REMOTE}", 1), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        draft.rename(folder)
    except OSError as error:
        raise StoreError(
            f"The pages of the validation cannot be written to {folder} ({type(error).__name__}). Check free disk space "
            "and permissions, then run again."
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder / "index.html"


def _build_pages(folder: Path, counts: Sequence[TableCounts]) -> None:
    gx = import_great_expectations()
    context = open_context()
    run = gx.core.RunIdentifier(run_name="validate", run_time=datetime.now(UTC))
    context.add_data_docs_site(site_name=_SITE, site_config=_configure_site(folder))
    keys = []
    try:
        for one in counts:
            suite = context.suites.add_or_update(build_suite(one.table))
            keys.append(_name_result(one.table, run))
            context.validation_results_store.set(keys[-1], _make_result(one, suite, run))
        context.build_data_docs(site_names=[_SITE])
    finally:
        for key in keys:
            context.validation_results_store.remove_key(key)
            context.suites.delete(key.expectation_suite_identifier.name)
        context.delete_data_docs_site(_SITE)


def _configure_site(folder: Path) -> dict[str, Any]:
    return {
        "class_name": "SiteBuilder",
        "show_how_to_buttons": False,
        "store_backend": {
            "class_name": "TupleFilesystemStoreBackend",
            "base_directory": str(folder.resolve()),
        },
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder", "show_cta_footer": False},
    }


def _name_result(table: Table, run: Any) -> Any:
    from great_expectations.data_context.types.resource_identifiers import (
        ExpectationSuiteIdentifier,
        ValidationResultIdentifier,
    )

    return ValidationResultIdentifier(
        expectation_suite_identifier=ExpectationSuiteIdentifier(table.name),
        run_id=run,
        batch_identifier=table.name,
    )


def _make_result(counts: TableCounts, suite: Any, run: Any) -> Any:
    """The result of a whole table, added up without values from those of its batches."""
    gx = import_great_expectations()
    results = [
        gx.core.ExpectationValidationResult(
            success=not counts.broken.get(expectation.meta["rule"], 0),
            expectation_config=expectation.configuration,
            result=_count_result(counts.row_count, counts.broken.get(expectation.meta["rule"], 0)),
            exception_info={
                "raised_exception": False,
                "exception_message": None,
                "exception_traceback": None,
            },
        )
        for expectation in suite.expectations
    ]
    kept = sum(result.success for result in results)
    return gx.core.ExpectationSuiteValidationResult(
        success=kept == len(results),
        results=results,
        suite_name=counts.table.name,
        statistics={
            "evaluated_expectations": len(results),
            "successful_expectations": kept,
            "unsuccessful_expectations": len(results) - kept,
            "success_percent": 100 * kept / len(results),
        },
        meta={
            "great_expectations_version": gx.__version__,
            "run_id": run,
            "validation_time": datetime.now(UTC).isoformat(),
            "batch_spec": {},
            "active_batch_definition": {
                "datasource_name": _SITE,
                "data_connector_name": "fluent",
                "data_asset_name": counts.table.name,
                "batch_identifiers": {},
            },
        },
    )


def _count_result(row_count: int, broken_count: int) -> dict[str, float]:
    share = 100 * broken_count / row_count if row_count else 0.0
    return {
        "element_count": row_count,
        "unexpected_count": broken_count,
        "unexpected_percent": share,
        "unexpected_percent_total": share,
    }
