"""The ledger's tables: what must be durable the moment it is acknowledged.

Made from the rows of `schemas/ledger/`, where columns are said; for SQLite and PostgreSQL alike. Changing one needs a migration in
`migrations/versions` (tests compare the two).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)

from schemas.ledger import engine, exam, money, review, trust
from schemas.ledger.row import LedgerRow, StoredColumn

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_TYPES = {"text": Text, "int": Integer, "bigint": BigInteger, "float": Float, "bool": Boolean, "json": JSON}


def make_table(row: type[LedgerRow]) -> Table:
    """The table of a kind of row, known to `metadata` from then on."""
    told = row.stored
    # As checks, closed lists are named for their column.
    checks = {
        column.name: f"{column.name} in ({','.join(map(repr, column.allowed))})"
        for column in told.columns
        if column.allowed
    }
    table = Table(
        told.name,
        metadata,
        *map(_make_column, told.columns),
        *(UniqueConstraint(*columns, name=name) for name, columns in told.unique.items()),
        *(CheckConstraint(check, name=name) for name, check in {**checks, **told.checks}.items()),
        info={"first_rows": list(told.first_rows)} if told.first_rows else {},
    )
    for index in told.indexes:
        some: dict[str, Any] = {}
        if index.where is not None:
            some = {"sqlite_where": text(index.where), "info": {"where": index.where}}
        Index(index.name, *(table.c[name] for name in index.columns), unique=index.is_unique, **some)
    return table


def read_metadata(dialect: str) -> MetaData:
    """The tables as the engine keeps them, conditions of indexes in its own dialect alone."""
    for table in metadata.tables.values() if dialect == "postgresql" else ():
        for index in table.indexes:
            if "where" in index.info:
                index.dialect_options["postgresql"]["where"] = text(index.info["where"])
    return metadata


def _make_column(told: StoredColumn) -> Column[Any]:
    options: dict[str, Any] = {"default": told.default} if told.has_default else {}
    if told.is_counted is not None:
        options["autoincrement"] = told.is_counted
    if isinstance(told.stored_default, bool):
        options["server_default"] = true() if told.stored_default else false()
    elif told.stored_default is not None:
        options["server_default"] = told.stored_default
    return Column(
        told.name,
        _make_type(told),
        primary_key=told.is_key,
        nullable=not told.required,
        comment=told.about or None,
        **options,
    )


def _make_type(told: StoredColumn) -> Any:
    if told.refers_to is not None:
        return ForeignKey(told.refers_to)
    return _TYPES[told.type]() if told.size is None else String(told.size)


access_log = make_table(engine.AccessEntry)
access_chain = make_table(engine.AccessChain)
public_log = make_table(engine.PublicLine)
public_head = make_table(engine.StoredPublicHead)
landing_marks = make_table(engine.LandingMark)
jobs = make_table(engine.Job)
flow_runs = make_table(engine.FlowRun)
flow_schedules = make_table(engine.FlowSchedule)
run_notices = make_table(engine.RunNotice)
commit_counts = make_table(engine.CommitCount)
backups = make_table(engine.Backup)
installation = make_table(engine.Installation)
exam_installation = make_table(engine.ExamInstallation)
shared_files = make_table(engine.NotedFile)
clock_marks = make_table(engine.ClockMark)

ended_tokens = make_table(exam.EndedToken)
runs = make_table(exam.Run)
run_plans = make_table(exam.StoredRunPlan)
set_numbers = make_table(exam.SetNumber)
set_keys = make_table(exam.SetKey)
run_seals = make_table(exam.RunSeal)
set_proofs = make_table(exam.SetProof)
sets = make_table(exam.Set)
exposures = make_table(exam.Exposure)
set_claims = make_table(exam.SetClaim)
sessions = make_table(exam.Session)
allocations = make_table(exam.Allocation)
responses = make_table(exam.Response)
run_archives = make_table(exam.RunArchive)

llm_calls = make_table(money.LlmCall)
call_batches = make_table(money.CallBatch)
batch_calls = make_table(money.BatchCall)
process_leases = make_table(money.StoredLease)
provider_paces = make_table(money.ProviderPace)
run_budgets = make_table(money.RunBudget)
budget_limits = make_table(money.BudgetLimit)
budget_shares = make_table(money.BudgetShare)

annotator_profiles = make_table(review.AnnotatorProfile)
review_batches = make_table(review.ReviewBatch)
review_questions = make_table(review.ReviewQuestion)
review_gold = make_table(review.ReviewGold)
review_assignments = make_table(review.ReviewAssignment)
reviews = make_table(review.Review)
review_messages = make_table(review.ReviewMessage)
guideline_versions = make_table(review.GuidelineVersion)
guideline_readings = make_table(review.GuidelineReading)
review_drafts = make_table(review.ReviewDraft)
desk_marks = make_table(review.DeskMark)

users = make_table(trust.StoredUser)
organisations = make_table(trust.Organisation)
web_sessions = make_table(trust.WebSession)
access_heads = make_table(trust.AccessHead)
log_keys = make_table(trust.LogKey)
signed_heads = make_table(trust.SignedHead)
approvals = make_table(trust.Approval)
edition_roots = make_table(trust.EditionRoot)
stage_leaves = make_table(trust.StageLeaves)
erasures = make_table(trust.Erasure)
erased_answers = make_table(trust.ErasedAnswer)

# Calls of the exam land with their sessions; only the others are looked for by their time.
NOT_EXAM = text(money.NOT_EXAM)
