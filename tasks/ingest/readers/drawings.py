"""Drawings of Windows (EMF, WMF) as rasters, all of a document by one run of LibreOffice."""

from __future__ import annotations

import base64
import hashlib
import struct
from contextlib import closing
from typing import Any, Final

from schemas.errors import DocumentError
from tasks.ingest.readers.picture_form import (
    NormalPicture,
    UnreadablePictureError,
    encode_picture,
    name_vector_format,
    normalise_picture,
)

MOST_DRAWINGS: Final = 200
MOST_DRAWING_BYTES: Final = 40 * 1024 * 1024
SECONDS: Final = 60.0
_SCALE: Final = 200 / 72
# The page that a drawing is laid out on, in centimetres; larger ones are made smaller.
_WIDEST, _TALLEST = 18.0, 26.0
_PAGE = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document office:version="1.2" '
    'office:mimetype="application/vnd.oasis.opendocument.text" '
    + " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
        for name, space in (
            ("office", "office"),
            ("text", "text"),
            ("draw", "drawing"),
            ("style", "style"),
            ("fo", "xsl-fo-compatible"),
            ("svg", "svg-compatible"),
        )
    )
    + '><office:automatic-styles><style:page-layout style:name="L"><style:page-layout-properties fo:page-width="20cm" '
    'fo:page-height="28cm" fo:margin="0.9cm"/></style:page-layout><style:style style:name="B" style:family="paragraph">'
    '<style:paragraph-properties fo:break-before="page"/></style:style></office:automatic-styles><office:master-styles>'
    '<style:master-page style:name="Standard" style:page-layout-name="L"/></office:master-styles><office:body><office:text>'
)


class Drawings:
    """The drawings of a document; all are to be added before the first is read."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self._shown: dict[str, Any] | None = None
        self._fault = ""

    def add(self, data: bytes) -> None:
        """Take a picture in that will be read; only drawings are held."""
        if name_vector_format(data) in ("emf", "wmf"):
            self._data.setdefault(hashlib.sha256(data).hexdigest(), data)

    def read(self, data: bytes) -> NormalPicture | None:
        """The normal form of a picture; None for a raster that shows nothing.

        Raises:
            UnreadablePictureError: for SVG, a program more than a picture, and for what cannot be converted.
        """
        form = name_vector_format(data)
        if form is None:
            return normalise_picture(data)
        if form == "svg":
            raise UnreadablePictureError("it is SVG, which is not run; save it as PNG")
        if self._shown is None:
            self._shown = self._convert()
        shown = self._shown.get(hashlib.sha256(data).hexdigest())
        if shown is None:
            raise UnreadablePictureError(
                f"{form.upper()} could not be converted{self._fault}; save it as PNG"
            )
        normal = encode_picture(shown)
        if normal is None:
            # A damaged one is converted to an empty page.
            raise UnreadablePictureError(f"{form.upper()} shows nothing when it is converted; save it as PNG")
        return normal

    def _convert(self) -> dict[str, Any]:
        """Each drawing as it is printed, by its hash, up to the most of one document."""
        from tasks.ingest.readers import office

        names: list[str] = []
        body: list[str] = []
        size = 0
        for name, data in list(self._data.items())[:MOST_DRAWINGS]:
            size += len(data)
            if size > MOST_DRAWING_BYTES:
                break
            body.append(_lay_out(data, is_first=not names))
            names.append(name)
        page = f"{_PAGE}{''.join(body)}</office:text></office:body></office:document>".encode()
        try:
            made = office.convert_with_libreoffice(page, "fodt", "pdf", SECONDS)
        except DocumentError as error:
            self._fault = f" ({error.code})"
            return {}
        shown = show_pages(made)
        if len(shown) != len(names):
            self._fault = " (they did not fit their pages)"
            return {}
        return dict(zip(names, shown, strict=True))


def show_pages(made: bytes) -> list[Any]:
    """What each page of a PDF shows, without the paper around it."""
    import pypdfium2
    from PIL import Image, ImageChops

    shown: list[Any] = []
    with closing(pypdfium2.PdfDocument(made)) as document:
        for page in document:
            image = page.render(scale=_SCALE).to_pil().convert("RGB")
            box = ImageChops.difference(image, Image.new("RGB", image.size, "white")).getbbox()
            shown.append(image if box is None else image.crop(_widen(box, image.size)))
    return shown


def _widen(box: tuple[int, int, int, int], size: tuple[int, int]) -> tuple[int, int, int, int]:
    edge = 6
    return (
        max(0, box[0] - edge),
        max(0, box[1] - edge),
        min(size[0], box[2] + edge),
        min(size[1], box[3] + edge),
    )


def _lay_out(data: bytes, *, is_first: bool) -> str:
    width, height = _measure(data)
    scale = min(1.0, _WIDEST / width, _TALLEST / height)
    style = "" if is_first else ' text:style-name="B"'
    return (
        f'<text:p{style}><draw:frame text:anchor-type="as-char" svg:width="{width * scale:.3f}cm" '
        f'svg:height="{height * scale:.3f}cm"><draw:image><office:binary-data>{base64.b64encode(data).decode()}'
        "</office:binary-data></draw:image></draw:frame></text:p>"
    )


def _measure(data: bytes) -> tuple[float, float]:
    """Width and height in centimetres, as the drawing's own head says."""
    size = (0.0, 0.0)
    if name_vector_format(data) == "emf":
        left, top, right, bottom = struct.unpack_from("<4i", data, 24)
        size = (right - left) / 1000, (bottom - top) / 1000
    elif data[:4] == b"\xd7\xcd\xc6\x9a" and len(data) >= 16:
        left, top, right, bottom, inch = struct.unpack_from("<4hH", data, 6)
        size = (right - left) / max(inch, 1) * 2.54, (bottom - top) / max(inch, 1) * 2.54
    width, height = size
    return (width, height) if width > 0 and height > 0 else (12.0, 9.0)
