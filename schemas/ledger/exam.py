"""The exam's tables: runs, their sets, and what was handed out and answered."""

from __future__ import annotations

from typing import Any

from schemas.ledger.row import Index, LedgerRow, column, moment


class EndedToken(LedgerRow, table="ended_tokens"):
    """A token that is worth nothing before its time, or all that a user had."""

    kind: str = column(5, "token: one; user: all that a user had.", key=True, allowed=("token", "user"))
    name: str = column(120, "Id of the token (`jti`), or the user.", key=True)
    issued_until: float = column(about="Unix time; a user's tokens that were issued until then are ended.")
    ended_at: str = moment()


class Run(
    LedgerRow,
    table="runs",
    indexes=(Index("uq_runs_month_repetition", ("month", "is_simulated", "repetition"), is_unique=True),),
):
    """An evaluation of a month, or a further one by its name."""

    run_id: str = column(80, key=True)
    month: str = column(7)
    season: str = column(80)
    bank_version: int = column()
    reference_model: str = column(120)
    bridged_reference: str | None = column(120, "The former reference that sits this run too.")
    repetition: str = column(
        80, "Name of a further run of the month; empty for the month's own.", stored_default=""
    )
    set_size: int = column()
    policy: str = column(8)
    budget_usd: float | None = column()
    status: str = column(12, default="open")
    is_simulated: bool = column()
    planned_at: str = moment()
    closed_at: str | None = moment()


class StoredRunPlan(LedgerRow, table="run_plans"):
    """What a run is planned as: on the ledger's own side, the exam API never sees it."""

    run_id: str = column(80, key=True)
    seed: str = column(80, "Secret until the run is closed.")
    plan: dict[str, Any] = column(about="Candidates, styles, repeats, disciplines, models as registered.")


class SetNumber(LedgerRow, table="set_numbers", unique={"uq_sets_season_number": ("season", "set_number")}):
    """A set of questions of a season, by its number there."""

    set_id: str = column(100, key=True)
    season: str = column(80)
    set_number: int = column()
    bank_version: int = column()
    is_simulated: bool = column()
    set_group: int = column(about="Group of organisations that may share it, from 1.", stored_default="1")
    created_at: str = moment()


class SetKey(LedgerRow, table="set_keys"):
    """The key that a set's draw follows from."""

    set_id: str = column(100, key=True)
    draw_key: str = column(
        80, "Secret that the set's draw follows from, until the run that drew it is closed."
    )


class RunSeal(LedgerRow, table="run_seals"):
    """What was committed to for a run before it began."""

    run_id: str = column(80, key=True)
    share: str = column(64, "The operator's share of the seed; secret until the run is closed.")
    plan: str = column(about="plan.json, which was committed to.")
    exclusions: str = column(about="exclusions.json, which was committed to.")
    parameters: dict[str, Any] | None = column(
        about="What it is planned from again when it is drawn; null where it was drawn at once."
    )


class SetProof(LedgerRow, table="set_proofs"):
    """What is published of a set, so that its draw can be checked."""

    set_id: str = column(100, key=True)
    drawn_in: str | None = column(80, "The run that drew it; null for a set older than the public log.")
    items: list[list[Any]] = column(about="Its items as they are published when a run that sat it is closed.")
    revisions: dict[str, int] = column(about="Question to its revision.")


class Set(LedgerRow, table="sets"):
    """A question of a set, as candidates are shown it."""

    set_id: str = column(refers_to="set_numbers.set_id", key=True)
    lineage_uuid: str = column(36, key=True)
    question_uuid: str = column(36)
    discipline: str = column(40)
    is_anchor: bool = column(stored_default=False)
    content: dict[str, Any] = column(about="Bare content: what a candidate may see, nothing else.")


class Exposure(LedgerRow, table="exposures"):
    """A lineage that an organisation's candidates were shown, and in which set first."""

    organisation: str = column(120, key=True)
    lineage_uuid: str = column(36, key=True)
    set_id: str = column(100)
    exposed_at: str = moment()


class SetClaim(LedgerRow, table="set_claims"):
    """A set that an organisation has met or is to meet."""

    organisation: str = column(120, key=True)
    set_id: str = column(refers_to="set_numbers.set_id", key=True)
    run_id: str = column(80)
    is_reference: bool = column(about="Met in sittings of the reference only.", stored_default=False)
    claimed_at: str = moment()


class Session(
    LedgerRow,
    table="sessions",
    indexes=(
        Index("ix_sessions_run", ("run_id",)),
        Index("ix_sessions_set", ("set_id",)),
        Index("ix_sessions_user", ("user_id",)),
        Index("ix_sessions_organisation", ("organisation",)),
    ),
    unique={"uq_sessions_sitting": ("run_id", "set_id", "model", "prompt_style", "repeat")},
):
    """One candidate's sitting in one prompt style and repeat."""

    session_id: str = column(80, key=True)
    run_id: str = column(refers_to="runs.run_id")
    set_id: str = column(refers_to="set_numbers.set_id")
    user_id: str = column(120, "The candidate user who may sit it.")
    model: str = column(120)
    organisation: str = column(120)
    prompt_style: str = column(20)
    repeat: int = column()
    is_reference: bool = column()
    is_simulated: bool = column()
    is_outside: bool = column(about="Sat by the candidate's own client.", stored_default=False)
    fingerprint: str | None = column(
        about="What its answers depend on besides the questions, as JSON of short hashes."
    )
    pending_window: int = column(default=1)
    question_count: int = column()
    next_seq: int = column(about="First position not handed out yet.", default=1)
    answered_count: int = column(about="Answered, or given up when time was over.", default=0)
    status: str = column(8, allowed=("planned", "open", "closed"), default="planned")
    lease_generation: int = column(default=0)
    lease_hash: str | None = column(64, "SHA-256 of the lease secret.")
    lease_expires_at: float | None = column(about="Unix time.")
    access_hash: str | None = column(64, "Head of the session's chain in access_log.")
    opened_at: str | None = moment()
    closed_at: str | None = moment()
    deadline_at: str | None = moment("Nothing is taken after it; null until it is set.")
    question_s: float | None = column(about="Seconds for each question handed out; null means no limit.")
    close_reason: str | None = column(200, "Why it was closed unfinished; null where it was not.")


class Allocation(LedgerRow, table="allocations"):
    """A question handed out, at its position in a session."""

    session_id: str = column(refers_to="sessions.session_id", key=True)
    seq: int = column(key=True)
    lineage_uuid: str = column(36)
    allocated_at: str = moment()
    delivered_at: str | None = moment()
    error: str | None = column(200, "Error class of the last call that failed for good; null for none.")


class Response(LedgerRow, table="responses"):
    """What a candidate gave for the question at a position."""

    session_id: str = column(80, key=True)
    seq: int = column(key=True)
    response: str = column()
    reasoning: str | None = column()
    answer_status: str = column(12)
    finish_reason: str | None = column(40)
    input_tokens: int | None = column()
    output_tokens: int | None = column()
    cost_usd: float | None = column()
    latency_ms: float | None = column()
    attempts: int | None = column()
    error: str | None = column(200)
    prompt_version: str = column(60)
    call_key: str | None = column(64)
    signature: str | None = column(88, "The candidate's, where it has enrolled a key.")
    answered_at: str = moment()


class RunArchive(LedgerRow, table="run_archives", indexes=(Index("ix_run_archives_run", ("run_id",)),)):
    """A part of a closed run whose rows have left the ledger for the lake."""

    unit: str = column(100, "Its landing in `archived_rows`: the run, and the number of the part.", key=True)
    run_id: str = column(80)
    session_ids: list[str] = column(about="Whose rows they are.")
    rows_hash: str = column(64, "Hash over the rows as they lie in the lake.")
    row_counts: dict[str, int] = column(about="Table to how many of its rows.")
    sums: dict[str, Any] = column(
        about="What is asked of the rows without reading them: answers, calls and their cost, pages."
    )
    archived_at: str = moment()
