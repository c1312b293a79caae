"""Members of a ZIP archive.

They may also be packed with Zstandard, as Inspect packs its logs today.

Python's own `zipfile` reads these from version 3.14 on; until then the packed bytes are found here and unpacked by Arrow.
"""

from __future__ import annotations

import struct
import zipfile
import zlib

import pyarrow as pa

ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The unpacked bytes of a member of an archive that is open for reading.

    Raises BadZipFile for what is damaged, longer or shorter than the archive says, NotImplementedError for a packing that is none of
    stored, Deflate, BZIP2, LZMA and Zstandard.
    """
    entry = archive.getinfo(name)
    if entry.compress_type != ZSTANDARD:
        return archive.read(entry)
    file = archive.fp
    if file is None or entry.flag_bits & 1:
        raise zipfile.BadZipFile("closed or encrypted")
    file.seek(entry.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile("no local header")
    _, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    file.seek(name_length + extra_length, 1)
    packed = file.read(entry.compress_size)
    try:
        with pa.input_stream(pa.BufferReader(packed), compression="zstd") as stream:
            # One byte more than promised is enough to know that the promise is broken.
            unpacked: bytes = stream.read(entry.file_size + 1)
    except (OSError, pa.ArrowException):
        raise zipfile.BadZipFile("damaged") from None
    if len(unpacked) != entry.file_size or zlib.crc32(unpacked) != entry.CRC:
        raise zipfile.BadZipFile("damaged")
    return unpacked
