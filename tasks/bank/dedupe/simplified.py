"""Traditional Chinese characters folded onto simplified ones.

This is for keys of duplicates only, never for a text that is shown.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def fold_traditional(text: str) -> str:
    """The text with the simplified form of every traditional character; as long as before."""
    return text.translate(_read_characters())


def fold_traditional_codes(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The same of code points."""
    found: NDArray[np.uint32] = _build_table()[codes]
    return found


@cache
def _read_characters() -> dict[int, int]:
    """Code of a traditional character → code of the simplified one."""
    path = files("schemas") / "data" / "simplified_characters.txt"
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {
        ord(traditional): ord(simplified)
        for above, below in zip(lines[::2], lines[1::2], strict=True)
        for traditional, simplified in zip(above, below, strict=True)
    }


@cache
def _build_table() -> NDArray[np.uint32]:
    import numpy as np

    characters = _read_characters()
    table = np.arange(0x110000, dtype=np.uint32)
    table[list(characters)] = list(characters.values())
    return table
