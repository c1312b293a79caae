"""Pictures of a request: as parts of its last message, and what they may cost."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tasks.questions import BareQuestion
from tasks.questions.pictures import name_media_type, read_picture, write_mark

# What a picture of at most 2,000 pixels a side takes of a model's input at most, by what providers say they count.
MOST_PICTURE_TOKENS: Final = 6_000
_TEXT, _IMAGE = "text", "image_url"


@dataclass(frozen=True, slots=True)
class SentPicture:
    """A picture that goes with a request: the mark that names it there, and its bytes."""

    mark: str
    sha256: str
    media_type: str
    data: bytes = field(repr=False)


def load_pictures(archive: Path, bare: BareQuestion) -> tuple[SentPicture, ...]:
    """A question's pictures as they are sent; raises StoreError for one lost or changed."""
    return tuple(
        SentPicture(write_mark(picture.number), picture.sha256, name_media_type(data), data)
        for picture in bare.pictures
        for data in (read_picture(archive, picture.sha256),)
    )


def attach_pictures(
    messages: Sequence[Mapping[str, Any]], pictures: Sequence[SentPicture]
) -> list[dict[str, Any]]:
    """The messages with pictures as parts of the last, each after its first mark or at the end."""
    whole = [dict(message) for message in messages]
    if not pictures:
        return whole
    left = {picture.mark: picture for picture in pictures}
    parts: list[dict[str, Any]] = []
    text = ""
    for piece in re.split(f"({'|'.join(re.escape(mark) for mark in left)})", str(whole[-1]["content"])):
        text += piece
        if piece in left:
            parts += [{"type": _TEXT, "text": text}, _write_part(left.pop(piece))]
            text = ""
    if text:
        parts.append({"type": _TEXT, "text": text})
    parts += [_write_part(picture) for picture in left.values()]
    whole[-1]["content"] = parts
    return whole


def part_pictures(messages: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """The messages with their texts alone, and how many pictures they have."""
    count = 0
    plain: list[dict[str, Any]] = []
    for message in messages:
        content = message["content"]
        if isinstance(content, list):
            count += sum(1 for part in content if part["type"] == _IMAGE)
            content = "".join(part["text"] for part in content if part["type"] == _TEXT)
        plain.append({**message, "content": content})
    return plain, count


def read_data_address(part: Mapping[str, Any]) -> tuple[str, str]:
    """Media type and base64 of a picture's part."""
    head, _, data = str(part[_IMAGE]["url"]).partition(";base64,")
    return head.removeprefix("data:"), data


def _write_part(picture: SentPicture) -> dict[str, Any]:
    address = f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"
    return {"type": _IMAGE, _IMAGE: {"url": address, "detail": "high"}}
