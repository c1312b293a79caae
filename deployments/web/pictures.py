"""Pictures of a question: under review (read, cut again, from a file), held, or answered."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.responses import Response

from deployments.web.lake import Kept, LakeDoor
from deployments.web.originals import Sights
from deployments.web.show import say
from schemas import patterns as re
from schemas.errors import DocumentError, StoreError
from schemas.settings import Settings
from tasks.ingest import ParsedDocument
from tasks.ingest.originals import cut_picture, land_picture, take_picture
from tasks.questions import QuestionContent
from tasks.questions.pictures import name_media_type, read_picture
from tasks.review import Language
from tasks.review.channels import list_pictures
from tasks.review.decisions import Item
from warehouse.lake import Lake

_MOST_KEPT = 2_000
# Of a reading that nobody has kept yet, so much of its pictures goes with it.
_MOST_SENT = 8 * 1024 * 1024
_SHOWN = re.compile(r'<span class="lost" data-picture="(\d+)">[^<]*</span>')


class ReviewPictures:
    """What annotators see and make of pictures; texts without any never come here."""

    def __init__(self, settings: Settings, lake: LakeDoor, sights: Sights) -> None:
        self._settings = settings
        self._lake = lake
        self._sights = sights
        self._said: Kept[str, str] = Kept(_MOST_KEPT)

    def read(self, item: Item, sha256: str) -> bytes | None:
        """The bytes of a picture of the question or its paper; null for another or a lost one."""
        if not self.may_hold(item, sha256):
            return None
        try:
            return read_picture(self._settings.archive_dir, sha256)
        except StoreError:
            return None

    def may_hold(self, item: Item, sha256: str) -> bool:
        """Whether it is a picture of the question, or of the paper that it stands in."""
        if any(one.sha256 == sha256 for one in list_pictures(item.content)):
            return True
        return item.document_id is not None and sha256 in _read_paper(
            self._lake.read(sight=None), item.document_id
        )

    def is_lost(self, content: QuestionContent) -> bool:
        """Whether the bytes of one of its pictures are not there, or are not what their hash says."""
        for one in list_pictures(content):
            try:
                read_picture(self._settings.archive_dir, one.sha256)
            except StoreError:
                return True
        return False

    def describe(self, content: QuestionContent) -> list[dict[str, Any]]:
        """Its pictures as the page's script takes them, with what somebody said they show."""
        held = list_pictures(content)
        wanted = sorted(
            {one.sha256 for one in held if one.alt_text is None and self._said.get(one.sha256) is None}
        )
        if wanted:
            try:
                rows = self._lake.read(sight=None).read("picture_alt_texts", {"sha256s": wanted})
            except StoreError:
                rows = None
            said = {} if rows is None else dict(rows.iter_rows())
            for sha256 in wanted:
                self._said.put(sha256, said.get(sha256, ""))
        return [
            {
                "number": one.number,
                "sha256": one.sha256,
                "alt_text": one.alt_text or self._said.get(one.sha256) or None,
            }
            for one in held
        ]

    def make(self, item: Item, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Cut a part out of a page (`page`, `box` in thousandths), or take a file (`data`, base64).

        Raises:
            DocumentError: nothing can be made of it; the sentence says why.
        """
        if item.document_id is None:
            raise DocumentError("no_paper", "The question stands in no paper.")
        if isinstance(asked.get("data"), str):
            try:
                given = base64.b64decode(asked["data"], validate=True)
            except ValueError:  # also where it is no ASCII
                raise DocumentError("no_picture", "The file did not arrive whole.") from None
            made = take_picture(self._settings, given)
        else:
            page, box = asked.get("page"), _read_box(asked.get("box"))
            sight = self._sights.find(item)
            if box is None or type(page) is not int or sight is None or not sight.may_show(page):
                raise DocumentError("nothing_there", "There is no such part of the paper.")
            made = cut_picture(self._settings, sight.original, page, box)
        with self._lake.write() as lake:
            land_picture(lake, item.document_id, made)
        return {"sha256": made.sha256, "width": made.row["width"], "height": made.row["height"]}


def answer_picture(data: bytes | None) -> Response:
    """A picture, which its visitor's browser may keep for a while; 404 for none."""
    if data is None:
        raise HTTPException(404)
    headers = {"cache-control": "private, max-age=600, immutable"}
    return Response(data, media_type=name_media_type(data), headers=headers)


def find_pictures(
    lake: Lake, document_id: str, parsed: ParsedDocument | None = None
) -> Callable[[Mapping[str, Any]], list[dict[str, Any]]]:
    """Describes the pictures of a question of a paper as the page of held papers takes them.

    Those of a reading that nobody has kept lie in no archive: they go with it, as long as there are few.
    """
    said = _read_paper(lake, document_id)
    sources = {sha256: f"/papers/{document_id}/picture/{sha256}" for sha256 in said}
    sent = 0
    for row in parsed.pictures if parsed else ():
        data = parsed.picture_bytes.get(row["sha256"], b"") if parsed else b""
        if row["sha256"] not in sources and data and sent + len(data) <= _MOST_SENT:
            sent += len(data)
            sources[row["sha256"]] = _write_source(data)
            said[row["sha256"]] = row["alt_text"]

    def describe(question: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [
            {"number": one["number"], "source": sources[one["sha256"]], "alt_text": said[one["sha256"]]}
            for one in question["pictures"] or ()
            if one["sha256"] in sources
        ]

    return describe


def read_paper_picture(lake: Lake, archive: Path, document_id: str, sha256: str) -> bytes | None:
    """The bytes of a picture of a paper; null for another or a lost one."""
    if sha256 not in _read_paper(lake, document_id):
        return None
    try:
        return read_picture(archive, sha256)
    except StoreError:
        return None


def _read_paper(lake: Lake, document_id: str) -> dict[str, str | None]:
    """The pictures of a paper by their hashes, each with what somebody said it shows."""
    found = lake.read("pictures_of_document", {"document_id": document_id})
    return dict(found.select("sha256", "alt_text").iter_rows())


def _write_source(data: bytes) -> str:
    return f"data:{name_media_type(data)};base64,{base64.b64encode(data).decode()}"


def place_pictures_in(
    shown: Markup, described: list[dict[str, Any]], address: str, language: Language
) -> Markup:
    """A shown question with its pictures in the place of their marks; each opens enlarged."""
    by_number = {str(one["number"]): one for one in described}

    def show(found: re.Match[str]) -> str:
        one = by_number.get(found[1])
        if one is None:
            return f'<span class="lost">{escape(say("picture_lost", language, number=found[1]))}</span>'
        alt = one["alt_text"] or say("picture_undescribed", language, number=found[1])
        label = say("picture_enlarge", language, number=found[1])
        return (
            f'<button type="button" class="picture" data-enlarge aria-label="{escape(label)}: {escape(alt)}">'
            f'<img src="{escape(address)}/picture/{one["sha256"]}" alt="{escape(alt)}" loading="lazy"></button>'
        )

    return Markup(_SHOWN.sub(show, str(shown)))  # noqa: S704 - every piece was escaped or made here


def embed_pictures(shown: Markup, content: QuestionContent, archive: Path, language: Language) -> Markup:
    """A shown question with its pictures within the page, in the place of their marks.

    They have no address: who may not see the page can ask for none of them, and the look at the page is the one noted.
    """
    by_number = {str(one.number): one for one in list_pictures(content)}

    def show(found: re.Match[str]) -> str:
        one = by_number.get(found[1])
        try:
            data = read_picture(archive, one.sha256) if one else b""
        except StoreError:
            data = b""
        if one is None or not data:
            return f'<span class="lost">{escape(say("picture_lost", language, number=found[1]))}</span>'
        alt = one.alt_text or say("picture_undescribed", language, number=found[1])
        return f'<span class="picture"><img src="{_write_source(data)}" alt="{escape(alt)}"></span>'

    return Markup(_SHOWN.sub(show, str(shown))) if by_number else shown  # noqa: S704 - as above


def _read_box(box: object) -> list[int] | None:
    is_box = isinstance(box, list) and len(box) == 4 and all(type(edge) is int for edge in box)
    return box if is_box else None  # type: ignore[return-value]
