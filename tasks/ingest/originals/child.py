"""The program that opens an original to show it.

It is a process of its own under limits, for the file may be hostile.

One request as JSON on stdin, one reply as JSON on stdout: `{"ok": …}` or `{"failed": code, "message": sentence}`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from schemas.errors import DocumentError

MEMORY_LIMIT_BYTES = 3000 * 1024 * 1024
# The longer side of a picture of a page, in pixels: print of ten points is read without effort.
LONGEST_SIDE = 1700
# That of the page which a picture is cut out of.
CUT_SIDE = 3200
# Characters of a page that is searched; a page with more is a drawing.
MOST_PAGES = 2000


def main() -> None:
    """Answer the one request on stdin."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    # nothing that a library prints may stand before the reply
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    request = json.loads(sys.stdin.buffer.read())
    try:
        reply: dict[str, Any] = {"ok": answer(request)}
    except DocumentError as error:
        reply = {"failed": error.code, "message": str(error)}
    except MemoryError:
        reply = {"failed": "too_large", "message": "Showing it needs too much memory."}
    except Exception as error:  # a fault of a parser: the page is not shown, and why is said
        reply = {"failed": "crashed", "message": f"The original could not be shown ({type(error).__name__})."}
    json.dump(reply, replies)
    replies.flush()


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What a request asks for: `convert`, `count`, `find`, `draw`, `cut` or `take`.

    That is to convert to a PDF, to count its pages, to find lines in it, to draw a page of it, or a picture; to make a
    picture of a question of a part of a page, or of a file.
    """
    source, task = Path(request["source"]), request["task"]
    if task == "convert":
        from tasks.ingest.readers.office import convert_with_libreoffice

        made = convert_with_libreoffice(
            source.read_bytes(), request["kind"], "pdf", float(request["time_limit_s"])
        )
        Path(request["target"]).write_bytes(made)
        return {}
    if task == "count":
        import pypdfium2

        return {"pages": len(_open_pdf(source, pypdfium2))}
    if task in ("cut", "take"):
        return _make_picture(source, request)
    if task == "find":
        return {"boxes": find_in_pdf(source, request["lines"], float(request["share"]))}
    picture = draw_picture(source) if request["kind"] == "image" else draw_page(source, int(request["page"]))
    # text needs few colours; a palette makes the file a third
    picture.convert("RGB").quantize(48).save(request["target"], "PNG", optimize=False)
    return {"width": picture.width, "height": picture.height}


def _make_picture(source: Path, request: dict[str, Any]) -> dict[str, Any]:
    """The normal form of a part of a page, or of a file, written to the target."""
    from tasks.ingest.readers.picture_form import UnreadablePictureError, cut_out, normalise_picture

    try:
        if request["task"] == "take":
            made = normalise_picture(source.read_bytes())
        elif request["kind"] == "image":
            made = cut_out(draw_picture(source, CUT_SIDE), request["box"])
        else:
            made = cut_out(draw_page(source, int(request["page"]), CUT_SIDE), request["box"])
    except UnreadablePictureError as error:
        raise DocumentError("no_picture", f"The picture cannot be kept: {error}.") from error
    if made is None:
        raise DocumentError("nothing_there", "There is nothing to be seen in it.")
    Path(request["target"]).write_bytes(made.data)
    return {
        "sha256": made.sha256,
        "media_type": made.media_type,
        "size_bytes": len(made.data),
        "width": made.width,
        "height": made.height,
        "perceptual_hash": made.perceptual_hash,
    }


def find_in_pdf(source: Path, lines: list[str], share: float) -> dict[int, list[tuple[int, int, int, int]]]:
    """Where lines stand in a PDF: blocks by page, from 1; empty where they are not found."""
    import pypdfium2
    import pypdfium2.raw as raw

    from tasks.ingest.originals.search import find_lines, list_character_boxes, read_page_text

    document = _open_pdf(source, pypdfium2)
    texts = [read_page_text(document[index], raw) for index in range(min(len(document), MOST_PAGES))]
    return {
        number + 1: list_character_boxes(document[number], raw, characters)
        for number, characters in find_lines(texts, lines, share).items()
    }


def draw_page(source: Path, number: int, longest: int = LONGEST_SIDE) -> Any:
    """A page of a PDF (from 1) as a picture."""
    import pypdfium2

    document = _open_pdf(source, pypdfium2)
    if not 1 <= number <= len(document):
        raise DocumentError("corrupt", f"The original has no page {number}.")
    page = document[number - 1]
    return page.render(scale=longest / max(page.get_size())).to_pil()


def draw_picture(source: Path, longest: int = LONGEST_SIDE) -> Any:
    """A picture of a page, upright and in the size in which pages are shown."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = 200_000_000
    try:
        picture = ImageOps.exif_transpose(Image.open(source))
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DocumentError("corrupt", "The picture is damaged, cut off or too large.") from error
    picture.thumbnail((longest, longest))
    return picture


def _open_pdf(source: Path, pypdfium2: Any) -> Any:
    try:
        return pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        raise DocumentError("corrupt", "The PDF is damaged or password protected.") from error


if __name__ == "__main__":
    main()
