"""Answers beside what was asked, as tests look at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from warehouse.ledger.exam import closed


def read_response_rows(connection: Connection, session_ids: Sequence[str]) -> list[dict[str, Any]]:
    """One row per allocation of these sessions: answer, question, discipline, content, erasure."""
    names, rows = closed.read_sat_rows(connection, session_ids)
    read = [dict(zip(names, row, strict=True)) for row in rows]
    asked = {
        (set_id, lineage): {"question_uuid": uuid, "discipline": discipline, "content": content}
        for set_id, lineage, uuid, discipline, content in closed.read_asked_rows(
            connection, sorted({row["set_id"] for row in read}), with_contents=True
        )
    }
    return [row | asked[place] for row in read if (place := (row["set_id"], row["lineage_uuid"])) in asked]
