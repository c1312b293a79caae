"""An index of a bank: names of fixed width side by side, a tenth of what objects take."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ContractError

_UUID: Final = 16
T = TypeVar("T")


def pack_uuids(texts: Sequence[str]) -> bytes:
    """UUIDs as 16 bytes each, in the order of their texts; ContractError for anything else."""
    joined = "".join(texts)
    if len(joined) == 36 * len(texts) and joined == joined.lower():
        try:
            raw = bytes.fromhex(joined.replace("-", ""))
        except ValueError:
            raw = b""
        if len(raw) == _UUID * len(texts):
            return raw
    raise ContractError(
        f"Questions and lineages of a bank are known by UUIDs; among {len(texts)} there is something else."
    )


class _Fixed(Sequence[T]):
    """Values of one width side by side."""

    def __init__(self, raw: bytes, width: int) -> None:
        self._raw = raw
        self._width = width

    def __len__(self) -> int:
        return len(self._raw) // self._width

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> list[T]: ...

    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            return [self._read(one) for one in range(*place.indices(len(self)))]
        if place < 0 or place >= len(self):
            raise IndexError(place)
        return self._read(place)

    def __iter__(self) -> Iterator[T]:
        return map(self._read, range(len(self)))

    def pick(self, places: Iterable[int]) -> list[T]:
        """The values at places that are known to be there."""
        return list(map(self._read, places))

    @cached_property
    def array(self) -> NDArray[np.bytes_]:
        """The same as an array without a copy; read as bytes, elements lose the zeros at their end."""
        return np.frombuffer(self._raw, dtype=f"S{self._width}")

    @abstractmethod
    def _read(self, place: int) -> T: ...


class Hashes(_Fixed[bytes]):
    """Hashes of 32 bytes."""

    def __init__(self, raw: bytes) -> None:
        super().__init__(raw, 32)

    def _read(self, place: int) -> bytes:
        return self._raw[32 * place : 32 * place + 32]


class Uuids(_Fixed[str]):
    """UUIDs, as texts when they are read."""

    def __init__(self, raw: bytes) -> None:
        super().__init__(raw, _UUID)

    def _read(self, place: int) -> str:
        text = self._raw[_UUID * place : _UUID * place + _UUID].hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


class UuidPlaces(Mapping[str, int]):
    """UUID → its place among UUIDs that are all different."""

    def __init__(self, uuids: Uuids) -> None:
        self._uuids = uuids
        self._order = np.argsort(uuids.array, kind="stable").astype(np.int32)

    def __len__(self) -> int:
        return len(self._uuids)

    def __iter__(self) -> Iterator[str]:
        return iter(self._uuids)

    def __getitem__(self, uuid: str) -> int:
        place = int(self.find_all([uuid])[0])
        if place < 0:
            raise KeyError(uuid)
        return place

    def find_all(self, uuids: Iterable[str]) -> NDArray[np.int64]:
        """The place of each, -1 for one that is not among them."""
        wanted = np.frombuffer(pack_uuids(list(uuids)), dtype=f"S{_UUID}")
        if not len(self):
            return np.full(len(wanted), -1, dtype=np.int64)
        held = self._uuids.array
        at = np.searchsorted(held, wanted, sorter=self._order)
        found = self._order[np.minimum(at, len(held) - 1)].astype(np.int64)
        found[held[found] != wanted] = -1
        return found


class Lists(Generic[T]):
    """Lists in one column: list `i` stands from `offsets[i]` to `offsets[i + 1]`."""

    def __init__(self, offsets: NDArray[np.int32], column: Sequence[T]) -> None:
        self.offsets = offsets
        self.column = column

    def __getitem__(self, position: int) -> list[T]:
        found: Any = self.column[int(self.offsets[position]) : int(self.offsets[position + 1])]
        return list(found)

    def __iter__(self) -> Iterator[list[T]]:
        for position in range(len(self.offsets) - 1):
            yield self[position]


class Codes(Sequence[T]):
    """A few different values, as a number each."""

    def __init__(self, values: Sequence[T], codes: NDArray[np.int8]) -> None:
        self._values = values
        self._codes = codes

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> list[T]: ...

    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            return [self._values[code] for code in self._codes[place].tolist()]
        return self._values[int(self._codes[place])]
