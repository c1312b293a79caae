"""What every reader keeps to, as functions for the tests of whoever writes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tasks.ingest.readers import DocumentError, Extraction, Reader
from tasks.ingest.readers.extraction import join_lines

OPTIONS: Final[Mapping[str, Any]] = {"time_limit_s": 60.0, "use_ocr": False}
_DAMAGED: Final = (b"", b"\x00" * 64, b"\xff\xfe\xfd" * 99, b"{" * 4000, "题".encode()[:2])


def check_reader(reader: Reader, sample: bytes) -> Extraction:
    """Read a sample twice and damaged files once; returns what was read of the sample.

    Raises AssertionError naming the rule that is broken: a media type, an extraction with something in it and the names of what
    made it, the same for the same bytes, pages in order, marks within their line, text that can be stored, and a `DocumentError`,
    whatever the bytes, where a file cannot be read.
    """
    assert "/" in reader.media_type, f"media_type {reader.media_type!r} is no media type such as text/x-tex"
    first, again = reader.read(sample, OPTIONS), reader.read(sample, OPTIONS)
    assert isinstance(first, Extraction), f"read returned {type(first).__name__}, not an Extraction"
    assert first == again, "the same bytes were read in two ways"
    assert first.converter and first.converter_version, (
        "converter and converter_version say what read the file"
    )
    assert first.lines or first.sheets or first.records is not None, "nothing was read of the sample"
    _check_lines(first)
    for number, data in enumerate((*_DAMAGED, sample[: len(sample) // 2], sample[::-1])):
        try:
            _check_lines(reader.read(data, OPTIONS))
        except DocumentError as error:
            assert error.code and str(error)[-1:] in ".?!。", "a DocumentError has a code and a sentence"
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(
                f"damaged file {number}: {type(error).__name__} was raised where DocumentError says what is wrong"
            ) from error
    return first


def _check_lines(extraction: Extraction) -> None:
    """Pass when the lines of an extraction can be split and stored; raises AssertionError."""
    raw, starts, _ = join_lines(extraction.lines)
    assert len(starts) == len(extraction.lines)
    raw.encode("utf-8")  # half a character cannot be stored
    page = 0
    for line in extraction.lines:
        assert "\n" not in line.text, "a line holds a line break"
        assert line.page >= page or line.page == 0, "pages are not in order"
        page = line.page
        assert line.label_length <= len(line.text), "label_length is beyond the line"
        marked = [0 <= first < last <= len(line.text) for first, last, _ in line.emphasis]
        assert all(marked), "emphasis is beyond the line"
