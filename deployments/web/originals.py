"""Beside a question under review: its page with its place marked or lines, and its likes.

Questions like it are found among all that lie in review batches, by an index in this process's memory alone: made from
the ledger when a page first asks, and brought up to date with batches that have come since, in a thread of its own.
Pages ask again while it is being made.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deployments.web.lake import Kept, LakeDoor
from schemas.errors import DocumentError, StoreError
from schemas.settings import Settings
from tasks.bank.dedupe import SimilarQuestions
from tasks.ingest.originals import (
    Box,
    Excerpt,
    Original,
    PageView,
    draw_page,
    find_pages,
    make_excerpt,
    read_original,
    read_picture_size,
)
from tasks.review.decisions import Item
from tasks.review.desk import find_comparable, list_comparable, list_compared_batches
from warehouse.ledger.engine.ledger import Ledger

# What is shown of a page at first: the stretch with this much around it (thousandths), and no less than this.
AROUND, LEAST_WIDTH, LEAST_HEIGHT = 45, 620, 220
MOST_PAGES = 6
_MOST_KEPT = 500
# So many papers are looked up at once, others come back in a moment: drawing holds no thread that takes decisions.
_MOST_AT_ONCE = 6
# A page waits so long for a batch that is new; a whole bank takes longer.
_WAIT_S = 1.0


class BusyError(Exception):
    """Too many originals are being looked up; ask again in a moment."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The original of one question, without its text.

    Attributes:
        original: which it is.
        view: its pages.
        excerpt: the lines around the question, where no page can be shown.
    """

    original: Original
    view: PageView
    excerpt: Excerpt | None

    def may_show(self, page: int) -> bool:
        """Whether the page is one of the question's, or next to one."""
        pages = self.view.pages
        return bool(pages) and max(min(pages) - 1, 1) <= page <= max(pages) + 1


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as the template draws it, all in pixels of its picture.

    Attributes:
        number: of the page, from 1.
        width, height: of the picture.
        marks: (x, y, width, height) of the marked blocks.
        part: the part that is shown at first, as an SVG view box.
    """

    number: int
    width: int
    height: int
    marks: Sequence[tuple[int, int, int, int]]
    part: str


class Sights:
    """Originals that were looked at, by question; reading them again costs nothing."""

    def __init__(self, settings: Settings, lake: LakeDoor) -> None:
        self._settings = settings
        self._lake = lake
        self._kept: Kept[tuple[str, str], Sight] = Kept(_MOST_KEPT)
        self._rooms = threading.BoundedSemaphore(_MOST_AT_ONCE)

    def find(self, item: Item) -> Sight | None:
        """The original of a question under review.

        Returns None for a variant, and where the lake knows no place of it.

        Raises:
            BusyError: it is not known yet, and others are being looked up.
        """
        if item.document_id is None:
            return None
        key = (item.document_id, item.question_uuid)
        sight = self._kept.get(key)
        if sight is None:
            if not self._rooms.acquire(blocking=False):
                raise BusyError
            try:
                sight = self._look_up(*key)
            finally:
                self._rooms.release()
            if sight is not None and sight.view.problem is None:
                # what went wrong may go right when it is looked at again
                self._kept.put(key, sight)
        return sight

    def _look_up(self, document_id: str, question_uuid: str) -> Sight | None:
        try:
            original = read_original(self._lake.read(sight=None), document_id, question_uuid)
        except StoreError:
            return None
        if original is None:
            return None
        view = self._check(original, find_pages(self._settings, original))
        excerpt = None if view.pages else make_excerpt(original)
        return Sight(replace(original, text="", page_offsets=()), view, excerpt)

    def _check(self, original: Original, view: PageView) -> PageView:
        """The view, if its pages can really be drawn; else why not."""
        try:
            for page in view.pages[:MOST_PAGES]:
                draw_page(self._settings, original, page)
        except DocumentError as error:
            return PageView(problem=error.code)
        return view

    def draw(self, sight: Sight, page: int) -> bytes | None:
        """The picture (PNG) of a page; null where it cannot be shown."""
        try:
            return draw_page(self._settings, sight.original, page)
        except DocumentError:
            return None

    def list_pictures(self, sight: Sight) -> list[PagePicture]:
        """The pages of a question, drawn and measured; without those that cannot be."""
        found = []
        for number in sight.view.pages[:MOST_PAGES]:
            picture = self.draw(sight, number)
            if picture is not None:
                width, height = read_picture_size(picture)
                found.append(_describe(number, width, height, sight.view.boxes))
        return found


def _describe(number: int, width: int, height: int, boxes: Mapping[int, Sequence[Box]]) -> PagePicture:
    own = boxes.get(number, ())
    marks = [
        (
            left * width // 1000,
            top * height // 1000,
            (right - left) * width // 1000,
            (bottom - top) * height // 1000,
        )
        for left, top, right, bottom in own
    ]
    part = f"0 0 {width} {height}"
    if own:
        left, right = _widen(min(box[0] for box in own), max(box[2] for box in own), LEAST_WIDTH)
        top, bottom = _widen(min(box[1] for box in own), max(box[3] for box in own), LEAST_HEIGHT)
        part = (
            f"{left * width // 1000} {top * height // 1000} "
            f"{(right - left) * width // 1000} {(bottom - top) * height // 1000}"
        )
    return PagePicture(number, width, height, marks, part)


def _widen(first: int, last: int, least: int) -> tuple[int, int]:
    """A stretch with air around it, inside of the page, of at least that length."""
    first, last = max(first - AROUND, 0), min(last + AROUND, 1000)
    missing = max(least - (last - first), 0)
    first = max(first - missing // 2, 0)
    last = min(max(last, first + least), 1000)
    return max(min(first, last - least), 0), last


class SimilarShelf:
    """The index of one server."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._index: SimilarQuestions[tuple[str, str]] = SimilarQuestions()
        self._known: set[str] = set()
        self._reading: threading.Thread | None = None
        self._guard = threading.Lock()
        self._lock = threading.Lock()

    def find(self, batch_id: str, question_uuid: str) -> list[tuple[tuple[str, str], float]]:
        """What is like one under review, most alike first; BusyError while the index is being made."""
        with self._guard:
            if self._reading is None or not self._reading.is_alive():
                missing = [one for one in list_compared_batches(self._ledger) if one not in self._known]
                self._reading = threading.Thread(target=self._read, args=(missing,), daemon=True)
                self._reading.start()
            reading = self._reading
        reading.join(_WAIT_S)
        if reading.is_alive():
            raise BusyError
        key = find_comparable(self._ledger, batch_id, question_uuid)
        with self._lock:
            return self._index.find(key)

    def _read(self, batches: list[str]) -> None:
        for batch_id in batches:
            for keys, contents in list_comparable(self._ledger, batch_id):
                with self._lock:
                    self._index.add(keys, contents)
            self._known.add(batch_id)
