"""The two sides of the ledger.

One is what the exam API's process may open, the other what it must never reach.

The exam's side is a database of its own. Embedded, it is a second SQLite file beside the ledger, which owners attach to the
ledger's connection, so that a statement names a table without saying where it lies; the exam API opens that file alone. On a
PostgreSQL server both sides are one database, and the exam API has a role that is granted these tables only.

SQLite commits a transaction over both files in each file by itself: the ledger first, then the exam's file. After a kill
between the two the ledger holds what the exam's side knows nothing of, never the other way round. So every transaction over
both is made such that what the ledger would then hold is replaced by doing the same again (`plans.write_run_plan`,
`plans.write_set_keys`, profiles of annotators), and nothing of it counts before the exam's side names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from schemas import patterns as re
from schemas.errors import UsageError
from schemas.settings import Settings

if TYPE_CHECKING:
    from sqlalchemy import URL

# The name under which owners attach the exam's file.
EXAM_SCHEMA: Final = "exam"

# As SQLAlchemy reads the address of a file: driver, three slashes, path, options.
_FILE_ADDRESS: Final = re.compile(r"sqlite(?:\+\w+)?:///(?P<path>[^?]*)(?:\?.*)?", re.DOTALL)

# Tables of the exam's side, and what the exam API's role may do with each on a server. To lock a row takes UPDATE.
EXAM_TABLES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "users": ("SELECT", "INSERT", "UPDATE"),
        "organisations": ("SELECT", "UPDATE (organisation)"),
        "web_sessions": ("SELECT", "DELETE"),
        "ended_tokens": ("SELECT", "INSERT", "DELETE"),
        "runs": ("SELECT",),
        "set_numbers": (),
        "sets": ("SELECT (set_id, lineage_uuid, content)",),
        "exposures": (),
        "set_claims": (),
        "sessions": ("SELECT", "UPDATE"),
        "allocations": ("SELECT", "UPDATE (delivered_at, error)"),
        "responses": ("SELECT (session_id, seq, answer_status, answered_at)", "INSERT"),
        # Neither an answer's hash, from which a short answer is guessed, nor the chain's, into which that has gone.
        "access_log": (
            "SELECT (access_id, number, user_id, session_id, action, http_status, target, seq, accessed_at)",
            "INSERT",
        ),
        "access_chain": ("SELECT", "UPDATE"),
        "access_heads": (),
        "log_keys": ("SELECT", "INSERT"),
        "signed_heads": ("SELECT (number)", "INSERT"),
        "public_log": ("SELECT", "INSERT"),
        "public_head": ("SELECT", "UPDATE"),
        "approvals": ("SELECT", "INSERT", "UPDATE"),
        "erasures": (),
        "erased_answers": (),
        "exam_installation": ("SELECT (installation_id)",),
        "shared_files": ("SELECT",),
        "clock_marks": ("SELECT", "INSERT", "UPDATE", "DELETE"),
    }
)

# On a server, the hashes of the answers of sessions that are not closed: their root is noted as they close.
OPEN_ANSWERS: Final = "open_answer_hashes"


def name_exam_file(ledger: Path) -> Path:
    """Where an embedded ledger's exam's file lies: `ledger.exam.sqlite` beside `ledger.sqlite`."""
    return ledger.with_name(f"{ledger.stem}.exam{ledger.suffix}")


def is_exam_file(path: Path) -> bool:
    """Whether a file is the exam's one of an embedded ledger, by its name."""
    return path.stem.endswith(".exam")


def find_exam_address(settings: Settings) -> str:
    """The URL of the exam's side: as set, or the file beside; UsageError for a server without."""
    if settings.exam_database_url is not None:
        return settings.exam_database_url.get_secret_value()
    file = find_ledger_file(settings.ledger_address)
    if file is None:
        raise UsageError(
            "The ledger is on a server: the exam API needs a role of its own there. `proctor exam database --role NAME`, run by "
            "the ledger's owner, makes one and prints the PROCTOR_EXAM_DATABASE_URL to set."
        )
    return f"sqlite:///{name_exam_file(file)}"


def show_address(url: str) -> str:
    """A URL without its password, wherever in it that stands; a file by its path."""
    from sqlalchemy import make_url

    file = find_ledger_file(url)
    if file is not None:
        return str(file)
    return make_url(url).difference_update_query(("password", "sslpassword")).render_as_string()


def find_ledger_file(url: str | URL) -> Path | None:
    """The file of an embedded ledger; null for one on a server or in memory."""
    # Every command asks for it, and importing SQLAlchemy takes longer than most of them run.
    if isinstance(url, str) and (found := _FILE_ADDRESS.fullmatch(url)):
        return Path(found["path"]) if found["path"] else None
    from sqlalchemy import make_url

    address = make_url(url)
    if address.get_backend_name() != "sqlite" or not address.database:
        return None
    return Path(address.database)


def on_side(side: Literal["ledger", "exam"]) -> bool:
    """Whether the migration that runs now brings that side's tables to its form."""
    from alembic import op

    return op.get_context().opts["side"] in (side, "both")
