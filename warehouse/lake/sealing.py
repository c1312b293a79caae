"""What lands is closed in the home's audit log, if there is one, before it lands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from schemas.settings import Settings
    from warehouse.ledger.engine.ledger import Ledger

# The audit log itself: whatever lands of it is in the chain already.
_CHAINED: Final = "access_log/"


class LandingLog:
    """Closes landings of one lake; the ledger is opened for the first of them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ledger: Ledger | None = None
        # Once anything was closed, nothing that was there before is closed again.
        self._has_begun = False

    def close_units(
        self, hashes: Mapping[str, str], list_known: Callable[[], Iterable[tuple[str, str]]]
    ) -> None:
        """Note `table/unit` → hash before it lands; `list_known`: what was there before any log."""
        hashes = {name: digest for name, digest in hashes.items() if not name.startswith(_CHAINED)}
        if not hashes or not self._has_ledger():
            return
        from warehouse.ledger.engine.logs.stages import close_landings, has_begun

        ledger = self._open()
        known: list[tuple[str, str]] = []
        if not self._has_begun:
            with ledger.read() as connection:
                known = [] if has_begun(connection) else list(list_known())
        known = [(name, digest) for name, digest in known if not name.startswith(_CHAINED)]
        with ledger.write() as connection:
            close_landings(connection, hashes, known)
        self._has_begun = True

    def close(self) -> None:
        """Close the ledger, where it was opened."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def _has_ledger(self) -> bool:
        from warehouse.ledger.engine.sides import find_ledger_file

        file = find_ledger_file(self._settings.ledger_address)
        return file is None or file.exists()

    def _open(self) -> Ledger:
        from warehouse.ledger.engine.opening import open_ledger

        if self._ledger is None:
            self._ledger = open_ledger(self._settings.ledger_address)
        return self._ledger
