"""The pictures of a question that is put: from the archive, each held to its hash."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tasks.questions import BareQuestion
from tasks.questions.pictures import name_media_type, read_picture, write_mark

if TYPE_CHECKING:
    from tasks.models import SentPicture


def load_pictures(archive: Path, bare: BareQuestion) -> tuple[SentPicture, ...]:
    """The pictures of a question as they are sent to a model.

    Raises StoreError for one that is lost or changed.
    """
    if not bare.pictures:
        return ()
    from tasks.models import SentPicture

    return tuple(
        SentPicture(write_mark(picture.number), picture.sha256, name_media_type(data), data)
        for picture in bare.pictures
        for data in (read_picture(archive, picture.sha256),)
    )
