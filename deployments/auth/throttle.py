"""Pauses after repeated wrong passwords, in three budgets.

What is counted is an account from one address, an account from all strangers together, and a stranger's address whatever
accounts it names. Who signed in before from the same address, or with the same browser, is no stranger: strangers spend nothing of
theirs. Where strangers have spent the budget of an account, one of them is checked every few seconds: its owner, at an address that
is new, waits among them and is not locked out. An address of IPv6 counts as its network of 64 bits, which one person has.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final

_MOST_FAILURES: Final = 10
# Of all strangers at one account, and of one address at all accounts: an office has one address for many people.
MOST_OF_STRANGERS: Final = 30
MOST_OF_ADDRESS: Final = 50
_PAUSE_S: Final = 300.0
# How long strangers wait for each other at an account whose budget they have spent.
SLOW_S: Final = 5.0
_MOST_NAMES: Final = 10_000
_LONGEST_PART: Final = 200
_LONGEST_NAME: Final = 2 * _LONGEST_PART + 1


class FailureCounter:
    """Counts failures per name and tells who must pause; kept in memory, for one server.

    A name is what is to pause: an account from an address (`name_attempt`), so that who guesses at somebody's password
    does not keep them from signing in where they are.

    Args:
        clock: seconds of a clock that never goes back.
        most_failures: after so many within five minutes a name must pause.
        pause_s: for how long from its last failure; at most until five minutes from the first are over.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        most_failures: int = _MOST_FAILURES,
        pause_s: float = _PAUSE_S,
    ) -> None:
        self._clock = clock
        self._most_failures = most_failures
        self._pause_s = pause_s
        # How many, the first and the last moment.
        self._failures: OrderedDict[str, tuple[int, float, float]] = OrderedDict()

    def count(self, name: str) -> int:
        """How often a name has failed within the last five minutes."""
        name = name[:_LONGEST_NAME]
        count, first, _ = self._failures.get(name, (0, 0.0, 0.0))
        if count and self._clock() - first > _PAUSE_S:
            del self._failures[name]
            return 0
        return count

    def is_spent(self, name: str) -> bool:
        """Whether a name has failed too often of late."""
        return self.count(name) >= self._most_failures

    def must_pause(self, name: str) -> bool:
        """Whether a name has failed too often of late, the last time a moment ago."""
        return self.is_spent(name) and self._clock() - self._failures[name[:_LONGEST_NAME]][2] < self._pause_s

    def note(self, name: str, *, is_right: bool) -> None:
        """Count a failure, or forget the earlier ones."""
        count, now = self.count(name), self._clock()
        name = name[:_LONGEST_NAME]
        _, first, _ = self._failures.pop(name, (0, now, now))
        if is_right:
            return
        # Who tries thousands of names pushes out the oldest, never all at once.
        while len(self._failures) >= _MOST_NAMES:
            self._failures.popitem(last=False)
        self._failures[name] = (count + 1, first, now)


class KnownPlaces:
    """Accounts and the addresses from which they have signed in; kept in memory, for one server."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def add(self, name: str) -> None:
        """Remember an account from an address (`name_attempt`); the oldest are forgotten."""
        self._known[name] = None
        self._known.move_to_end(name)
        while len(self._known) > _MOST_NAMES:
            self._known.popitem(last=False)


def name_attempt(address: str | None, user_id: str) -> str:
    """What is counted: an account from an address; longer names than any account's are cut."""
    return f"{(address or '')[:_LONGEST_PART]} {user_id[:_LONGEST_PART]}"


def name_source(address: str | None) -> str:
    """What counts as one address: IPv4, or IPv6's network of 64 bits; empty where unknown."""
    try:
        found = ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or ""
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Network((found, 64), strict=False))
