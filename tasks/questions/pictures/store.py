"""The bytes of pictures, kept once by content, and how a text names one: `[picture:2]`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas import patterns as re
from schemas.errors import StoreError
from schemas.lazy import pl
from warehouse.stores.whole_files import writing_whole

if TYPE_CHECKING:
    from warehouse.lake import Lake

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
PICTURE: Final = re.compile(r"\[picture:([1-9]\d{0,3})\]")


def name_picture(folder: Path, sha256: str) -> Path:
    """Where the bytes of a picture lie in a folder of content files."""
    return folder / sha256[:2] / f"{sha256}.picture"


def tell_pictures(lake: Lake, held: Sequence[Sequence[Mapping[str, Any]] | None]) -> pl.Series | None:
    """Pictures by question with `alt_text`, what people said they show; null where none has any."""
    hashes = sorted({one["sha256"] for some in held for one in some or ()})
    if not hashes:
        return None
    told = dict(lake.read("picture_alt_texts", {"sha256s": hashes}).iter_rows())
    rows = [some and [{**one, "alt_text": told.get(one["sha256"])} for one in some] for some in held]
    fields = {"number": pl.Int64, "sha256": pl.String, "place": pl.String, "alt_text": pl.String}
    return pl.Series("pictures", rows, dtype=pl.List(pl.Struct(fields)))


def read_picture(folder: Path, sha256: str) -> bytes:
    """The bytes of a picture.

    Raises:
        StoreError: for one that is lost, or is not what its hash says.
    """
    path = name_picture(folder, sha256)
    try:
        data = path.read_bytes()
    except OSError:
        raise StoreError(
            f"The picture {sha256[:12]} is not in {folder}. Restore it from a backup, or ingest its paper again (--again)."
        ) from None
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StoreError(
            f"{path.name} is not the picture that its name says: it was changed. Restore it from a backup."
        )
    return data


def copy_picture(archive: Path, folder: Path, sha256: str) -> None:
    """Put a picture of an archive into a folder that other users read; one that is there stays.

    Raises:
        StoreError: as `read_picture`, and where the folder cannot be written to.
    """
    path = name_picture(folder, sha256)
    if path.exists():
        return
    data = read_picture(archive, sha256)
    try:
        for one in (folder, path.parent):
            one.mkdir(parents=True, exist_ok=True)
            # Whatever the mask of this user: it is for the user of the exam API as well.
            if one.stat().st_uid == os.geteuid():
                one.chmod(0o755)
        with writing_whole(path, 0o644) as draft:
            draft.write_bytes(data)
            draft.chmod(0o644)
    except OSError as error:
        raise StoreError(
            f"{folder} (PROCTOR_EXAM_PICTURES) cannot be written to ({error.strerror}). Correct its rights or make room, and run again."
        ) from None


def name_media_type(data: bytes) -> str:
    """The media type of a kept picture: PNG or JPEG."""
    if data.startswith(_PNG):
        return "image/png"
    if data.startswith(_JPEG):
        return "image/jpeg"
    raise StoreError("A kept picture is neither PNG nor JPEG: it was changed. Restore it from a backup.")


def write_mark(number: int) -> str:
    """What stands in a text for a picture."""
    return f"[picture:{number}]"


def leave_out_pictures(text: str) -> str:
    """The text without its pictures, and without the space that they leave."""
    if "[picture:" not in text:
        return text
    return re.sub(r"(?<![ \t])[ \t]*+\n\s*+", "\n", PICTURE.sub(" ", text)).strip()


def list_marked(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts that may hold pictures, by place: first those that a candidate sees."""
    yield "material", row.get("material") or ""
    yield "stem", row.get("stem") or ""
    for option in row.get("options") or ():
        yield "option", option["text"] or ""
    for answer in row.get("answer") or ():
        yield "answer", answer or ""
    yield "explanation", row.get("explanation") or ""


def place_pictures(row: Mapping[str, Any], pictures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The pictures that the texts of a question name, each where it is named first.

    A picture that no text names any more is left out; a number without a picture stays unexplained, which the rule
    `pictures_are_there` finds.
    """
    hashes = {int(one["number"]): str(one["sha256"]) for one in pictures}
    places: dict[int, str] = {}
    for place, text in list_marked(row):
        for mark in PICTURE.finditer(text) if "[picture:" in text else ():
            places.setdefault(int(mark[1]), place)
    return [
        {"number": number, "sha256": hashes[number], "place": place}
        for number, place in sorted(places.items())
        if number in hashes
    ]
