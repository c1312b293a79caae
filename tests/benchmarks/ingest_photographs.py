"""How many questions of papers with text are still right when the pages are photographed.

The photographs are bent, askew, shaded and compressed.

The same papers read from their text are the ceiling.
"""

from __future__ import annotations

import io
import math
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.ingest_accuracy import compare, read_paper, read_truths, render
from tests.benchmarks.ingest_cache import use_cache

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
PAPERS = ("exams_more/pdf_sixiu_open2022.pdf", "exams_more/pdf_os_nupt_keytable.pdf")
# Shares of the width by which lines bend, and degrees by which pages tilt, page by page.
BENDS = (0.0, 0.012, 0.025)
TILTS = (0.0, 1.2, -2.0)


def photograph(data: bytes) -> bytes:
    """Return a PDF of the same pages as photographs.

    The first page lies flat, the second and third do not, and so on.
    """
    import pypdfium2
    from PIL import Image

    pictures: list[Image.Image] = []
    document = pypdfium2.PdfDocument(data)
    for number in range(len(document)):
        picture = document[number].render(scale=150 / 72).to_numpy()
        pictures.append(Image.fromarray(_distort(picture, BENDS[number % 3], TILTS[number % 3])))
    stream = io.BytesIO()
    pictures[0].save(
        stream, format="PDF", save_all=True, append_images=pictures[1:], resolution=150, quality=60
    )
    return stream.getvalue()


def _distort(picture: Any, bend: float, tilt: float) -> Any:
    """Bend lines as an open book does, tilt the page, darken one side, blur by a pixel."""
    import cv2
    import numpy

    height, width = picture.shape[:2]
    x, y = numpy.meshgrid(numpy.arange(width, dtype=numpy.float32), numpy.arange(height, dtype=numpy.float32))
    # the bend fades towards the foot of the page, as under a hand that holds it there
    shift = bend * width * numpy.sin(math.pi * x / width) * (1 - 0.6 * y / height)
    bent = cv2.remap(
        picture, x, y + shift.astype(numpy.float32), cv2.INTER_LINEAR, borderValue=(255, 255, 255)
    )
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), tilt, 0.96)
    turned = cv2.warpAffine(bent, turn, (width, height), borderValue=(255, 255, 255))
    shaded = turned * (1 - 0.25 * x / width)[..., None]
    return cv2.GaussianBlur(shaded.astype(numpy.uint8), (0, 0), 0.7)[..., ::-1].copy()


def compute_photographed(papers: Sequence[str] = PAPERS) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Read every paper from its text and from its photographs.

    Returns rows as `compute_accuracy` gives them.
    """
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as folder, use_cache():
        for name in papers:
            path = SHARED / name
            truth = read_truths(path.parent)[path.name]
            photographed = Path(folder) / f"photographed_{path.name}"
            photographed.write_bytes(photograph(path.read_bytes()))
            seen = {**truth, "file": f"scan of {path.name}"}
            pairs.append((compare(*read_paper(path), truth), compare(*read_paper(photographed), seen)))
    return pairs


def main(arguments: Sequence[str] = ()) -> None:
    """Print both tables for the papers named (`exams_more/NAME`), or for those above."""
    pairs = compute_photographed(tuple(arguments) or PAPERS)
    print("## from text\n" + render([text for text, _ in pairs]))
    print("\n## from photographs\n" + render([seen for _, seen in pairs]))


if __name__ == "__main__":
    main(sys.argv[1:])
