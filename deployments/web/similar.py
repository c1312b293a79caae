"""Questions like the one under review, found among all that lie in review batches.

The index is in this process's memory alone: made from the ledger when a page first asks, and brought up to date with batches that
have come since, in a thread of its own. Pages ask again while it is being made.
"""

from __future__ import annotations

import threading

from deployments.web.originals import BusyError
from tasks.bank.dedupe import SimilarQuestions
from tasks.review.desk import find_comparable, list_comparable, list_compared_batches
from warehouse.ledger.engine.ledger import Ledger

# A page waits so long for a batch that is new; a whole bank takes longer.
_WAIT_S = 1.0


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
        """Batch and UUID of the questions like one under review, with their likeness.

        The most alike comes first.

        Raises BusyError while the index is being made.
        """
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
