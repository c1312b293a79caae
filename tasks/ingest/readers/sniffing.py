"""What a file is by its bytes; the suffix only settles what these cannot: csv or text."""

from __future__ import annotations

import io
import re
import zipfile

from schemas.errors import DocumentError

MEDIA_TYPES = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    "xls": "application/vnd.ms-excel",
    "doc": "application/msword",
    "rtf": "application/rtf",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "word-xml": "application/vnd.ms-word.xml",
    "excel-xml": "application/vnd.ms-excel.xml",
    "pdf": "application/pdf",
    "html": "text/html",
    "text": "text/plain",
    "csv": "text/csv",
    "moodle-xml": "application/xml",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "ole": "application/x-ole-storage",
    "zip": "application/zip",
    "image": "image/*",
    "binary": "application/octet-stream",
}
_IMAGES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"GIF8", b"BM")


def sniff(data: bytes, name: str) -> str:
    """Return the kind of the content, a key of `MEDIA_TYPES`.

    Raises:
        DocumentError: `empty` for no bytes, `encrypted` for a password-protected Office file.
    """
    if not data.strip(b"\x00 \t\r\n"):
        raise DocumentError("empty", "The file holds no content. Save it again, or leave it out.")
    if name.startswith("~$") and len(data) < 1024:
        raise DocumentError(
            "unsupported", "This is the lock file of an open Office document. Close it in Office."
        )
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _sniff_zip(data)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _sniff_ole(data)
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.lstrip()[:5] == b"{\\rtf":
        return "rtf"
    if data.startswith(_IMAGES):
        return "image"
    return _sniff_text(data, name)


def _sniff_zip(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            names = set(package.namelist())
            mimetype = package.read("mimetype")[:100] if "mimetype" in names else b""
    except Exception:  # a cut-off directory: what the local headers name decides which reader reports it
        head = data[:200_000]
        if b"word/" in head:
            return "docx"
        return "xlsx" if b"xl/" in head else "zip"
    if b"opendocument.text" in mimetype:
        return "odt"
    if b"opendocument.spreadsheet" in mimetype:
        return "ods"
    if any(name.startswith("word/") for name in names):
        return "docx"
    if "xl/workbook.bin" in names:
        return "xlsb"
    if any(name.startswith("xl/") for name in names):
        return "xlsx"
    if any(name.startswith("ppt/") for name in names):
        return "pptx"
    return "zip"


def _sniff_ole(data: bytes) -> str:
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            names = {"/".join(entry).casefold() for entry in container.listdir()}
    except Exception as error:  # the parser raises many kinds on damaged containers
        raise DocumentError(
            "corrupt",
            "The file begins like an old Office document, but its directory is damaged. Save it again.",
        ) from error
    if "encryptedpackage" in names or "encryptioninfo" in names:
        raise DocumentError("encrypted", "The document is password protected. Save it without a password.")
    if "worddocument" in names:
        return "doc"
    if "workbook" in names or "book" in names:
        return "xls"
    return "ole"


def _sniff_text(data: bytes, name: str) -> str:
    head = data[:4096]
    is_wide = head.startswith((b"\xff\xfe", b"\xfe\xff")) or _looks_like_utf16(head)
    # a text with a stray NUL or two is a text still
    if not is_wide and head.count(b"\x00") > max(2, len(head) // 500):
        return "binary"
    if not is_wide and not head.startswith(b"\xef\xbb\xbf"):
        control = sum(1 for byte in head if byte < 9 or (13 < byte < 32 and byte != 27))
        if control > max(2, len(head) // 50):
            return "binary"
    plain = head.replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").lower()
    if plain.startswith((b"<?xml", b"<w:worddocument")):
        if b"word.document" in plain or b"office/word/2003" in plain:
            return "word-xml"
        if b"excel.sheet" in plain or b"office:spreadsheet" in plain:
            return "excel-xml"
    if re.match(
        rb"(?:<!doctype html|<html|<head|<body|<table|<meta|<\?xml[^>]*>\s*(?:<!doctype html|<html))", plain
    ):
        return "html"
    if re.match(
        rb"(?:<!--.{0,1000}?-->\s*)?<(?:div|section|main|article|ul|ol)\b[^<>]{0,500}>", plain, re.DOTALL
    ):
        return "html"  # a part of a page, saved without the rest
    if re.match(rb"(?:<\?xml[^>]*>\s*)?(?:<!--.{0,1000}?-->\s*)?<quiz[\s>]", plain, re.DOTALL):
        return "moodle-xml"
    suffix = name.rpartition(".")[2].casefold()
    if plain[:1] in (b"{", b"["):
        if re.match(rb"\[[ \t]*[0-9a-z\xe0-\xff]", plain) and suffix not in ("json", "jsonl"):
            return "text"
        return "jsonl" if suffix == "jsonl" or re.match(rb"\{[^\n]*\}[ \t]*\r?\n[ \t]*\{", plain) else "json"
    return "csv" if suffix in ("csv", "tsv") else "text"


def _looks_like_utf16(head: bytes) -> bool:
    return find_utf16(head) is not None


def find_utf16(data: bytes) -> str | None:
    """The UTF-16 byte order in which bytes without a mark read as text, or None."""
    head = data[: min(len(data), 4096) // 2 * 2]
    if len(head) < 8 or b"\x00" not in head:
        return None
    shares = {
        encoding: _text_share(head.decode(encoding, errors="replace"))
        for encoding in ("utf-16-le", "utf-16-be")
    }
    best = max(shares, key=lambda encoding: shares[encoding])
    return best if shares[best] > 0.9 else None


def _text_share(text: str) -> float:
    good = sum(
        1
        for character in text
        if character in "\r\n\t"
        or "\x20" <= character <= "\x7e"
        or "\u4e00" <= character <= "\u9fa5"
        or "\u2010" <= character <= "\u2027"
        or "\u3000" <= character <= "\u301f"
        or "\uff01" <= character <= "\uff5e"
        or "\xa0" <= character <= "\u04ff"
    )
    return good / max(len(text), 1)
