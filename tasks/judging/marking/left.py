"""Marks that a server died on before it landed them.

How marks land is imported where some wait: every flow comes by here, and most find nothing.
"""

from __future__ import annotations

from schemas.errors import UsageError
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import desk_marks


def land_marks(ledger: Ledger, lake: Lake) -> dict[str, int]:
    """Land every mark on the web that a server died on before it landed; rows by kind."""
    with ledger.read() as connection:
        waiting = desk_marks.list_unlanded(connection)
    if not waiting:
        return {}
    from tasks.judging.marking.desk import land_given

    landed: dict[str, int] = {}
    for kind, name, person in waiting:
        try:
            count = land_given(ledger, lake, kind, name, person)
        except UsageError:
            continue  # the round or the sample is not in this lake any more: the marks stay where they are
        landed[f"marks ({kind})"] = landed.get(f"marks ({kind})", 0) + count
    return landed
