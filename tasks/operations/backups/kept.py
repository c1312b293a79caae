"""The backups of a folder: made one after the other, and deleted when they need not be kept.

A backup counts as long as its list is there, which is written last. What is deleted is renamed first: a kill at any moment leaves
backups that are whole, and pieces that nobody takes for one and that the next night removes. The newest, and the newest that a try
restored, are never deleted.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from warehouse.backup import is_finished, read_manifest, write_whole
from warehouse.stores import installation

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

_FORMAT: Final = "%Y-%m-%dT%H%M%SZ"
_GOING: Final = ".going-"
_LOCK: Final = ".kept.lock"
_OWNER: Final = ".installation"
# The last backup that had other bytes of such a file, in the place of the one before.
_DIFFERS: Final = "differs"
_UNCHANGING: Final = "lake/data/"
# What the last tries came to: written whole, read by whoever measures.
_RECORD: Final = "restore-check.json"


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """A backup that is whole by its list.

    Attributes:
        folder: where it lies; its name is the moment at which it was begun.
        begun_at: that moment.
    """

    folder: Path
    begun_at: datetime


@dataclass(frozen=True, slots=True)
class TriedBackup:
    """A backup that was restored for a try.

    Attributes:
        name: its folder's name.
        checked_at: when (UTC, ISO text).
    """

    name: str
    checked_at: str


@dataclass(frozen=True, slots=True)
class KeptBackups:
    """What a folder of backups holds.

    Attributes:
        backups: the whole ones, the newest first.
        tried: the last that a try found good; null for none.
    """

    backups: tuple[KeptBackup, ...]
    tried: TriedBackup | None


def make_kept_backup(
    settings: Settings, *, now: datetime | None = None, is_new_place: bool = False
) -> dict[str, Any]:
    """Make a backup in the folder of `backups`, then rotate; UsageError, StoreError as held.

    A folder in which backups were made, and that has none, is refused (UsageError) unless it `is_new_place`.

    The backup is there and nothing was rotated where the clock is refused (ClockError): by its days the new one might be the first
    to go; and where a file of the lake is not what an earlier backup has of it (StoreError): that one may be all that is left of it.
    """
    from tasks.operations.backups.copies import backup_home, check_mounted
    from warehouse.ledger.engine.leases.clock import check_clock
    from warehouse.ledger.engine.opening import open_ledger

    folder = _need_folder(settings)
    moment = now or datetime.now(UTC)
    if not is_new_place:
        check_mounted(settings, folder)
    with hold_folder(folder):
        check_owner(settings, folder)
        pieces = _remove_pieces(folder)
        made = backup_home(settings, folder / moment.strftime(_FORMAT), is_new_place=True)
        with open_ledger(settings.ledger_address) as ledger:
            _forget(ledger, folder, pieces)
            _check_unchanged(settings, ledger, folder, Path(made["folder"]))
            check_clock(ledger)
            gone = rotate(settings)
            _forget(ledger, folder, gone)
    return {**made, "deleted": gone, "kept": [one.folder.name for one in read_kept(settings).backups]}


def read_kept(settings: Settings) -> KeptBackups:
    """The backups that are kept; none where no folder is set, or none was made yet."""
    folder = settings.backups
    if folder is None or not folder.is_dir():
        return KeptBackups((), None)
    found = [KeptBackup(path, begun) for path, begun in _list_named(folder) if is_finished(path)]
    found.sort(key=lambda one: one.begun_at, reverse=True)
    return KeptBackups(tuple(found), _read_tried(folder))


def rotate(settings: Settings) -> list[str]:
    """Delete the backups that need not be kept; their names. The caller holds the folder."""
    kept = read_kept(settings)
    staying = choose_kept(
        [one.begun_at for one in kept.backups],
        daily=settings.keep_daily,
        weekly=settings.keep_weekly,
        monthly=settings.keep_monthly,
    )
    tried = None if kept.tried is None else kept.tried.name
    going = [one for one in kept.backups if one.begun_at not in staying and one.folder.name != tried]
    for one in going:
        # No longer a backup at one stroke, whatever comes between this and its last file.
        name = one.folder.with_name(f"{_GOING}{one.folder.name}")
        one.folder.rename(name)
        shutil.rmtree(name)
    return [one.folder.name for one in going]


def choose_kept(begun: Sequence[datetime], *, daily: int, weekly: int, monthly: int) -> set[datetime]:
    """The last of each of so many days, weeks and months that have any, and the newest."""
    kept = {max(begun)} if begun else set()
    periods: tuple[tuple[int, Callable[[datetime], Any]], ...] = (
        (daily, lambda moment: moment.date()),
        (weekly, lambda moment: moment.isocalendar()[:2]),
        (monthly, lambda moment: (moment.year, moment.month)),
    )
    for count, name_period in periods:
        last: dict[Any, datetime] = {}
        for moment in sorted(begun):
            last[name_period(moment)] = moment
        kept |= set(sorted(last.values(), reverse=True)[:count])
    return kept


def note_tried(settings: Settings, name: str, checked_at: str) -> None:
    """Note that a try found a backup good."""
    text = json.dumps(asdict(TriedBackup(name, checked_at)))
    write_whole(_need_folder(settings) / _RECORD, [text.encode()])


def check_owner(settings: Settings, folder: Path) -> None:
    """Pass when the held folder is this installation's or nobody's; UsageError else."""
    own, mark = installation.read_home_id(settings), folder / _OWNER
    owner = mark.read_text("utf-8") if mark.is_file() else ""
    if owner and owner != own:
        raise UsageError(
            f"{folder} holds the backups of another installation, which would be rotated away. Let `proctor settings set backups FOLDER` name one of its own."
        )
    if own and not owner:
        write_whole(mark, [own.encode()])


def _forget(ledger: Ledger, folder: Path, names: Sequence[str]) -> None:
    """What was deleted here is not named to who erases.

    What is not there for other reasons is: folders of several disks may be put in one place in turn.
    """
    from warehouse.ledger.engine.copies.backups import forget_backups

    with ledger.write() as connection:
        forget_backups(connection, [folder / name for name in names])


def _check_unchanged(settings: Settings, ledger: Ledger, folder: Path, made: Path) -> None:
    """Raise StoreError unless files of the lake are what earlier backups have of them."""
    from warehouse.ledger.engine.copies.backups import rename_backup

    first: dict[str, tuple[str, Path]] = {}
    for one in read_kept(settings).backups:
        # Backups come newest first: what stays of a file is what the earliest has. A list that cannot be read says nothing.
        with suppress(StoreError):
            first |= {file.path: (file.sha256, one.folder) for file in read_manifest(one.folder).files}
    for file in read_manifest(made).files:
        digest, earlier = first.get(file.path, (file.sha256, made))
        if file.path.startswith(_UNCHANGING) and digest != file.sha256:
            # Set aside: later ones are held to the backups before it, and none to its bytes.
            aside = folder / _DIFFERS
            shutil.rmtree(aside, ignore_errors=True)
            with ledger.write() as connection:
                rename_backup(connection, made, aside)
            made.rename(aside)
            place = f"{settings.data_address.rstrip('/')}/{file.path.removeprefix(_UNCHANGING)}"
            raise StoreError(
                f"{place} is not what it was: {earlier} has other bytes of it, and nothing of ours changes a file of the lake. The new backup "
                f"{aside} is kept, and no earlier one was deleted. Put {earlier / file.path} back in its place, then make another backup."
            )


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Let one process at a time work on a folder of backups; StoreError for a second one."""
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"The folder of backups {folder} cannot be made ({error.strerror}). Name another: proctor settings set backups FOLDER"
        ) from None
    try:
        with FileLock(folder / _LOCK, timeout=0):
            yield
    except Timeout:
        raise StoreError(
            f"Another process makes or tries a backup in {folder}. Wait until it has ended, then run this again."
        ) from None


def _need_folder(settings: Settings) -> Path:
    if settings.backups is None:
        raise UsageError(
            "No folder of backups is set. `proctor settings set backups FOLDER` names one, outside the home and best on another disk."
        )
    if settings.backups.resolve().is_relative_to(settings.home.resolve()):
        raise UsageError(
            f"The folder of backups {settings.backups} lies in the home that is backed up. Name one outside it, best on another disk."
        )
    return settings.backups


def _list_named(folder: Path) -> Iterator[tuple[Path, datetime]]:
    for path in folder.iterdir():
        try:
            yield path, datetime.strptime(path.name, _FORMAT).replace(tzinfo=UTC)
        except ValueError:
            continue


def _remove_pieces(folder: Path) -> list[str]:
    """Remove what kills have left of backups that were being made, or deleted; their names."""
    pieces = [path for path, _ in _list_named(folder) if not is_finished(path)]
    pieces += folder.glob(f"{_GOING}*")
    for path in pieces:
        shutil.rmtree(path)
    return [path.name.removeprefix(_GOING) for path in pieces]


def _read_tried(folder: Path) -> TriedBackup | None:
    try:
        return TriedBackup(**json.loads((folder / _RECORD).read_bytes()))
    except (OSError, ValueError, TypeError):
        # Without a record nothing was tried: the alert says so.
        return None
