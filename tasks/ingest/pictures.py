"""The pictures of a document that its questions hold, loaded and in their normal form."""

from __future__ import annotations

import base64
import hashlib
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from functools import cache
from typing import Any, Final

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.named_pictures import SPEAKS_OF_FIGURE, KeptPictures
from tasks.ingest.readers.archives import open_package, read_part
from tasks.ingest.readers.drawings import Drawings
from tasks.ingest.readers.extraction import (
    IMAGE,
    PICTURE_MARK,
    Extraction,
    FoundPicture,
    find_marks,
    is_picture,
    read_picture_number,
)
from tasks.ingest.readers.levelling import find_marks as find_print
from tasks.ingest.readers.levelling import link_marks
from tasks.ingest.readers.picture_form import NormalPicture, UnreadablePictureError, cut_out
from tasks.ingest.readers.word_drawings import WordDrawings
from tasks.ingest.words.grammar import asking
from tasks.ingest.words.warnings import NOT_KEPT

# Of one document: a hundred pages of photographs.
MOST_KEPT: Final = 1_000
MOST_KEPT_BYTES: Final = 200 * 1024 * 1024
_PAGE_SCALE: Final = 200 / 72


def keep_pictures(
    drafts: Sequence[Draft], extraction: Extraction, placed: AbstractSet[int] = frozenset()
) -> KeptPictures:
    """Load what the questions hold of a document's pictures.

    Of those that are `placed` a reader said that they are a question's: they are no furniture.
    """
    kept = KeptPictures()
    if absent := sum(map(_count_absent, drafts)):
        kept.warnings.append(
            f"{NOT_KEPT}pictures of questions ({absent}): the file does not hold them, or in no form that is read; none is fetched from an address."
        )
    if not extraction.pictures:
        return kept
    wanted = sorted({number for draft in drafts for number in _list_numbers(draft)})
    kept.empty = _find_furniture(extraction.pictures, wanted)
    kept.empty |= _find_letterhead(extraction) & set(wanted)
    kept.empty -= placed
    wanted = [number for number in wanted if number not in kept.empty]
    if len(wanted) > MOST_KEPT:
        kept.warnings.append(
            f"{NOT_KEPT}the questions hold {len(wanted)} pictures, of which the first {MOST_KEPT} were kept."
        )
        del wanted[MOST_KEPT:]
    pictures = [
        (number, extraction.pictures[number]) for number in wanted if number < len(extraction.pictures)
    ]
    signs = _find_signs(drafts, extraction) - placed
    refused: dict[str, int] = {}
    size = 0
    loaded = _load(pictures, extraction)
    for number, found, load in loaded:
        try:
            normal, original = load()
        except UnreadablePictureError as error:
            refused[str(error)] = refused.get(str(error), 0) + 1
            continue
        if normal is None or (number in signs and max(normal.width, normal.height) <= _LARGEST_SIGN):
            kept.empty.add(number)
            continue
        size += len(normal.data)
        if size > MOST_KEPT_BYTES:
            refused["the document holds too many of them"] = (
                refused.get("the document holds too many of them", 0) + 1
            )
            continue
        kept.rows[number] = _describe(found, normal, original)
    kept.warnings += [f"{NOT_KEPT}pictures of questions ({count}): {why}." for why, count in refused.items()]
    return kept


# What a second reader is shown of a picture: enough to tell what it is, in base64 by number.
_SHOWN_SIDE: Final = 512
MOST_SHOWN: Final = 100


def draw_small(numbers: Sequence[int], extraction: Extraction) -> dict[int, str]:
    """Pictures of a document as a second reader is shown them, as far as they can be."""
    from PIL import Image

    drawn: dict[int, str] = {}
    pictures = [
        (number, extraction.pictures[number]) for number in numbers if number < len(extraction.pictures)
    ]
    for number, _, load in _load(pictures[:MOST_SHOWN], extraction):
        with suppress(UnreadablePictureError):
            normal, _ = load()
            if normal is None:
                continue
            with Image.open(io.BytesIO(normal.data)) as image:
                image.thumbnail((_SHOWN_SIDE, _SHOWN_SIDE))
                small = io.BytesIO()
                image.save(small, "PNG")
            drawn[number] = base64.b64encode(small.getvalue()).decode()
    return drawn


# So many pages with a picture in one place have it as their furniture; so often is a sign printed before options.
_LEAST_PAGES, _LEAST_SIGNS, _SIGNS_READ = 3, 6, 0.34
# In thousandths of a page; in its head or foot two pages are enough.
_SAME_PLACE, _HEAD = 5, 110


def _find_furniture(pictures: Sequence[FoundPicture], wanted: Sequence[int]) -> set[int]:
    """Pictures that are no question's: logos of pages, signs that repeat before options."""
    by_left: dict[int, list[FoundPicture]] = {}
    for found in pictures:
        if found.box:
            by_left.setdefault(found.box[0] // (4 * _SAME_PLACE), []).append(found)
    parts = Counter(found.part for found in pictures)
    read = Counter(pictures[number].part for number in wanted if number < len(pictures))

    def is_furniture(found: FoundPicture) -> bool:
        if found.box:
            keys = {(found.box[0] + by) // (4 * _SAME_PLACE) for by in (-_SAME_PLACE, _SAME_PLACE)}
            near = [other for key in keys for other in by_left.get(key, ())]
            alike = {
                other.page
                for other in near
                if other.package is found.package and _is_same_place(found.box, other.box)
            }
            is_outer = not _HEAD < (found.box[1] + found.box[3]) / 2 < 1_000 - _HEAD
            return len(alike) >= _LEAST_PAGES - is_outer
        return bool(
            found.part
            and parts[found.part] >= _LEAST_SIGNS
            and read[found.part] <= _SIGNS_READ * parts[found.part]
        )

    return {number for number in wanted if number < len(pictures) and is_furniture(pictures[number])}


# In pixels: what opens so many questions of a paper and is no larger is the sign of a platform.
_LEAST_OPENED, _LARGEST_SIGN = 3, 64


def _find_signs(drafts: Sequence[Draft], extraction: Extraction) -> set[int]:
    """The pictures that open the stems of several questions, each time the same."""
    opening: dict[bytes | str, set[int]] = {}
    for draft in drafts:
        mark = PICTURE_MARK.match(draft.stem)
        number = read_picture_number(mark) if mark else None
        if number is not None and number < len(extraction.pictures):
            found = extraction.pictures[number]
            opening.setdefault(found.data or found.part, set()).add(number)
    return {number for name, own in opening.items() if name and len(own) >= _LEAST_OPENED for number in own}


def _find_letterhead(extraction: Extraction) -> set[int]:
    """The picture above all words of a document, wherever it is shown again."""
    first = next((line.text for line in extraction.lines if line.text.strip()), "")
    number = (
        next((read_picture_number(mark) for mark in find_marks(first)), None) if is_picture(first) else None
    )
    part = extraction.pictures[number].part if number is not None else ""
    again = {place for place, found in enumerate(extraction.pictures) if part and found.part == part}
    return again if len(again) > 1 else set()


def _is_same_place(one: Sequence[int], other: Sequence[int]) -> bool:
    return all(abs(edge - own) <= _SAME_PLACE for edge, own in zip(one, other, strict=True))


def _count_absent(draft: Draft) -> int:
    """How many pictures the texts of a question mark that its reader could not take."""
    return sum(mark["sign"] == IMAGE and mark["number"] is None for mark in _list_marks(draft))


def _list_numbers(draft: Draft) -> Iterator[int]:
    for mark in _list_marks(draft):
        number = read_picture_number(mark)
        if number is not None:
            yield number


def _list_marks(draft: Draft) -> Iterator[re.Match[str]]:
    texts = (
        draft.stem,
        draft.material,
        draft.explanation,
        *draft.answer,
        *(text for _, text in draft.options),
    )
    for text in texts:
        yield from find_marks(text)


_Load = Any


def _load(
    pictures: Sequence[tuple[int, FoundPicture]], extraction: Extraction
) -> Iterator[tuple[int, FoundPicture, _Load]]:
    """Each picture with what loads it; a file is opened once."""
    by_package: dict[bytes, list[tuple[int, FoundPicture]]] = {}
    for number, found in pictures:
        by_package.setdefault(found.package or extraction.package, []).append((number, found))
    for package, own in by_package.items():
        yield from _load_own(own, package)


def _load_own(
    pictures: Sequence[tuple[int, FoundPicture]], data: bytes
) -> Iterator[tuple[int, FoundPicture, _Load]]:
    """The same for the pictures of one file."""
    package = open_package(data) if any(found.part or found.drawn for _, found in pictures) else None

    @cache
    def read(part: str) -> bytes:
        assert package is not None
        try:
            return read_part(package, part)
        except DocumentError as error:
            raise UnreadablePictureError(f"its part is damaged ({error.code})") from None

    def give(found: FoundPicture) -> bytes:
        return found.data or read(found.part)

    whole = [(number, found) for number, found in pictures if found.part or found.data]
    drawings = Drawings()
    for _, found in whole:
        with suppress(UnreadablePictureError):
            drawings.add(give(found))
    for number, found in whole:
        yield (
            number,
            found,
            lambda found=found: (drawings.read(give(found)), hashlib.sha256(give(found)).hexdigest()),
        )
    drawn = [(number, found) for number, found in pictures if found.drawn]
    if drawn and package is not None:
        shapes = WordDrawings(package)
        for _, found in drawn:
            shapes.add(found.drawn)
        for number, found in drawn:
            yield number, found, lambda found=found: shapes.read(found.drawn)
    on_pages = [one for one in pictures if not (one[1].part or one[1].data or one[1].drawn)]
    if on_pages:
        yield from _cut_pages(on_pages, data)


def _cut_pages(
    pictures: Sequence[tuple[int, FoundPicture]], data: bytes
) -> Iterator[tuple[int, FoundPicture, _Load]]:
    import pypdfium2

    by_page: dict[int, list[tuple[int, FoundPicture]]] = {}
    for number, found in pictures:
        by_page.setdefault(found.page, []).append((number, found))
    with closing(pypdfium2.PdfDocument(data)) as document:
        for page_number, own in sorted(by_page.items()):
            page = document[page_number - 1]
            shown = page.render(scale=min(_PAGE_SCALE, 4_000 / max(page.get_size()))).to_pil()
            page.close()
            for number, found in own:
                yield number, found, lambda found=found, shown=shown: (cut_out(shown, found.box), None)


def _describe(found: FoundPicture, normal: NormalPicture, original: str | None) -> dict[str, Any]:
    return {
        "sha256": normal.sha256,
        "media_type": normal.media_type,
        "size_bytes": len(normal.data),
        "width": normal.width,
        "height": normal.height,
        "picture_kind": "formula" if found.is_formula else "page" if original is None else "image",
        "alt_text": found.alt_text,
        "perceptual_hash": normal.perceptual_hash,
        "original_sha256": original,
        # A place in an answer file is none in this document.
        "page": 0 if found.package else found.page,
        "box": [] if found.package else list(found.box),
        "data": base64.b64encode(normal.data).decode(),
    }


# A picture of so many lines of so many characters shows writing, at most so wide or tall as is looked at.
_LINES_WRITTEN, _LONG_LINE, _LOOKED_AT = 4, 8, 1_400
# What a stem speaks of may be what the picture below it shows.
_POINTS_ON = re.compile(
    r"下列|下面|如下|以下|[如上下右左该此题]图|图[示中]|[下如左右]表|所示|(?<!伪)代码|材料|[:：]\s*$|(?i:\b(?:following|below|given|figure|diagram|graph|table|chart|code|shown)\b)"
)
_PLACE_TO_FILL = re.compile(r"\s*第\s*\d{1,2}\s*空\s*")


def give_written_answers(drafts: Sequence[Draft], kept: KeptPictures) -> None:
    """Take pictures of writing below a question that is whole without them as its answer.

    What follows them is part of it. So do photographs of solutions stand below their questions, with no mark. The question must ask, speak of nothing that
    it does not hold, and have no answer; nothing below the picture may ask.
    """
    for draft in drafts:
        if draft.answer or draft.options or draft.question_type == "true_false" or "\n" not in draft.stem:
            continue
        lines = [line for line in draft.stem.split("\n") if not _PLACE_TO_FILL.fullmatch(line)]
        first = next((at for at, line in enumerate(lines) if PICTURE_MARK.match(line.strip())), 0)
        above, below = "\n".join(lines[:first]), "\n".join(lines[first:])
        if (
            first
            and asking().search(above)
            and not _POINTS_ON.search(above)
            and not SPEAKS_OF_FIGURE.search(above)
            and not asking().search(PICTURE_MARK.sub("", below))
            and _shows_writing(lines[first], kept)
        ):
            draft.stem, draft.answer = above, [below]
            draft.notes.append("answer_without_mark")


def _shows_writing(line: str, kept: KeptPictures) -> bool:
    """Whether the first picture of a line has lines of print or handwriting."""
    number = next((read_picture_number(mark) for mark in find_marks(line)), None)
    row = kept.rows.get(number) if number is not None else None
    if row is None or row["picture_kind"] == "formula":
        return False
    import numpy
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(row["data"]))) as opened:
        image = opened.convert("L")
    image.thumbnail((_LOOKED_AT, _LOOKED_AT))
    shown: Any = numpy.asarray(image)
    marks, size = find_print(255 - shown if numpy.median(shown) < 128 else shown)
    written = link_marks(marks, size) if len(marks) else []
    return sum(len(one) >= _LONG_LINE for one in written) >= _LINES_WRITTEN
