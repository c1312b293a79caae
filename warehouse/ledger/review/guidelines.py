"""Versions of the annotators' guidelines, and who has read which."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from schemas.ledger.review import GuidelineReading, GuidelineVersion
from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.rows import insert_rows, read_rows
from warehouse.ledger.engine.tables import guideline_readings, guideline_versions


def insert_version(connection: Connection, version: GuidelineVersion) -> None:
    """Write a version."""
    insert_rows(connection, [version])


def read_versions(connection: Connection) -> list[GuidelineVersion]:
    """Every version, the first one first."""
    return read_rows(
        connection, GuidelineVersion, select(guideline_versions).order_by(guideline_versions.c.version)
    )


def read_newest_read(connection: Connection, annotator: str) -> int | None:
    """The newest version that somebody has read; null for none."""
    query = select(func.max(guideline_readings.c.version)).where(guideline_readings.c.annotator == annotator)
    return connection.execute(query).scalar()


def insert_reading(connection: Connection, reading: GuidelineReading) -> None:
    """Write that a version was read; the first time counts."""
    values = insert_into(connection.dialect.name, guideline_readings).values(reading.as_values())
    connection.execute(values.on_conflict_do_nothing())


def count_readers(connection: Connection) -> dict[int, int]:
    """How many people have read each version."""
    query = select(guideline_readings.c.version, func.count()).group_by(guideline_readings.c.version)
    return {row[0]: row[1] for row in connection.execute(query)}
