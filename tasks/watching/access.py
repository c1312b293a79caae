"""Who may look at runs, and who at reference answers.

Each look at content leaves an entry in the audit log.
"""

from __future__ import annotations

from typing import Final, Literal

from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry

# Who sees runs, questions, answers and stars. Candidates and annotators see none of it.
WATCHERS: Final = ("admin", "examiner", "analyst")
# Who also sees reference answers, explanations, and the reasons of judges, which quote them; as for exports.
REFERENCE_READERS: Final = ("admin", "examiner")
ACTION: Final = "look"
_LONGEST_TARGET: Final = 240

Look = Literal["answers", "search", "answer", "answer_with_reference"]


def may_read_references(role: str) -> bool:
    """Whether somebody of that role sees reference answers."""
    return role in REFERENCE_READERS


def note_look(
    ledger: Ledger,
    user_id: str,
    look: Look,
    target: str,
    *,
    seq: int | None = None,
    address: str | None = None,
) -> None:
    """Write that somebody looks at questions or answers, before they are shown.

    The entry states who, at what kind, at which id; never a text.

    `target` is a session, or `RUN CANDIDATE` for a list; `seq` the position of a single question.
    """
    entry = Entry(
        ACTION, user_id=user_id, code=look, target=target[:_LONGEST_TARGET], seq=seq, address=address
    )
    with ledger.write() as connection:
        add_entry(connection, entry)
