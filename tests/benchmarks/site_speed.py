"""The report site of a home: CPU seconds and size, whole and by page.

Run: `python -m tests.benchmarks.site_speed HOME`.

A home of 60 candidates and many months is what says something; nothing is written into it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from schemas.settings import Settings
from tasks.report.frame import SITE_PAGES, Issue
from tasks.report.panels import Source
from tasks.report.site import PANEL_PAGES, render_site
from tests.benchmarks.measure import Row, print_rows
from warehouse.lake import open_lake


def main() -> None:
    """Print a row for the whole site.

    A row for reading each page of panels and the size of each page follow.
    """
    home = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if home is None or not home.is_dir():
        sys.exit("Name the home whose site is measured: python -m tests.benchmarks.site_speed HOME")
    with tempfile.TemporaryDirectory() as folder, open_lake(Settings(home=home), read_only=True) as lake:
        source = Source(lake.run_named, public_dir=home / "public")
        started = (time.process_time(), time.perf_counter())
        render_site(source, Issue(Path(folder)))
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        whole = Row("the whole site", time.process_time() - started[0], time.perf_counter() - started[1])
        rows = [whole.with_note(f"{size / 1e6:.1f} MB in {len(files)} files")]
        for page in PANEL_PAGES:
            started = (time.process_time(), time.perf_counter())
            panels = page.read(source)
            row = Row(
                f"reading {page.name}", time.process_time() - started[0], time.perf_counter() - started[1]
            )
            written = (Path(folder) / f"{page.name}.html").stat().st_size
            rows.append(row.with_note(f"{len(panels)} panels, {written / 1e3:.0f} kB"))
        for one in SITE_PAGES:
            if one.name not in {page.name for page in PANEL_PAGES}:
                print(f"{one.name}.html: {(Path(folder) / f'{one.name}.html').stat().st_size / 1e3:.0f} kB")
        print_rows("Report site", rows)


if __name__ == "__main__":
    main()
