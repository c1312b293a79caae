"""A pause after repeated wrong passwords, for one account from one address: nobody else is locked out by it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

_MOST_FAILURES: Final = 10
_PAUSE_S: Final = 300.0
_MOST_NAMES: Final = 10_000
_LONGEST_PART: Final = 200


class FailureCounter:
    """Counts failures per name and tells who must pause; kept in memory, for one server.

    A name is what is to pause: an account from an address (`name_attempt`), so that who guesses at somebody's password
    does not keep them from signing in where they are.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def must_pause(self, name: str) -> bool:
        """Whether a name has failed too often of late."""
        count, last = self._failures.get(name, (0, 0.0))
        if count and self._clock() - last > _PAUSE_S:
            del self._failures[name]
            return False
        return count >= _MOST_FAILURES

    def note(self, name: str, *, is_right: bool) -> None:
        """Count a failure, or forget the earlier ones."""
        count, _ = self._failures.pop(name, (0, 0.0))
        if is_right:
            return
        # Who tries thousands of names pushes out the oldest, never all at once.
        while len(self._failures) >= _MOST_NAMES:
            self._failures.popitem(last=False)
        self._failures[name] = (count + 1, self._clock())


def name_attempt(address: str | None, user_id: str) -> str:
    """What is counted: an account from an address; longer names than any account's are cut."""
    return f"{(address or '')[:_LONGEST_PART]} {user_id[:_LONGEST_PART]}"
