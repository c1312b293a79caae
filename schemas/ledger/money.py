"""The tables of paid calls: each call, batches, paces and budgets."""

from __future__ import annotations

from typing import Any, Final

from schemas.ledger.row import Index, LedgerRow, column, moment, number_key

# Calls of the exam land with their sessions; only the others are looked for by their time.
NOT_EXAM: Final = "purpose <> 'exam'"


class LlmCall(
    LedgerRow,
    table="llm_calls",
    indexes=(
        Index("ix_llm_calls_run", ("run_id",)),
        Index("ix_llm_calls_unit", ("unit",)),
        Index("ix_llm_calls_started_at", ("started_at",), where=NOT_EXAM),
        Index("ix_llm_calls_finished_at", ("finished_at",), where=NOT_EXAM),
    ),
):
    """A paid call: `started` before it is sent, then `done` with its reply, or `failed`."""

    call_key: str = column(64, key=True)
    purpose: str = column(40)
    run_id: str | None = column(80)
    unit: str | None = column(160, "Session, or session and judge, or batch: what it is landed with.")
    endpoint: str = column(200)
    model: str = column(120)
    status: str = column(8, "started, done, failed", allowed=("started", "done", "failed"))
    attempts: int = column(default=0)
    reply: dict[str, Any] | None = column(
        about="What came back: text, reasoning, finish reason. Never the request."
    )
    input_tokens: int | None = column()
    output_tokens: int | None = column()
    cost_usd: float | None = column()
    latency_ms: float | None = column()
    error: str | None = column(200)
    started_at: str = moment()
    finished_at: str | None = moment()
    holder: str | None = column(40, "Who sent it last.")
    extra_usd: float = column(
        about="The most that attempts without a bill, and replies that came second, have cost.",
        stored_default="0",
    )


class CallBatch(LedgerRow, table="call_batches", indexes=(Index("ix_call_batches_state", ("state",)),)):
    """A batch of calls at a provider; the last three of its states are final."""

    batch_id: str = column(40, "Ours; the provider has it as metadata.", key=True)
    run_id: str = column(80)
    provider: str = column(200)
    model: str = column(120)
    state: str = column(
        10,
        "gathering, creating (sent, not acknowledged), created, ended, dropped (never sent), lost (never found).",
        allowed=("gathering", "creating", "created", "ended", "dropped", "lost"),
    )
    file_hash: str | None = column(64, "SHA-256 of the requests as they were uploaded.")
    file_id: str | None = column(200, "The provider's name of that file.")
    provider_batch_id: str | None = column(200)
    provider_status: str | None = column(20, "What the provider said of it last.")
    call_count: int = column()
    done_count: int = column()
    failed_count: int = column()
    started_at: str = moment()
    changed_at: str = moment("When it came into its state.")


class BatchCall(LedgerRow, table="batch_calls", indexes=(Index("ix_batch_calls_call", ("call_key",)),)):
    """A call in a batch."""

    batch_id: str = column(40, key=True)
    call_key: str = column(64, key=True)
    worst_usd: float = column(about="The most that it can cost, at the batch's price.")
    status: str = column(8, "sent, done, failed", allowed=("sent", "done", "failed"))
    error: str | None = column(60, "`batch_…` where the whole batch failed, else its own.")


class StoredLease(LedgerRow, table="process_leases"):
    """Whose calls and jobs are under way, and until when unless it renews."""

    holder: str = column(40, "Drawn for each client of models.", key=True)
    host: str = column(255)
    process_id: int = column()
    expires_at: str = moment("Renewed while the process works.")


class ProviderPace(LedgerRow, table="provider_paces"):
    """How fast a provider is called, over all processes."""

    name: str = column(300, "A provider, or a model with limits of its own.", key=True)
    next_at: float = column(about="Unix time of the first moment that is free.")
    paused_until: float = column(about="Unix time; nobody sends before it.")


class RunBudget(LedgerRow, table="run_budgets"):
    """What a run has spent."""

    run_id: str = column(200, "The run, or what stands for one.", key=True)
    spent_usd: float = column(about="Unknown bills at the most they could be.")


class BudgetLimit(LedgerRow, table="budget_limits", indexes=(Index("ix_budget_limits_run_id", ("run_id",)),)):
    """What a run may spend from a moment on, and why."""

    number: int = number_key(is_counted=True)
    run_id: str = column(200)
    limit_usd: float = column(about="The last of a run counts, in place of the one it was planned with.")
    reason: str = column()
    set_by: str = column(120, "The account on the host that set it.")
    set_at: str = moment()


class BudgetShare(LedgerRow, table="budget_shares"):
    """What a process has set aside of a run's budget."""

    run_id: str = column(200, key=True)
    holder: str = column(40, "Drawn for each process.", key=True)
    host: str = column(255)
    process_id: int = column()
    reserved_usd: float = column(about="The most that its calls in flight could cost.")
    expires_at: str = moment("Renewed by every call.")
