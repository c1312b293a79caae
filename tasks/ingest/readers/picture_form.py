"""The normal form of a picture: PNG or JPEG of eight bits, bounded.

It has nothing but what the picture shows.

The same bytes give the same form. Nothing is fetched, no script runs, and a picture is never unpacked before its size is known.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

# A picture with more pixels is not unpacked: no page of a paper needs as many.
MOST_PIXELS: Final = 60_000_000
# What candidates and people are shown: no model of today sees more.
LONGEST_SIDE: Final = 2_000
# Shorter sides are dots, rules and parts of letters.
SHORTEST_SIDE: Final = 6
# So many times as wide as it is high, a picture is a rule; one that is lower than print already with the smaller share.
_RULE_SHAPE, _RULE_OR_PRINT = 60, 30
_PRINT_HEIGHT: Final = 16
MOST_BYTES: Final = 60 * 1024 * 1024
# A drawing packs well as PNG; what does not is a photograph.
_LARGEST_PNG: Final = 1_500_000
_FORMATS: Final = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "DIB", "PCX", "TGA", "PPM")
_HASH_SIDE: Final = 8
# Paper and what a JPEG leaves around letters are lighter.
_FAINTEST: Final = 48


class UnreadablePictureError(Exception):
    """A picture that is not kept; its sentence says why, without the document."""


@dataclass(frozen=True)
class NormalPicture:
    """A picture as it is kept, and 64 bits of how it looks, in hexadecimal."""

    data: bytes
    media_type: str
    width: int
    height: int
    perceptual_hash: str

    @property
    def sha256(self) -> str:
        """The hash that names it."""
        return hashlib.sha256(self.data).hexdigest()


def name_vector_format(data: bytes) -> str | None:
    """`emf`, `wmf` or `svg` for a drawing that is no raster, else None."""
    if data[40:44] == b" EMF" and data[:4] == b"\x01\x00\x00\x00":
        return "emf"
    if data[:4] in (b"\xd7\xcd\xc6\x9a", b"\x01\x00\x09\x00", b"\x02\x00\x09\x00"):
        return "wmf"
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "svg" if head.startswith(b"<") and b"<svg" in data[:4096].lower() else None


def is_rule(width: float, height: float, print_height: float) -> bool:
    """Whether a picture of this size is a rule, and no line of print, which is so high at least."""
    short, long = sorted((width, height))
    return long > (_RULE_OR_PRINT if short < print_height else _RULE_SHAPE) * short


def normalise_picture(data: bytes) -> NormalPicture | None:
    """The normal form of a raster picture; None for a dot, a rule, or one colour alone.

    Raises:
        UnreadablePictureError: for what is damaged, too large, or no picture.
    """
    from PIL import Image, UnidentifiedImageError

    if len(data) > MOST_BYTES:
        raise UnreadablePictureError(f"it has more than {MOST_BYTES // 2**20} MB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
            if image.width * image.height > MOST_PIXELS:
                raise UnreadablePictureError(
                    f"it unpacks to {image.width} × {image.height} pixels; {MOST_PIXELS // 10**6} million are allowed"
                )
            is_photograph = image.format == "JPEG"
            if is_rule(*image.size, _PRINT_HEIGHT):
                return None
            image.draft(None, (LONGEST_SIDE, LONGEST_SIDE))  # a JPEG is unpacked no larger than it is needed
            return encode_picture(_flatten(image), is_photograph=is_photograph)
    except (UnreadablePictureError, MemoryError):
        raise
    except Image.DecompressionBombError:  # Pillow does not even say how many
        raise UnreadablePictureError(
            f"it unpacks to far more than the {MOST_PIXELS // 10**6} million pixels that are allowed"
        ) from None
    except UnidentifiedImageError:
        raise UnreadablePictureError(
            "it is damaged or no picture of a form that is read; save it as PNG"
        ) from None
    except Exception as error:  # every decoder fails in its own way
        raise UnreadablePictureError(f"it is damaged or no picture ({type(error).__name__})") from None


def encode_picture(image: Any, *, is_photograph: bool = False) -> NormalPicture | None:
    """The normal form of a picture of Pillow in grey or colour; None for one that shows nothing."""
    from PIL import Image

    if min(image.size) < SHORTEST_SIDE or _is_plain(image):
        return None
    if max(image.size) > LONGEST_SIDE:
        scale = LONGEST_SIDE / max(image.size)
        size = tuple(max(1, round(side * scale)) for side in image.size)
        image = image.resize(size, Image.Resampling.LANCZOS)
    data, media_type = b"", "image/png"
    if not is_photograph:
        data = _save(image, "PNG", compress_level=6)
    if not data or len(data) > _LARGEST_PNG:
        data, media_type = _save(image, "JPEG", quality=90, subsampling=0), "image/jpeg"
    return NormalPicture(data, media_type, image.width, image.height, _hash_look(image))


def cut_out(shown: Any, box: Sequence[int]) -> NormalPicture | None:
    """The normal form of a part of a page; None where nothing is to be seen."""
    width, height = shown.size
    left, top, right, bottom = box
    edges = (
        max(0, int((left - 1) * width / 1000)),
        max(0, int((top - 1) * height / 1000)),
        min(width, int((right + 1) * width / 1000) + 1),
        min(height, int((bottom + 1) * height / 1000) + 1),
    )
    image = shown.crop(edges)
    return encode_picture(image if image.mode in ("L", "RGB") else image.convert("RGB"))


def _flatten(image: Any) -> Any:
    """The first picture of a file, upright, in eight bits of grey or colour on white."""
    from PIL import Image, ImageOps

    image.seek(0)
    image.load()
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I") or image.mode == "F":
        _, high = image.getextrema()
        span = 65_535 if image.mode.startswith("I") else max(high, 1)
        image = image.convert("F").point(lambda value: value * (255 / span)).convert("L")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        layer = image.convert("RGBA")
        if (factor := max(image.size) // (2 * LONGEST_SIDE)) > 1:
            # Laid on white as it is, a large one would be in memory four times.
            layer = layer.convert("RGBa").reduce(factor).convert("RGBA")
        ground = Image.new("RGBA", layer.size, "white")
        ground.alpha_composite(layer)
        image = ground.convert("RGB")
    if image.mode == "1":
        image = image.convert("L")
    return image if image.mode in ("L", "RGB") else image.convert("RGB")


def _is_plain(image: Any) -> bool:
    extrema = image.getextrema()
    bands = [extrema] if isinstance(extrema[0], (int, float)) else extrema
    return all(high - low < 8 for low, high in bands)


def _save(image: Any, form: str, **how: Any) -> bytes:
    out = io.BytesIO()
    clean = image.copy()
    clean.info = {}
    clean.save(out, form, **how)
    return out.getvalue()


def _hash_look(image: Any) -> str:
    """Which of 64 parts of what is drawn, without its margin, are darker than their mean."""
    from PIL import Image, ImageOps

    grey = image.convert("L")
    drawn = ImageOps.invert(grey).point(lambda value: 255 if value > _FAINTEST else 0).getbbox()
    small = grey.crop(drawn).resize((_HASH_SIDE, _HASH_SIDE), Image.Resampling.BOX)
    shades = small.tobytes()
    mean = sum(shades) / len(shades)
    bits = 0
    for shade in shades:
        bits = bits << 1 | (shade < mean)
    return f"{bits:016x}"
