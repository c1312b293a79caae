"""Traditional Chinese characters folded onto simplified ones: for keys of duplicates only, never for a text that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Stands between texts that are folded together; a text that holds it is folded by itself.
_BETWEEN = "\x00"


def fold_traditional(text: str) -> str:
    """The text with the simplified form of every traditional character; as long as before."""
    return text.translate(_read_characters())


def fold_traditional_all(texts: Sequence[str]) -> list[str]:
    """The same for many texts at once."""
    import numpy as np

    joined = _BETWEEN.join(texts)
    if joined.isascii():
        return list(texts)
    if joined.count(_BETWEEN) != max(0, len(texts) - 1):
        return [fold_traditional(text) for text in texts]
    table = _build_table()
    codes = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
    folded = table[np.minimum(codes, len(table) - 1)]
    # The last place of the table stands for every character beyond it, and each of those stays as it is.
    folded = np.where(codes < len(table) - 1, folded, codes)
    if np.array_equal(folded, codes):
        return list(texts)
    return folded.tobytes().decode("utf-32-le").split(_BETWEEN)


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
    table = np.arange(max(characters) + 2, dtype=np.uint32)
    table[list(characters)] = list(characters.values())
    return table
