"""Build the demo's sample papers from their sources.

Run it as `python -m deployments.demo.build_papers`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from deployments.demo.pdf_papers import render_pdf
from deployments.demo.sources import PAPERS_FOLDER, Paper, read_papers
from deployments.demo.word_papers import render_docx
from deployments.demo.workbook_papers import render_xlsx

_RENDERERS: dict[str, Callable[[Paper], bytes]] = {
    ".docx": render_docx,
    ".xlsx": render_xlsx,
    ".pdf": render_pdf,
}


def write_papers(folder: Path = PAPERS_FOLDER) -> list[Path]:
    """Build every paper into the folder and return the files written.

    The same sources give the same files.
    """
    return [write_paper(paper, folder) for paper in read_papers()]


def write_paper(paper: Paper, folder: Path) -> Path:
    """Build one paper into the folder, in the sub-folder and the format that its source names."""
    path = folder / paper.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_RENDERERS[path.suffix](paper))
    return path


if __name__ == "__main__":
    for written in write_papers():
        sys.stdout.write(f"{written.relative_to(PAPERS_FOLDER)}  {written.stat().st_size:,} bytes\n")
