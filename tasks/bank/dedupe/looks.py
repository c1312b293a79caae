"""The same picture saved twice: another size, another format, another margin.

Two questions that ask the same about it are duplicates, although its bytes differ. Perceptual hashes propose, the pictures decide.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from schemas.errors import StoreError
from tasks.questions.pictures import read_picture
from warehouse.lake import Lake

# Pictures in the order in which the first of those that look alike names them all → picture → that one.
FindLooks = Callable[[Sequence[str]], Mapping[str, str]]

# So many of 64 bits may differ in two savings of one picture. Measured on 40 drawings, each saved again at half the size, as a JPEG of quality
# 40, with a margin, and enlarged: 4 at most, 74 shades; two drawings: 14 and 140 at least. A small label alone makes no difference.
MOST_BITS: Final = 10
# The side of the squares, in pixels of the smaller picture, in which two are compared, and how far their shades may lie apart.
_SQUARE: Final = 8
_MOST_SHADES: Final = 80
_LONGEST: Final = 800
# How far the proportions of what is drawn may lie apart.
_MOST_ASPECT: Final = 0.08
_FAINTEST: Final = 48


def find_looks(lake: Lake, archive: Path, arriving: Sequence[str]) -> dict[str, str]:
    """Pictures of the bank and those that arrive → the first of them that looks the same."""
    found = lake.read("pictures_of_bank", {"sha256s": list(arriving)})
    rows = dict(found.select("sha256", "perceptual_hash").iter_rows())
    held = found.filter("is_held")["sha256"].to_list()
    order = [
        *held,
        *(sha256 for sha256 in dict.fromkeys(arriving) if sha256 in rows and sha256 not in set(held)),
    ]
    leaders: list[str] = []
    looks: dict[str, str] = {}
    drawn: dict[str, Any] = {}
    for sha256 in order:
        bits = int(rows[sha256], 16)
        near = (one for one in leaders if (int(rows[one], 16) ^ bits).bit_count() <= MOST_BITS)
        same = next((one for one in near if _is_alike(archive, drawn, one, sha256)), None)
        if same is None:
            leaders.append(sha256)
        looks[sha256] = same or sha256
    return looks


def find_alike(lake: Lake, archive: Path, picture: bytes, look: str) -> list[str]:
    """The pictures of the bank, by hash, that show what a picture in its normal form shows.

    `look` is its perceptual hash. Pictures that the archive lost are not found.
    """
    rows = lake.read("pictures_of_bank", {"sha256s": []}).select("sha256", "perceptual_hash").iter_rows()
    bits, drawn = int(look, 16), {"": _draw(picture)}
    return [
        sha256
        for sha256, other in rows
        if (int(other, 16) ^ bits).bit_count() <= MOST_BITS and _is_alike(archive, drawn, "", sha256)
    ]


def show_looks(contents: pl.DataFrame, order: pl.Series, find: FindLooks) -> pl.DataFrame:
    """The rows with one name for pictures that look the same; `order` is that of preference."""
    if contents["pictures"].list.len().sum() in (0, None):
        return contents
    lists = contents["pictures"].to_list()
    arriving = [one["sha256"] for place in order for one in lists[place] or ()]
    looks = find(list(dict.fromkeys(arriving)))
    named = [
        None if held is None else [one | {"sha256": looks.get(one["sha256"], one["sha256"])} for one in held]
        for held in lists
    ]
    return contents.with_columns(pl.Series("pictures", named, dtype=contents.schema["pictures"]))


def _is_alike(archive: Path, drawn: dict[str, Any], first: str, second: str) -> bool:
    for sha256 in (first, second):
        if sha256 not in drawn:
            drawn[sha256] = _read_drawn(archive, sha256)
    one, other = drawn[first], drawn[second]
    return one is not None and other is not None and _measure_apart(one, other) <= _MOST_SHADES


def _measure_apart(one: Any, other: Any) -> float:
    """How far the shades of two pictures lie apart where they differ most, from 0 to 255.

    Both are looked at in the size of the smaller one, in squares that are wider than a line is moved by scaling it.
    """
    from PIL import Image, ImageChops

    if abs((one.width / one.height) / (other.width / other.height) - 1) > _MOST_ASPECT:
        return 255.0
    small, large = sorted((one, other), key=lambda image: image.width)
    large = large.resize(small.size, Image.Resampling.BOX)
    squares = tuple(max(1, side // _SQUARE) for side in small.size)
    apart = [image.resize(squares, Image.Resampling.BOX) for image in (small, large)]
    _, most = ImageChops.difference(*apart).getextrema()
    assert isinstance(most, int | float)
    return float(most)


def _read_drawn(archive: Path, sha256: str) -> Any:
    """What a picture of the archive shows; None for one that is lost."""
    try:
        return _draw(read_picture(archive, sha256))
    except StoreError:
        return None


def _draw(data: bytes) -> Any:
    """What a picture shows in grey, without its margin."""
    from PIL import Image, ImageOps

    grey = Image.open(io.BytesIO(data), formats=("PNG", "JPEG")).convert("L")
    cut = grey.crop(ImageOps.invert(grey).point(lambda value: 255 if value > _FAINTEST else 0).getbbox())
    cut.thumbnail((_LONGEST, _LONGEST))
    return cut
