"""Which documents this process reads where several ingest the same papers.

Each document is one process's at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from tasks.running.claiming import POLL_S

if TYPE_CHECKING:
    from tasks.ingest.documents import Source
    from tasks.running.sharing import JobQueue

CLAIM = "document"


class DocumentShare:
    """The documents of one ingest that fall to this process.

    Args:
        claims: of the kind `document`; null where nobody else can be at work.
        list_landed: which of these hashes have landed by now.
        group: documents claimed at once.
    """

    def __init__(
        self, claims: JobQueue | None, list_landed: Callable[[Sequence[str]], set[str]], group: int
    ) -> None:
        self._claims = claims
        self._list_landed = list_landed
        self._group = group
        self._names: dict[str, str] = {}
        self._others: list[tuple[Source, str]] = []
        self.landed_by_others = 0

    def take(self, found: Iterator[tuple[Source, str]]) -> Iterator[Source]:
        """Those of the documents (with their hashes) that nobody else is reading.

        The others are kept for `take_left`.
        """
        while group := list(islice(found, self._group)):
            yield from self._take_some(group)

    def take_left(self) -> Iterator[Source]:
        """What others were reading, once they have let go of it without landing it.

        They were killed, or could not read it. Call it when everything taken before has landed and was let go of:
        otherwise two processes would wait for each other.
        """
        left, self._others = self._others, []
        yield from self._take_some(left)
        if len(self._others) == len(left):
            time.sleep(POLL_S)

    @property
    def has_left(self) -> bool:
        """Whether others are, or were, reading some of the documents."""
        return bool(self._others)

    def release(self, paths: Sequence[str]) -> None:
        """Let go of documents that have landed, by their paths."""
        if self._claims is not None:
            self._claims.end_named([self._names.pop(path) for path in paths])

    def _take_some(self, group: Sequence[tuple[Source, str]]) -> Iterator[Source]:
        if self._claims is None:
            yield from (source for source, _ in group)
            return
        taken = self._claims.take_named([sha256 for _, sha256 in group])
        # What another process landed between our first look at the lake and our claim is done.
        landed = self._list_landed(sorted(taken)) if taken else set()
        self._claims.end_named(landed)
        self.landed_by_others += len(landed)
        for source, sha256 in group:
            if sha256 not in taken:
                self._others.append((source, sha256))
            elif sha256 not in landed:
                self._names[str(source.path)] = sha256
                yield source
