"""The public log's file while the API runs: brought up to date beside the calls."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Final

from fastapi.concurrency import run_in_threadpool

from schemas.errors import StoreError
from schemas.settings import Settings
from tasks.exam.public.log import write_public_log
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.public_log import read_public_head

PAUSE_S: Final = 2.0
_log = logging.getLogger("proctor.exam_api")


class PublicLogWriter:
    """Looks every few seconds whether the ledger has entries that the file lacks, and adds them.

    A file that is refused stops no sitting: it is said once, and tried again.
    """

    def __init__(self, ledger: Ledger, settings: Settings) -> None:
        self._ledger = ledger
        self._settings = settings
        self._written = -1
        self._refusal = ""
        self._task = asyncio.create_task(self._serve())

    async def finish(self) -> None:
        """Add what is left, and stop."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await run_in_threadpool(self._write)

    async def _serve(self) -> None:
        while True:
            await asyncio.sleep(PAUSE_S)
            await run_in_threadpool(self._write)

    def _write(self) -> None:
        try:
            with self._ledger.read() as connection:
                number = read_public_head(connection).number
            if number != self._written:
                write_public_log(self._ledger, self._settings)
                self._written, self._refusal = number, ""
        except Exception as error:
            # Of a fault of ours its class alone: a message may quote what is written.
            refusal = str(error) if isinstance(error, StoreError) else type(error).__name__
            if refusal != self._refusal:
                self._refusal = refusal
                _log.error("The public log is not written: %s", refusal)
