"""Opening zip packages (xlsx, docx) without being flooded by them."""

from __future__ import annotations

import io
import zipfile
import zlib

from schemas.errors import DocumentError

MAX_ENTRIES = 20_000
MAX_PART_BYTES = 256 * 1024 * 1024
MAX_TOTAL_BYTES = 768 * 1024 * 1024
MAX_RATIO = 400
# Below this size no ratio is suspicious: an empty sheet of spaces compresses a thousandfold.
RATIO_FLOOR_BYTES = 32 * 1024 * 1024


def open_package(data: bytes) -> zipfile.ZipFile:
    """Open `data` as a zip package after checking what it claims to unpack to.

    Raises:
        DocumentError: `corrupt` when it is no zip archive, `encrypted` when its entries are,
            `zip_bomb` when it would unpack to more than the limits of this module.
    """
    try:
        package = zipfile.ZipFile(io.BytesIO(data))
        entries = package.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError, KeyError) as error:
        raise DocumentError(
            "corrupt",
            "The file begins like a zip package, but its directory is damaged or cut off. Save it again.",
        ) from error
    if len(entries) > MAX_ENTRIES:
        raise DocumentError(
            "zip_bomb", f"The package holds {len(entries)} entries; {MAX_ENTRIES} are allowed."
        )
    total = sum(entry.file_size for entry in entries)
    largest = max((entry.file_size for entry in entries), default=0)
    if (
        total > MAX_TOTAL_BYTES
        or largest > MAX_PART_BYTES
        or (total > RATIO_FLOOR_BYTES and total > MAX_RATIO * max(len(data), 1))
    ):
        raise DocumentError(
            "zip_bomb",
            f"The package of {len(data)} bytes would unpack to {total} bytes. It was not opened; "
            "save the document again without embedded media.",
        )
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise DocumentError("encrypted", "The package is password protected. Save it without a password.")
    return package


def read_part(package: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of one entry; the declared size is not trusted.

    Raises:
        DocumentError: `corrupt` when the entry is missing or damaged, `zip_bomb` when it is too large.
    """
    try:
        with package.open(name) as part:
            data = part.read(MAX_PART_BYTES + 1)
    except KeyError as error:
        raise DocumentError("corrupt", f"The package has no part {name}. Save the document again.") from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
    ) as error:
        raise DocumentError(
            "corrupt", f"The part {name} of the package is damaged. Save the document again."
        ) from error
    if len(data) > MAX_PART_BYTES:
        raise DocumentError("zip_bomb", f"The part {name} unpacks to more than {MAX_PART_BYTES} bytes.")
    return data
