"""What of ledger and archive was found as it was closed before, and is not read again.

Rows of the ledger lie in no files of their own whose bytes would tell. A closed session that was found as audit log, public log and lake
have it is known by its row, the number of its rows, the archive that has them, and what landed of it. Of those that the ledger still
has, and of the chain, a thirtieth is read again in each look. One that landed since the last look is held to what its landing says that
it compared. What has left the ledger is known by the files of the lake that have it, and by one mark of all that left together. A file
of the archive is known by its last change, which was before the last look, in the folder that lay there; a thirtieth is read again, too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import StoreError
from tasks.exam.log import Seen
from warehouse.stores.files import identify_file

if TYPE_CHECKING:
    from deployments.doctor.findings import NoteFinding
    from warehouse.lake import Lake
    from warehouse.lake.upkeep import Looked
    from warehouse.ledger.engine.ledger import Ledger

# Looks until everything that the ledger has was read again.
LOOKS: Final = 30
_NAME: Final = "ledger"
# Raised with what is kept.
_FORM: Final = "1"
_TABLES: Final = ("sessions", "allocations", "responses")
# Checks that read answers; a session is known when each of them found it as it was closed.
_CHECKS: Final = frozenset({"audit log", "stages", "public log", "ledger against lake"})


class LedgerLook:
    """One look at the ledger and the archive.

    Attributes:
        looked: what is kept of looks at lake, ledger and archive; null where the lake cannot be opened.
        seen: what is not read again; null where everything is.
        lost_end: the entry with which the audit log ended, and which it does not have any more; null where it has it.
        unchanged: sessions that no look has read, and that are as they were when they landed; their turn comes first.
        is_all_read: whether everything is read, and the log is taken with the end that it has.
        passed_file_count: files of the archive that were there and were not read again.
    """

    def __init__(self) -> None:
        self.looked: Looked | None = None
        self.seen: Seen | None = None
        self.lost_end: int | None = None
        self.unchanged: frozenset[str] = frozenset()
        self.is_all_read = False
        self.passed_file_count = 0
        self._kept: dict[str, Any] = {}
        self._marks: dict[str, str] = {}
        # Under which name each of them is kept.
        self._places: dict[str, str] = {}
        self._fine: set[str] = set()
        self._end: tuple[int, str] | None = None
        # What was changed before is known, in a folder of the archive with the same device and inode; of the last look, and of this one.
        self._began_ns = time.time_ns()
        self._known_before_ns = 0
        self._known_folders: dict[str, list[int]] = {}
        self._folders: dict[str, list[int]] = {}

    @property
    def passed(self) -> frozenset[str]:
        """The sessions whose answers are not read again, or are as their landing has them."""
        return frozenset() if self.seen is None else self.seen.session_ids

    @property
    def known(self) -> frozenset[str]:
        """Those that an earlier look has found as they were closed; nor are their calls read."""
        return self.passed - self.unchanged

    @property
    def passed_sets(self) -> frozenset[str]:
        """The sets that are not read again."""
        return frozenset() if self.seen is None else self.seen.set_ids

    def begin(self, ledger: Ledger | None, lake: Lake, is_all_read: bool, _note: NoteFinding) -> None:
        """Find out what is known; nothing, where everything is to be read."""
        from tasks.exam.closed import list_unchanged_sessions
        from warehouse.lake.upkeep import Looked
        from warehouse.ledger.trust import access, sealed_state

        self.looked = Looked(lake, is_trusted=not is_all_read)
        self.is_all_read = is_all_read
        # Whatever this look finds, or cannot look at, the log is held to its former end.
        kept = self._kept = self.looked.find_saved(_NAME, _FORM) or {}
        if ledger is None:
            return
        with ledger.read() as connection:
            states = sealed_state.read_session_states(connection)
            drawn = sealed_state.read_set_states(connection)
            end = access.read_entry(connection, kept["end"][0]) if kept else None
            is_whole = access.count_chained(connection) == access.read_head(connection).number
        tables = dict.fromkeys(states, _TABLES) | dict.fromkeys(drawn, ("sets",))
        units = [f"{table}/{name}" for name, own in tables.items() for table in own]
        try:
            landed = dict(lake.read("landed_hashes", {"units": units}).rows())
        except StoreError:
            # The look at the lake names it.
            return
        for name, state in (states | drawn).items():
            hashes = [landed.get(f"{table}/{name}") for table in tables[name]]
            if None not in hashes:
                self._marks[name] = sha256(json.dumps([state, hashes], default=str).encode()).hexdigest()
                self._places[name] = (name in states and state[-1]) or name
        if not kept:
            return
        # A new home has a log without an entry.
        if kept["end"][0] and (end is None or end.entry_hash != kept["end"][1]):
            self.lost_end = kept["end"][0]
        elif is_whole and kept["is_fine"] and not is_all_read:
            same = {
                place for place, mark in self._list_marks() if kept["sessions"].get(place, "")[:1] == [mark]
            }
            known = [name for name, place in self._places.items() if place in same]
            here = [name for name in known if name in states and states[name][-1] is None]
            sets = [name for name in known if name in drawn]
            due = [*_list_due(kept["sessions"], here), *_list_due(kept["sessions"], sets)]
            # What an earlier version kept has neither, and of a clock that went back nothing is believed.
            before = int(kept.get("began_ns", 0))
            if before < self._began_ns:
                self._known_before_ns, self._known_folders = before, kept.get("folders", {})
            number, after = kept["end"][0], kept["again_after"]
            own = [name for name, place in self._places.items() if name == place and name in states]
            new = [name for name in own if name not in kept["sessions"]]
            self.unchanged = frozenset(list_unchanged_sessions(ledger, lake, new))
            self.seen = Seen(
                frozenset(known) & states.keys() - frozenset(due) | self.unchanged,
                frozenset(known) & drawn.keys() - frozenset(due),
                number,
                kept["end"][1],
                max(after - 1, 0),
                min(after + -(-number // LOOKS), number),
            )

    def is_file_known(self, path: Path, digest: str) -> bool:
        """Whether an earlier look has read a file of the archive as it is, and its turn is not now.

        Where it is not, the caller reads the file and holds it to that digest, by which its turn comes.
        """
        place = path.parent.name
        if place not in self._folders:
            self._folders[place] = list(identify_file(path.parent) or ())
        is_known = (
            int(digest[:8], 16) % LOOKS != self._number % LOOKS
            and self._known_folders.get(place) == self._folders[place]
            # Whatever changes a file, its name or its moments, moves this one.
            and path.stat().st_ctime_ns < self._known_before_ns
        )
        self.passed_file_count += is_known
        return is_known

    def _list_marks(self) -> list[tuple[str, str]]:
        """Each name under which something is kept, with the mark of all that is kept there."""
        found: dict[str, list[str]] = {}
        for name, place in sorted(self._places.items()):
            found.setdefault(place, []).append(self._marks[name])
        return [
            (place, one if not more else sha256("".join([one, *more]).encode()).hexdigest())
            for place, (one, *more) in found.items()
        ]

    @property
    def _number(self) -> int:
        """Which look this is, of those of which something was kept."""
        return int(self._kept.get("look", 0)) + 1

    def note_fine(self, what: str, end: tuple[int, str] | None = None) -> None:
        """A check found everything as it was closed; `end` is where the audit log ends."""
        self._fine.add(what)
        self._end = end or self._end

    def is_fine(self, what: str) -> bool:
        """Whether a check of this look found everything as it was closed."""
        return what in self._fine

    def describe(self, count: int, what: str = "{}") -> str:
        """The end of a sentence that says how much was not read again."""
        if self.seen is None or not count:
            return ""
        return f"; {what.format(count)} not read again (--all reads all)"

    def save(self, _note: NoteFinding) -> None:
        """Keep what was found; where anything was not as it was closed, everything is read again."""
        if self.looked is None:
            return
        is_end_taken = self.lost_end is None or self.is_all_read
        if self._fine >= _CHECKS and is_end_taken and self._end is not None:
            passed = {self._places[name] for name in self.known | self.passed_sets}
            sessions = {
                place: self._kept["sessions"][place] if place in passed else [mark, self._number]
                for place, mark in self._list_marks()
            } | {name: [self._marks[name], 0] for name in self.unchanged}
            until = (
                0 if self.seen is None or self.seen.again_until >= self.seen.number else self.seen.again_until
            )
            kept = {
                "look": self._number,
                # Another look, at the same time, may have found what this one did not read.
                "is_fine": not self.looked.is_saved_since(_NAME),
                "end": self._end,
                "again_after": until,
                "sessions": sessions,
                "began_ns": self._began_ns,
                "folders": self._folders,
            }
            self.looked.keep(_NAME, _FORM, kept)
        elif self._kept and not (self.is_all_read and self.lost_end is not None):
            self.looked.keep(_NAME, _FORM, {**self._kept, "is_fine": False})
        self.looked.save()


def _list_due(kept: Mapping[str, tuple[str, int]], names: list[str]) -> list[str]:
    """Those whose turn it is to be read again: they were read longest ago."""
    return sorted(names, key=lambda name: (kept[name][1], name))[: -(-len(names) // LOOKS)]
