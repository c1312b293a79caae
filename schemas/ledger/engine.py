"""The engine's tables: the two logs, leases, flow runs, backups, and whose ledger it is."""

from __future__ import annotations

from typing import Any, Final

from schemas.ledger.row import Index, LedgerRow, column, long_number, moment, number_key

# What the first entry of a chain follows.
NO_HASH: Final = "0" * 64


class AccessEntry(
    LedgerRow,
    table="access_log",
    indexes=(
        Index("ix_access_log_session", ("session_id", "access_id")),
        Index("uq_access_log_number", ("number",), is_unique=True),
        Index("ix_access_log_target", ("action", "target"), where="target is not null and seq is null"),
    ),
):
    """An entry of the audit log: who tried what, and what came of it."""

    access_id: int = number_key(is_counted=True)
    number: int | None = column(
        about="Place in the one chain; null in the chains of sessions that were before."
    )
    user_id: str | None = column(120)
    session_id: str | None = column(80)
    action: str = column(40)
    http_status: int = column()
    code: str | None = column(40)
    target: str | None = column(240, "Whom or what it was done to.")
    address: str | None = column(64, "Where the caller is; null for this machine.")
    seq: int | None = column(about="Position of the question.")
    answer_hash: str | None = column(64, "SHA-256 of the answer's text.")
    digest: str | None = column(64, "SHA-256 of what else the entry fixes.")
    previous_hash: str | None = column(64)
    entry_hash: str = column(64)
    accessed_at: str = moment()


class AccessChain(
    LedgerRow, table="access_chain", first_rows=({"chain": 1, "number": 0, "entry_hash": NO_HASH},)
):
    """The last entry of the audit log's chain."""

    chain: int = column(about="Always 1: there is one row.", key=True)
    number: int = column(about="Number of the last entry, 0 for none.")
    entry_hash: str = column(64, "Hash of the last entry.")


class PublicLine(
    LedgerRow,
    table="public_log",
    indexes=(Index("ix_public_log_run", ("run_id", "kind")), Index("ix_public_log_ends_at", ("ends_at",))),
):
    """A line of the public log."""

    number: int = number_key("Line of the file, from 1.", is_counted=False)
    kind: str = column(40)
    run_id: str | None = column(80, "The run that the entry is about; null for none.")
    line: str = column(about="The line to the byte, without its newline.")
    line_hash: str = column(64, "SHA-256 of the line.")
    ends_at: int = long_number("Bytes of the file up to the end of the line.")


class StoredPublicHead(
    LedgerRow,
    table="public_head",
    first_rows=({"chain": 1, "number": 0, "line_hash": NO_HASH, "ends_at": 0},),
):
    """The last line of the public log."""

    chain: int = column(about="Always 1: there is one row.", key=True)
    number: int = column(about="Number of the last line, 0 for none.")
    line_hash: str = column(64, "Hash of the last line.")
    ends_at: int = long_number("Bytes of all lines with their newlines.")


class LandingMark(LedgerRow, table="landing_marks"):
    """Up to when something was landed, and how much the lake held then."""

    name: str = column(40, "What is landed up to the mark.", key=True)
    marked_at: str = moment("Everything older is in the lake.")
    unit_count: int = column(about="Units the lake had then; a lake with fewer is another.")


class Job(
    LedgerRow, table="jobs", indexes=(Index("ix_jobs_run", ("kind", "run_id", "lane", "tries", "place")),)
):
    """A piece of work that one process at a time does.

    It waits, or is held as long as the lease of its holder lasts (`process_leases`).
    """

    kind: str = column(40, "Kind of work: sit, judge, document, drift, errors, contamination.", key=True)
    name: str = column(300, "Which: a session, a judge's part of one, a run, a sample.", key=True)
    run_id: str | None = column(
        80, "The run that any worker may help with; null for work of one process.", default=None
    )
    lane: str = column(
        200, "Whom it asks: a provider, a judge. It is taken where there is room for it.", default=""
    )
    place: int = column(about="The lowest is taken first.", default=0)
    tries: int = column(about="Tries that failed.", default=0)
    problem: str | None = column(about="Why the last try failed; null before one has.", default=None)
    details: dict[str, Any] | None = column(
        about="What it is begun with by another process; null for nothing.", default=None
    )
    deferred_by: str = column(120, "The worker whose run put it here; empty for a command.", default="")
    holder: str | None = column(40, "Drawn by who holds it; null while it waits.", default=None)


class FlowRun(
    LedgerRow,
    table="flow_runs",
    indexes=(
        Index("ix_flow_runs_started_at", ("started_at",)),
        Index("ix_flow_runs_deployment", ("deployment", "started_at")),
    ),
):
    """A run of a flow: what started it, and how it ended."""

    flow_run_id: str = column(36, "Prefect's, or drawn where there is no server.", key=True)
    flow: str = column(40)
    name: str = column(200, "What it is for: `monthly-2026-12`.")
    deployment: str | None = column(80, "What started it; null for a command.")
    started_by: str = column(10, allowed=("schedule", "event", "person", "command"))
    due_at: str | None = moment("When its schedule wanted it; null where no schedule did.")
    state: str = column(10, allowed=("running", "completed", "failed", "crashed", "cancelled"))
    counts: dict[str, str] | None = column(about="Ids and counts of what it came to.")
    host: str = column(255)
    process_id: int = column()
    started_at: str = moment()
    ended_at: str | None = moment()
    alive_until: str | None = moment("Renewed by its process; null for runs of before that was noted.")


class FlowSchedule(LedgerRow, table="flow_schedules"):
    """A time at which a deployment is to run."""

    deployment: str = column(80, key=True)
    flow: str = column(40)
    cron: str = column(80)
    timezone: str = column(60)
    deployed_at: str = moment("Since when it has had this time; nothing was due before.")


class RunNotice(LedgerRow, table="run_notices", indexes=(Index("ix_run_notices_told_at", ("told_at",)),)):
    """A bad end of a run that is to be told."""

    flow_run_id: str = column(36, "A run that ended badly, as the ledger or Prefect says.", key=True)
    name: str = column(200, "What the run is for.")
    ending: str = column(20, "Failed, Crashed, TimedOut.")
    found_at: str = moment()
    told_at: str | None = moment("When everybody had been told; null before.")
    next_at: str = moment("Nobody else tells of it, and nobody again, before.")
    tries: int = column(about="How often somebody set out to tell.")
    told: list[str] = column(about="Names of those who have been told.")


class CommitCount(LedgerRow, table="commit_counts"):
    """How many transactions a connection to a server has had kept."""

    connection: str = column(36, "Drawn for each connection to a server.", key=True)
    commit_count: int = column(about="Its last transaction that was kept.")
    counted_at: str = moment()


class Backup(LedgerRow, table="backups", indexes=(Index("ix_backups_begun_at", ("begun_at",)),)):
    """A backup that was begun; whether it was finished stands in its own `backup.json`."""

    backup_id: str = column(36, key=True)
    folder: str = column(about="Where it was written; it may have been moved or deleted since.")
    host: str = column(255)
    begun_at: str = moment("It holds nothing that was written later than it ended.")


class Installation(LedgerRow, table="installation", checks={"number": "number = 1"}):
    """The installation that a ledger's file belongs to, and how many commits it has counted."""

    number: int = number_key("Always 1: there is one row.", is_counted=False)
    installation_id: str = column(36, "The same in the home's secrets and in the lake's catalog.")
    given_at: str = moment()
    commit_count: int = column(
        about="Commits of an embedded ledger since then; a file that knows fewer than its mark has lost some."
    )


class ExamInstallation(Installation, table="exam_installation", checks={"number": "number = 1"}):
    """The same in the exam's file: embedded, each of the two counts its own commits."""


# On the exam's side: the exam API, too, must have the keys of its installation.
class NotedFile(LedgerRow, table="shared_files"):
    """A file that all hosts share, as it was noted: its fingerprint, never its content."""

    name: str = column(40, "`exam-keys.json`, `models.yaml`, `archive` …", key=True)
    fingerprint: str = column(64, "Digest keyed with the content itself; no key can be computed from it.")
    host: str = column(255, "Where it was noted or accepted last.")
    noted_at: str = moment()


# On the exam's side: the exam API decides on deadlines, too.
class ClockMark(LedgerRow, table="clock_marks"):
    """The clock and the uptime of a host when they were last looked at."""

    boot_id: str = column(
        80,
        "Start of a host that a process of this installation ran on; empty where the host names none.",
        key=True,
    )
    moment: float = column(about="The clock when it was last looked at, Unix time.")
    uptime_s: float = column(about="Seconds since that start, at that moment.")
    leap_s: float = column(
        about="Seconds before that start that nothing but the clock shows; 0 once a person has confirmed them."
    )
    found_at: float = column(about="The clock when they were found, Unix time.")
