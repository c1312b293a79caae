"""LibreOffice loads nothing that a paper only names: at an address, or in another file."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pypdfium2
import pytest

from tasks.ingest.readers.office import convert_with_libreoffice
from tests.tasks.ingest.builders import make_zip
from tests.tasks.ingest.test_pictures import draw, save

pytestmark = pytest.mark.service

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for name, space in (
        ("office", "office"),
        ("text", "text"),
        ("draw", "drawing"),
        ("svg", "svg-compatible"),
    )
)
MANIFEST = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">'
    '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
)


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that shows a picture to everybody, and what it was asked for."""
    paths: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.end_headers()
            self.wfile.write(save(draw("far")))

        def do_OPTIONS(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    server.server_close()


def make_odt(*addresses: str) -> bytes:
    """A text whose pictures stand elsewhere."""
    shown = "".join(
        '<text:p>1. What does it show?<draw:frame text:anchor-type="as-char" svg:width="5cm" svg:height="3cm">'
        f'<draw:image xlink:href="{address}" xlink:type="simple" xlink:actuate="onLoad"/></draw:frame></text:p>'
        for address in addresses
    )
    content = (
        f'<office:document-content {SPACES} xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2">'
        f"<office:body><office:text>{shown}</office:text></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.text"
    return make_zip({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": MANIFEST})


def test_a_picture_at_an_address_or_in_another_file_is_not_loaded(
    asked: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, paths = asked
    (tmp_path / "other.png").write_bytes(save(draw("other")))
    near = (tmp_path / "other.png").as_uri()
    made = convert_with_libreoffice(make_odt(f"{address}/far.png", near), "odt", "pdf", 120)
    with closing(pypdfium2.PdfDocument(made)) as document:
        kinds = [one.type for page in document for one in page.get_objects()]
        text = document[0].get_textpage().get_text_range()
    assert "What does it show?" in text
    assert pypdfium2.raw.FPDF_PAGEOBJ_IMAGE not in kinds
    assert paths == []


def test_a_field_of_rtf_that_names_a_picture_is_not_followed_and_its_word_in_a_text_stays(
    tmp_path: Path,
) -> None:
    (tmp_path / "other.png").write_bytes(save(draw("other")))
    field = rf'{{\field{{\*\fldinst INCLUDEPICTURE "{tmp_path / "other.png"}" \\d}}{{\fldrslt }}}}'
    paper = rf"{{\rtf1\ansi 1. What does INCLUDEPICTURE do?{field}\par Answer: it shows a file\par}}"
    made = convert_with_libreoffice(paper.encode(), "rtf", "docx", 120)
    with zipfile.ZipFile(io.BytesIO(made)) as package:
        assert [name for name in package.namelist() if "media" in name] == []
        assert b"What does INCLUDEPICTURE do?" in package.read("word/document.xml")
