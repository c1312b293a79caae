"""The tables of users, keys, approvals, editions, erasures: who may what, and proofs."""

from __future__ import annotations

from typing import Any

from schemas.ledger.row import Index, LedgerRow, column, moment
from schemas.vocabulary import ERASURE_CAUSES, ROLES


class StoredUser(LedgerRow, table="users"):
    """A user with all that is kept, the password's hash too."""

    user_id: str = column(120, key=True)
    role: str = column(20, allowed=ROLES)
    organisation: str | None = column(120)
    model: str | None = column(120, "Registry name, for candidates.")
    disciplines: list[str] | None = column(about="Disciplines an annotator reviews; null means all.")
    password_hash: str | None = column()
    public_key: str | None = column(44, "Ed25519 key that the candidate signs its answers with, in base64.")
    question_limit: int | None = column(
        about="Most questions a candidate may be handed; null means no limit."
    )
    is_active: bool = column(default=True)
    created_at: str = moment()


class Organisation(LedgerRow, table="organisations"):
    """An organisation that owns candidates, or another name of one."""

    organisation: str = column(
        120,
        "Its name in normal form (`sim:` before a simulated one). Locked in order before sets are claimed.",
        key=True,
    )
    name: str = column(120, "As it was first registered: what people read.", stored_default="")
    same_as: str | None = column(120, "The organisation that this is another name of; null for itself.")
    question_limit: int | None = column(about="Most questions it may be handed; null means no limit.")
    created_at: str = moment()


class WebSession(LedgerRow, table="web_sessions", indexes=(Index("ix_web_sessions_user", ("user_id",)),)):
    """Somebody who has logged in on the web."""

    session_hash: str = column(64, "SHA-256 of what the cookie names.", key=True)
    user_id: str = column(refers_to="users.user_id")
    started_at: str = moment()
    expires_at: str = moment()


class AccessHead(LedgerRow, table="access_heads"):
    """The last entry of a session's chain at the end of a day."""

    day: str = column(10, key=True)
    session_id: str = column(80, key=True)
    entry_hash: str = column(64)
    kept_at: str = moment()


class LogKey(LedgerRow, table="log_keys"):
    """A key that heads and receipts are signed with."""

    key_id: str = column(16, "First half of the SHA-256 of the public key.", key=True)
    public_key: str = column(44, "Ed25519, 32 bytes in base64.")
    place: str = column(240, "Host and home where it was made, as they were called then.")
    added_at: str = moment()


class SignedHead(LedgerRow, table="signed_heads"):
    """A head of the audit log, and its signature."""

    number: int = column(about="Number of the entry that was the last one.", key=True)
    entry_hash: str = column(64)
    key_id: str = column(refers_to="log_keys.key_id")
    signed_at: str = moment()
    signature: str = column(88, "Ed25519, in base64.")


class Approval(
    LedgerRow,
    table="approvals",
    indexes=(Index("ix_approvals_digest", ("digest",)),),
    unique={"uq_approvals_open_digest": ("open_digest",)},
):
    """A request for what needs a second person, and what came of it."""

    approval_id: int = column(key=True)
    what: str = column(20, "plan, release, retire or override.")
    target: str = column(120, "The run, session, question or edition.")
    digest: str = column(64, "SHA-256 of what exactly is asked.")
    parameters: dict[str, Any] = column(about="What exactly is asked.")
    asked_by: str = column(120, "A user, or the account of a host.")
    stood_by: str | None = column(120, "The user who answers for the request; null: nobody yet.")
    asked_at: str = moment()
    expires_at: str = moment("From then on it is worth nothing.")
    state: str = column(
        10, "asked, approved, refused or used.", allowed=("asked", "approved", "refused", "used")
    )
    decided_by: str | None = column(120, "The user who approved or refused.")
    decided_at: str | None = moment()
    used_at: str | None = moment("When it was done as asked.")
    open_digest: str | None = column(64, "The digest while it is open: what is asked twice is one request.")


class EditionRoot(LedgerRow, table="edition_roots"):
    """The hash of an edition as it was published."""

    edition_id: str = column(key=True)
    root_hash: str = column(about="SHA-256 over every frozen row; kept once, never changed.")
    kept_at: str = column()


class StageLeaves(LedgerRow, table="stage_leaves"):
    """What a closed unit of a stage was made of; its entry of the audit log has the hash of it."""

    stage: str = column(40, key=True)
    unit: str = column(200, key=True)
    leaves: str = column(about="A hash of each row's key and one of the row, in order of key, in base64.")


class Erasure(LedgerRow, table="erasures"):
    """One erasure of answers of a run."""

    erasure_id: str = column(120, "The run, and the number of its erasure.", key=True)
    run_id: str = column(80)
    cause: str = column(12, "policy or withdrawal", allowed=ERASURE_CAUSES)
    reason: str = column()
    erased_by: str = column(120, "A user, or the account of a host.")
    erased_at: str = moment()
    session_count: int = column()
    answer_count: int = column()
    digest: str = column(64, "SHA-256 over all of it; the audit log has it, too.")
    finished_at: str | None = moment("When no file held the texts any more; null: not yet.")


class ErasedAnswer(
    LedgerRow, table="erased_answers", indexes=(Index("ix_erased_answers_erasure", ("erasure_id",)),)
):
    """The hash of a text that was erased, and the digest of what is kept beside it."""

    session_id: str = column(80, key=True)
    seq: int = column(key=True)
    erasure_id: str = column(120)
    answer_hash: str = column(64, "SHA-256 of the text that was there.")
    kept_digest: str = column(64, "SHA-256 of what is kept beside the text.")
