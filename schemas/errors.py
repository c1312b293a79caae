"""The one tree of exceptions.

An error says what was found, where, and what to do. It never carries question text, answers or secrets:
messages reach terminals, logs and Prefect's database.
"""

from __future__ import annotations

from collections.abc import Iterable

# The exit code of a command that a signal ended, as shells have it.
INTERRUPTED = 130


class ProctorError(Exception):
    """Anything Proctor refuses or fails at.

    The message is a sentence fit for the person who ran the command.

    `exit_code` is what the command line returns: 1 failed or incomplete, 2 usage, 3 a quality gate refused.
    """

    exit_code = 1


class UsageError(ProctorError):
    """The command, a parameter or a setting is wrong: nothing was started."""

    exit_code = 2


class RegistryError(UsageError):
    """The model registry is faulty, or an API key variable is not set.

    A faulty registry is malformed, or names an unknown model.
    """


class MislabelledError(RegistryError):
    """A model that is registered as real answers as a simulation."""


class FlowError(ProctorError):
    """A flow in which nothing succeeded: its run is Failed.

    `result` is what the flow would have returned: ids and counts of what was tried.
    """

    def __init__(self, message: str, result: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.result = result or {}


class DocumentError(ProctorError):
    """A source paper cannot be read.

    `code` is the stable problem code stored in `documents.status` (for example `encrypted`, `corrupt`, `empty`,
    `zip_bomb`, `too_large`, `needs_libreoffice`, `needs_ocr`).
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class WorkbookError(ProctorError):
    """A review or rating workbook is damaged, foreign, or filled in wrongly.

    The message names sheet, row and column.
    """


class ContractError(ProctorError):
    """A frame does not have the columns or types of its table.

    This is a fault of ours, never of a user's data.
    """


class GateError(ProctorError):
    """A quality gate refused to continue.

    Examples are a bank too small for the plan, and unparsed judgements before publishing.
    """

    exit_code = 3


class BudgetError(GateError):
    """The next call could exceed the budget of the run; nothing was sent."""


class StoreError(ProctorError):
    """The ledger or the lake cannot be opened or used.

    It cannot be opened, is from another version, or another writer holds it too long.
    """


class StoreAway(StoreError):
    """A store does not answer; nothing of the operation was kept.

    The operation may be done again once the store is back.

    `store` is what it is called in a sentence (`warehouse.stores.away`).
    """

    def __init__(self, store: str, message: str) -> None:
        super().__init__(message)
        self.store = store


class ConflictError(StoreError):
    """What was to be written is there already: somebody else was first, and nothing was written."""


class ClockError(StoreError):
    """The clock disagrees with what else is known of the time.

    What cannot be undone is not decided by such a clock.
    """


class ExamError(ProctorError):
    """The exam protocol refuses a call.

    `status` is the HTTP status of the API, `code` a stable word for clients.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def suggest(name: str, known: Iterable[str]) -> str:
    """What may be meant by a name that is not known, as a sentence; empty where nothing is near."""
    # Only a mistake pays for it.
    from difflib import get_close_matches

    # Names in the wrong case have no letter in common.
    by_folded = {one.casefold(): one for one in known}
    near = get_close_matches(name.casefold(), list(by_folded), n=1)
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""


def is_interruption(error: BaseException) -> bool:
    """Whether a signal ended the work.

    When a signal arrives while a library is working, the library wraps it in an error of its own.

    DuckDB does so by name; SQLAlchemy fails to roll back what the signal broke off. Within a flow Prefect makes an exception of
    its own of SIGTERM, which like KeyboardInterrupt is no Exception.
    """
    if isinstance(error, RuntimeError) and "interrupted" in str(error).lower():
        return True
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        if not isinstance(one, Exception | GeneratorExit | SystemExit):
            return True
        seen.add(id(one))
        waiting += [one.__cause__, one.__context__]
    return False
