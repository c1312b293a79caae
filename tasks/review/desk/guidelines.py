"""Versions of the annotators' guidelines: published, read, and named on their decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.errors import UsageError
from schemas.ledger.review import GuidelineReading, GuidelineVersion
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import guidelines

_MOST_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """A version, and by how many people it was read."""

    version: GuidelineVersion
    reader_count: int


def publish_guidelines(
    ledger: Ledger, changes: str, now: str, *, changes_zh: str = "", published_by: str | None = None
) -> int:
    """Let a new version hold; returns its number, or that of the last where it says the same.

    Without `changes_zh` everybody reads `changes`; a command has no `published_by`. Raises UsageError for no text, and for one that
    nobody would read.
    """
    texts = (changes.strip(), changes_zh.strip() or None)
    if not texts[0] or any(len(text or "") > _MOST_CHARACTERS for text in texts):
        raise UsageError(f"Say what changed in the guidelines in 1 to {_MOST_CHARACTERS:,} characters.")
    with ledger.write() as connection:
        there = guidelines.read_versions(connection)
        if there and (there[-1].changes, there[-1].changes_zh) == texts:
            return there[-1].version
        version = len(there) + 1
        guidelines.insert_version(
            connection,
            GuidelineVersion(
                version=version,
                changes=texts[0],
                changes_zh=texts[1],
                published_by=published_by,
                published_at=now,
            ),
        )
    return version


def list_guidelines(ledger: Ledger) -> list[ReadVersion]:
    """Every version, the newest first."""
    with ledger.read() as connection:
        readers = guidelines.count_readers(connection)
        versions = guidelines.read_versions(connection)
    return [ReadVersion(one, readers.get(one.version, 0)) for one in reversed(versions)]


def list_unread_guidelines(ledger: Ledger, annotator: str) -> Sequence[GuidelineVersion]:
    """The versions that somebody has not read yet, the first one first."""
    with ledger.read() as connection:
        versions = guidelines.read_versions(connection)
        newest = guidelines.read_newest_read(connection, annotator) if versions else None
    return [one for one in versions if one.version > (newest or 0)]


def mark_guidelines_read(ledger: Ledger, annotator: str, version: int, now: str) -> None:
    """Keep the first reading of the guidelines up to a version; UsageError for an unknown one."""
    with ledger.write() as connection:
        newest = guidelines.read_newest_read(connection, annotator) or 0
        versions = [one.version for one in guidelines.read_versions(connection)]
        if version not in versions:
            raise UsageError(f"There is no version {version} of the guidelines.")
        for one in versions:
            if newest < one <= version:
                guidelines.insert_reading(
                    connection, GuidelineReading(annotator=annotator, version=one, read_at=now)
                )
