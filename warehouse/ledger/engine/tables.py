"""The ledger's tables: what must be durable the moment it is acknowledged.

SQLAlchemy Core tables, for SQLite and PostgreSQL alike. Changing one needs a migration in `migrations/versions`
(tests compare the two). Times are UTC, stored as ISO text so that both engines keep microseconds and order.
"""

from __future__ import annotations

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

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

users = Table(
    "users",
    metadata,
    Column("user_id", String(120), primary_key=True),
    Column("role", String(20), nullable=False),
    Column("organisation", String(120)),
    Column("model", String(120), comment="Registry name, for candidates."),
    Column("disciplines", JSON, comment="Disciplines an annotator reviews; null means all."),
    Column("password_hash", Text),
    Column(
        "public_key", String(44), comment="Ed25519 key that the candidate signs its answers with, in base64."
    ),
    Column(
        "question_limit", Integer, comment="Most questions a candidate may be handed; null means no limit."
    ),
    Column("is_active", Boolean, nullable=False, default=True),
    Column("created_at", String(32), nullable=False),
    CheckConstraint("role in ('admin','examiner','candidate','annotator','analyst')", name="role"),
)

annotator_profiles = Table(
    "annotator_profiles",
    metadata,
    # No foreign keys to `users` on this side: embedded, it lies in the exam's file (sides.py).
    Column("user_id", String(120), primary_key=True),
    Column(
        "language",
        String(2),
        comment="Language of what is written to them; null: that of their questions.",
    ),
    Column("email", String(254), comment="Where reminders go; null means none by e-mail."),
    Column("daily_quota", Integer, comment="Questions per day of the window; null means the setting."),
    Column("due_days", Integer, comment="Days of their window; null means the setting."),
    Column("levels", JSON, comment="novice, regular or expert by discipline; `*` for all others."),
)

organisations = Table(
    "organisations",
    metadata,
    Column(
        "organisation",
        String(120),
        primary_key=True,
        comment="Its name in normal form (`sim:` before a simulated one). Locked in order before sets are claimed.",
    ),
    Column(
        "name",
        String(120),
        nullable=False,
        server_default="",
        comment="As it was first registered: what people read.",
    ),
    Column("same_as", String(120), comment="The organisation that this is another name of; null for itself."),
    Column("question_limit", Integer, comment="Most questions it may be handed; null means no limit."),
    Column("created_at", String(32), nullable=False),
)

# --- review -------------------------------------------------------------------------------------------------

review_batches = Table(
    "review_batches",
    metadata,
    Column("batch_id", String(80), primary_key=True),
    Column(
        "status", String(12), nullable=False, comment="open, complete (all decided), closed (gate applied)"
    ),
    Column("review_count", Integer, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("due_at", String(32), nullable=False),
    Column("closed_at", String(32)),
)

review_questions = Table(
    "review_questions",
    metadata,
    Column("batch_id", ForeignKey("review_batches.batch_id"), primary_key=True),
    Column("question_uuid", String(36), primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("lineage_uuid", String(36), nullable=False),
    Column("document_id", String(36), comment="Null for a variant written by a model."),
    Column("discipline", String(40)),
    Column("content", JSON, nullable=False, comment="The question as it is shown to annotators."),
    Index("ix_review_questions_question_uuid", "question_uuid"),
)

review_gold = Table(
    "review_gold",
    metadata,
    Column("batch_id", String(80), primary_key=True),
    Column("question_uuid", String(36), primary_key=True),
    Column("kind", String(10), nullable=False, comment="accepted, rejected or spoiled"),
    Column("expected", String(8), nullable=False, comment="The known decision: accept or reject."),
    Column("true_answer", JSON, comment="The answer before it was spoiled; null for the other kinds."),
    Column("source_uuid", String(36), nullable=False, comment="The settled question that it was made from."),
    Column("source_batch", String(80), nullable=False, comment="The batch that settled that question."),
)

review_assignments = Table(
    "review_assignments",
    metadata,
    Column("batch_id", String(80), primary_key=True),
    Column("question_uuid", String(36), primary_key=True),
    Column("annotator", String(120), primary_key=True),
    Column("role", String(12), nullable=False, default="reviewer"),
    Column("assigned_at", String(32), nullable=False),
    Column("due_at", String(32), nullable=False),
    Column(
        "place",
        Integer,
        nullable=False,
        server_default="0",
        comment="Place of the question in its batch, by paper and position.",
    ),
    Column(
        "has_answer",
        Boolean,
        nullable=False,
        server_default=true(),
        comment="Whether the question came with an answer.",
    ),
    Index("ix_review_assignments_queue", "annotator", "batch_id", "due_at", "place"),
)

reviews = Table(
    "reviews",
    metadata,
    Column("batch_id", String(80), primary_key=True),
    Column("question_uuid", String(36), primary_key=True),
    Column("annotator", String(120), primary_key=True),
    Column("decision", String(8), nullable=False),
    Column("reject_reason", String(20)),
    Column("comment", Text),
    Column("edited_fields", JSON),
    Column("channel", String(16), nullable=False),
    Column("decided_at", String(32), nullable=False),
    Index("ix_reviews_annotator", "annotator", "batch_id", "decided_at"),
    Index("ix_reviews_question_uuid", "question_uuid"),
)

review_drafts = Table(
    "review_drafts",
    metadata,
    Column("batch_id", String(80), primary_key=True),
    Column("question_uuid", String(36), primary_key=True),
    Column("annotator", String(120), primary_key=True),
    Column("draft", JSON, nullable=False, comment="What was begun and not given as a decision."),
    Column("saved_at", String(32), nullable=False),
)

desk_marks = Table(
    "desk_marks",
    metadata,
    Column("kind", String(20), primary_key=True, comment="rating, label or league."),
    Column("work", String(200), primary_key=True, comment="The round, the sample, or the league."),
    Column("person", String(120), primary_key=True),
    Column("item_key", String(32), primary_key=True, comment="What is marked; it tells nothing."),
    Column("mark", String(60), nullable=False),
    Column("note", Text),
    Column("given_at", String(32), nullable=False),
    Column("landed_at", String(32), comment="Null until the mark is in the lake."),
    Index("ix_desk_marks_landed", "landed_at"),
)

web_sessions = Table(
    "web_sessions",
    metadata,
    Column("session_hash", String(64), primary_key=True, comment="SHA-256 of what the cookie names."),
    Column("user_id", ForeignKey("users.user_id"), nullable=False),
    Column("started_at", String(32), nullable=False),
    Column("expires_at", String(32), nullable=False),
    Index("ix_web_sessions_user", "user_id"),
)

ended_tokens = Table(
    "ended_tokens",
    metadata,
    Column("kind", String(5), primary_key=True, comment="token: one; user: all that a user had."),
    Column("name", String(120), primary_key=True, comment="Id of the token (`jti`), or the user."),
    Column(
        "issued_until",
        Float,
        nullable=False,
        comment="Unix time; a user's tokens that were issued until then are ended.",
    ),
    Column("ended_at", String(32), nullable=False),
    CheckConstraint("kind in ('token','user')", name="kind"),
)

# --- exam ---------------------------------------------------------------------------------------------------

runs = Table(
    "runs",
    metadata,
    Column("run_id", String(80), primary_key=True),
    Column("month", String(7), nullable=False),
    Column("season", String(80), nullable=False),
    Column("bank_version", Integer, nullable=False),
    Column("reference_model", String(120), nullable=False),
    Column("bridged_reference", String(120), comment="The former reference that sits this run too."),
    Column(
        "repetition",
        String(80),
        nullable=False,
        server_default="",
        comment="Name of a further run of the month; empty for the month's own.",
    ),
    Column("set_size", Integer, nullable=False),
    Column("policy", String(8), nullable=False),
    Column("budget_usd", Float),
    Column("status", String(12), nullable=False, default="open"),
    Column("is_simulated", Boolean, nullable=False),
    Column("planned_at", String(32), nullable=False),
    Column("closed_at", String(32)),
    Index("uq_runs_month_repetition", "month", "is_simulated", "repetition", unique=True),
)

run_plans = Table(
    "run_plans",
    metadata,
    Column("run_id", String(80), primary_key=True),
    Column("seed", String(80), nullable=False, comment="Secret until the run is closed."),
    Column(
        "plan",
        JSON,
        nullable=False,
        comment="Candidates, styles, repeats, disciplines, models as registered.",
    ),
)

set_numbers = Table(
    "set_numbers",
    metadata,
    Column("set_id", String(100), primary_key=True),
    Column("season", String(80), nullable=False),
    Column("set_number", Integer, nullable=False),
    Column("bank_version", Integer, nullable=False),
    Column("is_simulated", Boolean, nullable=False),
    Column(
        "set_group",
        Integer,
        nullable=False,
        server_default="1",
        comment="Group of organisations that may share it, from 1.",
    ),
    Column("created_at", String(32), nullable=False),
    UniqueConstraint("season", "set_number", name="uq_sets_season_number"),
)

set_keys = Table(
    "set_keys",
    metadata,
    Column("set_id", String(100), primary_key=True),
    Column(
        "draw_key",
        String(80),
        nullable=False,
        comment="Secret that the set's draw follows from, until the run that drew it is closed.",
    ),
)

run_seals = Table(
    "run_seals",
    metadata,
    Column("run_id", String(80), primary_key=True),
    Column(
        "share",
        String(64),
        nullable=False,
        comment="The operator's share of the seed; secret until the run is closed.",
    ),
    Column("plan", Text, nullable=False, comment="plan.json, which was committed to."),
    Column("exclusions", Text, nullable=False, comment="exclusions.json, which was committed to."),
    Column(
        "parameters",
        JSON,
        comment="What it is planned from again when it is drawn; null where it was drawn at once.",
    ),
)

set_proofs = Table(
    "set_proofs",
    metadata,
    Column("set_id", String(100), primary_key=True),
    Column("drawn_in", String(80), comment="The run that drew it; null for a set older than the public log."),
    Column(
        "items",
        JSON,
        nullable=False,
        comment="Its items as they are published when a run that sat it is closed.",
    ),
    Column("revisions", JSON, nullable=False, comment="Question to its revision."),
)

sets = Table(
    "sets",
    metadata,
    Column("set_id", ForeignKey("set_numbers.set_id"), primary_key=True),
    Column("lineage_uuid", String(36), primary_key=True),
    Column("question_uuid", String(36), nullable=False),
    Column("discipline", String(40), nullable=False),
    Column("is_anchor", Boolean, nullable=False, server_default=false()),
    Column("content", JSON, nullable=False, comment="Bare content: what a candidate may see, nothing else."),
)

exposures = Table(
    "exposures",
    metadata,
    Column("organisation", String(120), primary_key=True),
    Column("lineage_uuid", String(36), primary_key=True),
    Column("set_id", String(100), nullable=False),
    Column("exposed_at", String(32), nullable=False),
)

set_claims = Table(
    "set_claims",
    metadata,
    Column("organisation", String(120), primary_key=True),
    Column("set_id", ForeignKey("set_numbers.set_id"), primary_key=True),
    Column("run_id", String(80), nullable=False),
    Column(
        "is_reference",
        Boolean,
        nullable=False,
        server_default=false(),
        comment="Met in sittings of the reference only.",
    ),
    Column("claimed_at", String(32), nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", String(80), primary_key=True),
    Column("run_id", ForeignKey("runs.run_id"), nullable=False),
    Column("set_id", ForeignKey("set_numbers.set_id"), nullable=False),
    Column("user_id", String(120), nullable=False, comment="The candidate user who may sit it."),
    Column("model", String(120), nullable=False),
    Column("organisation", String(120), nullable=False),
    Column("prompt_style", String(20), nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("is_reference", Boolean, nullable=False),
    Column("is_simulated", Boolean, nullable=False),
    Column(
        "is_outside",
        Boolean,
        nullable=False,
        server_default=false(),
        comment="Sat by the candidate's own client.",
    ),
    Column(
        "fingerprint",
        Text,
        comment="What its answers depend on besides the questions, as JSON of short hashes.",
    ),
    Column("pending_window", Integer, nullable=False, default=1),
    Column("question_count", Integer, nullable=False),
    Column("next_seq", Integer, nullable=False, default=1, comment="First position not handed out yet."),
    Column(
        "answered_count",
        Integer,
        nullable=False,
        default=0,
        comment="Answered, or given up when time was over.",
    ),
    Column("status", String(8), nullable=False, default="planned"),
    Column("lease_generation", Integer, nullable=False, default=0),
    Column("lease_hash", String(64), comment="SHA-256 of the lease secret."),
    Column("lease_expires_at", Float, comment="Unix time."),
    Column("access_hash", String(64), comment="Head of the session's chain in access_log."),
    Column("opened_at", String(32)),
    Column("closed_at", String(32)),
    Column("deadline_at", String(32), comment="Nothing is taken after it; null until it is set."),
    Column("question_s", Float, comment="Seconds for each question handed out; null means no limit."),
    Column("close_reason", String(200), comment="Why it was closed unfinished; null where it was not."),
    UniqueConstraint("run_id", "set_id", "model", "prompt_style", "repeat", name="uq_sessions_sitting"),
    CheckConstraint("status in ('planned','open','closed')", name="status"),
    Index("ix_sessions_run", "run_id"),
    Index("ix_sessions_set", "set_id"),
    Index("ix_sessions_user", "user_id"),
    Index("ix_sessions_organisation", "organisation"),
)

allocations = Table(
    "allocations",
    metadata,
    Column("session_id", ForeignKey("sessions.session_id"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("lineage_uuid", String(36), nullable=False),
    Column("allocated_at", String(32), nullable=False),
    Column("delivered_at", String(32)),
    Column("error", String(200), comment="Error class of the last call that failed for good; null for none."),
)

responses = Table(
    "responses",
    metadata,
    Column("session_id", String(80), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("response", Text, nullable=False),
    Column("reasoning", Text),
    Column("answer_status", String(12), nullable=False),
    Column("finish_reason", String(40)),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cost_usd", Float),
    Column("latency_ms", Float),
    Column("attempts", Integer),
    Column("error", String(200)),
    Column("prompt_version", String(60), nullable=False),
    Column("call_key", String(64)),
    Column("signature", String(88), comment="The candidate's, where it has enrolled a key."),
    Column("answered_at", String(32), nullable=False),
)

access_log = Table(
    "access_log",
    metadata,
    Column("access_id", Integer, primary_key=True, autoincrement=True),
    Column(
        "number", Integer, comment="Place in the one chain; null in the chains of sessions that were before."
    ),
    Column("user_id", String(120)),
    Column("session_id", String(80)),
    Column("action", String(40), nullable=False),
    Column("http_status", Integer, nullable=False),
    Column("code", String(40)),
    Column("target", String(240), comment="Whom or what it was done to."),
    Column("address", String(64), comment="Where the caller is; null for this machine."),
    Column("seq", Integer, comment="Position of the question."),
    Column("answer_hash", String(64), comment="SHA-256 of the answer's text."),
    Column("digest", String(64), comment="SHA-256 of what else the entry fixes."),
    Column("previous_hash", String(64)),
    Column("entry_hash", String(64), nullable=False),
    Column("accessed_at", String(32), nullable=False),
    Index("ix_access_log_session", "session_id", "access_id"),
    Index("uq_access_log_number", "number", unique=True),
    Index(
        "ix_access_log_target",
        "action",
        "target",
        sqlite_where=text("target is not null and seq is null"),
        postgresql_where=text("target is not null and seq is null"),
    ),
)

access_chain = Table(
    "access_chain",
    metadata,
    Column("chain", Integer, primary_key=True, comment="Always 1: there is one row."),
    Column("number", Integer, nullable=False, comment="Number of the last entry, 0 for none."),
    Column("entry_hash", String(64), nullable=False, comment="Hash of the last entry."),
    info={"first_rows": [{"chain": 1, "number": 0, "entry_hash": "0" * 64}]},
)

access_heads = Table(
    "access_heads",
    metadata,
    Column("day", String(10), primary_key=True),
    Column("session_id", String(80), primary_key=True),
    Column("entry_hash", String(64), nullable=False),
    Column("kept_at", String(32), nullable=False),
)

log_keys = Table(
    "log_keys",
    metadata,
    Column("key_id", String(16), primary_key=True, comment="First half of the SHA-256 of the public key."),
    Column("public_key", String(44), nullable=False, comment="Ed25519, 32 bytes in base64."),
    Column("place", String(240), nullable=False, comment="Host and home whose key it is."),
    Column("added_at", String(32), nullable=False),
)

signed_heads = Table(
    "signed_heads",
    metadata,
    Column("number", Integer, primary_key=True, comment="Number of the entry that was the last one."),
    Column("entry_hash", String(64), nullable=False),
    Column("key_id", ForeignKey("log_keys.key_id"), nullable=False),
    Column("signed_at", String(32), nullable=False),
    Column("signature", String(88), nullable=False, comment="Ed25519, in base64."),
)

# --- the public log -----------------------------------------------------------------------------------------

public_log = Table(
    "public_log",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False, comment="Line of the file, from 1."),
    Column("kind", String(40), nullable=False),
    Column("run_id", String(80), comment="The run that the entry is about; null for none."),
    Column("line", Text, nullable=False, comment="The line to the byte, without its newline."),
    Column("line_hash", String(64), nullable=False, comment="SHA-256 of the line."),
    Column("ends_at", BigInteger, nullable=False, comment="Bytes of the file up to the end of the line."),
    Index("ix_public_log_run", "run_id", "kind"),
    Index("ix_public_log_ends_at", "ends_at"),
)

public_head = Table(
    "public_head",
    metadata,
    Column("chain", Integer, primary_key=True, comment="Always 1: there is one row."),
    Column("number", Integer, nullable=False, comment="Number of the last line, 0 for none."),
    Column("line_hash", String(64), nullable=False, comment="Hash of the last line."),
    Column("ends_at", BigInteger, nullable=False, comment="Bytes of all lines with their newlines."),
    info={"first_rows": [{"chain": 1, "number": 0, "line_hash": "0" * 64, "ends_at": 0}]},
)

# --- what needs a second person ---------------------------------------------------------------------------------

approvals = Table(
    "approvals",
    metadata,
    Column("approval_id", Integer, primary_key=True),
    Column("what", String(20), nullable=False, comment="plan, release, retire or override."),
    Column("target", String(120), nullable=False, comment="The run, session, question or edition."),
    Column("digest", String(64), nullable=False, comment="SHA-256 of what exactly is asked."),
    Column("parameters", JSON, nullable=False, comment="What exactly is asked."),
    Column("asked_by", String(120), nullable=False, comment="A user, or the account of a host."),
    Column("stood_by", String(120), comment="The user who answers for the request; null: nobody yet."),
    Column("asked_at", String(32), nullable=False),
    Column("expires_at", String(32), nullable=False, comment="From then on it is worth nothing."),
    Column("state", String(10), nullable=False, comment="asked, approved, refused or used."),
    Column("decided_by", String(120), comment="The user who approved or refused."),
    Column("decided_at", String(32)),
    Column("used_at", String(32), comment="When it was done as asked."),
    Column(
        "open_digest",
        String(64),
        unique=True,
        comment="The digest while it is open: what is asked twice is one request.",
    ),
    CheckConstraint("state in ('asked','approved','refused','used')", name="state"),
    Index("ix_approvals_digest", "digest"),
)

# --- what was published ---------------------------------------------------------------------------------------

edition_roots = Table(
    "edition_roots",
    metadata,
    Column("edition_id", Text, primary_key=True),
    Column(
        "root_hash", Text, nullable=False, comment="SHA-256 over every frozen row; kept once, never changed."
    ),
    Column("kept_at", Text, nullable=False),
)

# --- what was erased ------------------------------------------------------------------------------------------

erasures = Table(
    "erasures",
    metadata,
    Column("erasure_id", String(120), primary_key=True, comment="The run, and the number of its erasure."),
    Column("run_id", String(80), nullable=False),
    Column("cause", String(12), nullable=False, comment="policy or withdrawal"),
    Column("reason", Text, nullable=False),
    Column("erased_by", String(120), nullable=False, comment="A user, or the account of a host."),
    Column("erased_at", String(32), nullable=False),
    Column("session_count", Integer, nullable=False),
    Column("answer_count", Integer, nullable=False),
    Column(
        "digest", String(64), nullable=False, comment="SHA-256 over all of it; the audit log has it, too."
    ),
    Column("finished_at", String(32), comment="When no file held the texts any more; null: not yet."),
    CheckConstraint("cause in ('policy','withdrawal')", name="cause"),
)

erased_answers = Table(
    "erased_answers",
    metadata,
    Column("session_id", String(80), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("erasure_id", String(120), nullable=False),
    Column("answer_hash", String(64), nullable=False, comment="SHA-256 of the text that was there."),
    Column("kept_digest", String(64), nullable=False, comment="SHA-256 of what is kept beside the text."),
    Index("ix_erased_answers_erasure", "erasure_id"),
)

# --- paid calls ---------------------------------------------------------------------------------------------

NOT_EXAM = text("purpose <> 'exam'")

llm_calls = Table(
    "llm_calls",
    metadata,
    Column("call_key", String(64), primary_key=True),
    Column("purpose", String(40), nullable=False),
    Column("run_id", String(80)),
    Column("unit", String(160), comment="Session, or session and judge, or batch: what it is landed with."),
    Column("endpoint", String(200), nullable=False),
    Column("model", String(120), nullable=False),
    Column("status", String(8), nullable=False, comment="started, done, failed"),
    Column("attempts", Integer, nullable=False, default=0),
    Column("reply", JSON, comment="What came back: text, reasoning, finish reason. Never the request."),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cost_usd", Float),
    Column("latency_ms", Float),
    Column("error", String(200)),
    Column("started_at", String(32), nullable=False),
    Column("finished_at", String(32)),
    Column("holder", String(40), comment="Who sent it last."),
    Column(
        "extra_usd",
        Float,
        nullable=False,
        server_default="0",
        comment="The most that attempts without a bill, and replies that came second, have cost.",
    ),
    CheckConstraint("status in ('started','done','failed')", name="status"),
    Index("ix_llm_calls_run", "run_id"),
    Index("ix_llm_calls_unit", "unit"),
    # Calls of the exam land with their sessions; only the others are looked for by their time.
    Index("ix_llm_calls_started_at", "started_at", sqlite_where=NOT_EXAM, postgresql_where=NOT_EXAM),
    Index("ix_llm_calls_finished_at", "finished_at", sqlite_where=NOT_EXAM, postgresql_where=NOT_EXAM),
)

landing_marks = Table(
    "landing_marks",
    metadata,
    Column("name", String(40), primary_key=True, comment="What is landed up to the mark."),
    Column("marked_at", String(32), nullable=False, comment="Everything older is in the lake."),
    Column(
        "unit_count",
        Integer,
        nullable=False,
        comment="Units the lake had then; a lake with fewer is another.",
    ),
)

work_claims = Table(
    "work_claims",
    metadata,
    Column(
        "kind",
        String(40),
        primary_key=True,
        comment="Kind of work: judge, drift, errors, contamination.",
    ),
    Column("name", String(300), primary_key=True, comment="Which: a run, a sample."),
    Column("holder", String(40), nullable=False, comment="Drawn anew for each claim."),
    Column("host", String(255), nullable=False),
    Column("process_id", Integer, nullable=False),
    Column("expires_at", String(32), nullable=False, comment="Renewed while the work goes on."),
)

call_batches = Table(
    "call_batches",
    metadata,
    Column("batch_id", String(40), primary_key=True, comment="Ours; the provider has it as metadata."),
    Column("run_id", String(80), nullable=False),
    Column("provider", String(200), nullable=False),
    Column("model", String(120), nullable=False),
    Column(
        "state",
        String(10),
        nullable=False,
        comment="gathering, creating (sent, not acknowledged), created, ended, dropped (never sent), lost (never found).",
    ),
    Column("file_hash", String(64), comment="SHA-256 of the requests as they were uploaded."),
    Column("file_id", String(200), comment="The provider's name of that file."),
    Column("provider_batch_id", String(200)),
    Column("provider_status", String(20), comment="What the provider said of it last."),
    Column("call_count", Integer, nullable=False),
    Column("done_count", Integer, nullable=False),
    Column("failed_count", Integer, nullable=False),
    Column("started_at", String(32), nullable=False),
    Column("changed_at", String(32), nullable=False, comment="When it came into its state."),
    CheckConstraint("state in ('gathering','creating','created','ended','dropped','lost')", name="state"),
    Index("ix_call_batches_state", "state"),
)

batch_calls = Table(
    "batch_calls",
    metadata,
    Column("batch_id", String(40), primary_key=True),
    Column("call_key", String(64), primary_key=True),
    Column("worst_usd", Float, nullable=False, comment="The most that it can cost, at the batch's price."),
    Column("status", String(8), nullable=False, comment="sent, done, failed"),
    Column("error", String(60), comment="`batch_…` where the whole batch failed, else its own."),
    CheckConstraint("status in ('sent','done','failed')", name="status"),
    Index("ix_batch_calls_call", "call_key"),
)

flow_runs = Table(
    "flow_runs",
    metadata,
    Column(
        "flow_run_id", String(36), primary_key=True, comment="Prefect's, or drawn where there is no server."
    ),
    Column("flow", String(40), nullable=False),
    Column("name", String(200), nullable=False, comment="What it is for: `monthly-2026-12`."),
    Column("deployment", String(80), comment="What started it; null for a command."),
    Column("started_by", String(10), nullable=False),
    Column("due_at", String(32), comment="When its schedule wanted it; null where no schedule did."),
    Column("state", String(10), nullable=False),
    Column("counts", JSON, comment="Ids and counts of what it came to."),
    Column("host", String(255), nullable=False),
    Column("process_id", Integer, nullable=False),
    Column("started_at", String(32), nullable=False),
    Column("ended_at", String(32)),
    Column(
        "alive_until", String(32), comment="Renewed by its process; null for runs of before that was noted."
    ),
    CheckConstraint("started_by in ('schedule','event','person','command')", name="started_by"),
    CheckConstraint("state in ('running','completed','failed','crashed','cancelled')", name="state"),
    Index("ix_flow_runs_started_at", "started_at"),
    Index("ix_flow_runs_deployment", "deployment", "started_at"),
)

flow_schedules = Table(
    "flow_schedules",
    metadata,
    Column("deployment", String(80), primary_key=True),
    Column("flow", String(40), nullable=False),
    Column("cron", String(80), nullable=False),
    Column("timezone", String(60), nullable=False),
    Column(
        "deployed_at",
        String(32),
        nullable=False,
        comment="Since when it has had this time; nothing was due before.",
    ),
)

run_notices = Table(
    "run_notices",
    metadata,
    Column(
        "flow_run_id",
        String(36),
        primary_key=True,
        comment="A run that ended badly, as the ledger or Prefect says.",
    ),
    Column("name", String(200), nullable=False, comment="What the run is for."),
    Column("ending", String(20), nullable=False, comment="Failed, Crashed, TimedOut."),
    Column("found_at", String(32), nullable=False),
    Column("told_at", String(32), comment="When everybody had been told; null before."),
    Column(
        "next_at", String(32), nullable=False, comment="Nobody else tells of it, and nobody again, before."
    ),
    Column("tries", Integer, nullable=False, comment="How often somebody set out to tell."),
    Column("told", JSON, nullable=False, comment="Names of those who have been told."),
    Index("ix_run_notices_told_at", "told_at"),
)

commit_counts = Table(
    "commit_counts",
    metadata,
    Column("connection", String(36), primary_key=True, comment="Drawn for each connection to a server."),
    Column("commit_count", Integer, nullable=False, comment="Its last transaction that was kept."),
    Column("counted_at", String(32), nullable=False),
)

backups = Table(
    "backups",
    metadata,
    Column("backup_id", String(36), primary_key=True),
    Column(
        "folder",
        Text,
        nullable=False,
        comment="Where it was written; it may have been moved or deleted since.",
    ),
    Column("host", String(255), nullable=False),
    Column(
        "begun_at",
        String(32),
        nullable=False,
        comment="It holds nothing that was written later than it ended.",
    ),
    Index("ix_backups_begun_at", "begun_at"),
)

process_leases = Table(
    "process_leases",
    metadata,
    Column("holder", String(40), primary_key=True, comment="Drawn for each client of models."),
    Column("host", String(255), nullable=False),
    Column("process_id", Integer, nullable=False),
    Column("expires_at", String(32), nullable=False, comment="Renewed while the process works."),
)

provider_paces = Table(
    "provider_paces",
    metadata,
    Column("name", String(300), primary_key=True, comment="A provider, or a model with limits of its own."),
    Column("next_at", Float, nullable=False, comment="Unix time of the first moment that is free."),
    Column("paused_until", Float, nullable=False, comment="Unix time; nobody sends before it."),
)

run_budgets = Table(
    "run_budgets",
    metadata,
    Column("run_id", String(200), primary_key=True, comment="The run, or what stands for one."),
    Column("spent_usd", Float, nullable=False, comment="Unknown bills at the most they could be."),
)

budget_limits = Table(
    "budget_limits",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String(200), nullable=False, index=True),
    Column(
        "limit_usd",
        Float,
        nullable=False,
        comment="The last of a run counts, in place of the one it was planned with.",
    ),
    Column("reason", Text, nullable=False),
    Column("set_by", String(120), nullable=False, comment="The account on the host that set it."),
    Column("set_at", String(32), nullable=False),
)

budget_shares = Table(
    "budget_shares",
    metadata,
    Column("run_id", String(200), primary_key=True),
    Column("holder", String(40), primary_key=True, comment="Drawn for each process."),
    Column("host", String(255), nullable=False),
    Column("process_id", Integer, nullable=False),
    Column("reserved_usd", Float, nullable=False, comment="The most that its calls in flight could cost."),
    Column("expires_at", String(32), nullable=False, comment="Renewed by every call."),
)


def _make_installation(name: str) -> Table:
    return Table(
        name,
        metadata,
        Column(
            "number", Integer, primary_key=True, autoincrement=False, comment="Always 1: there is one row."
        ),
        Column(
            "installation_id",
            String(36),
            nullable=False,
            comment="The same in the home's secrets and in the lake's catalog.",
        ),
        Column("given_at", String(32), nullable=False),
        Column(
            "commit_count",
            Integer,
            nullable=False,
            comment="Commits of an embedded ledger since then; a file that knows fewer than its mark has lost some.",
        ),
        CheckConstraint("number = 1", name="number"),
    )


# One of each side: embedded, each of the two files says whose it is and counts its own commits.
installation = _make_installation("installation")
exam_installation = _make_installation("exam_installation")

# On the exam's side: the exam API, too, must have the keys of its installation.
shared_files = Table(
    "shared_files",
    metadata,
    Column("name", String(40), primary_key=True, comment="`exam-keys.json`, `models.yaml`, `archive` …"),
    Column(
        "fingerprint",
        String(64),
        nullable=False,
        comment="Digest keyed with the content itself: nobody comes from it to a key.",
    ),
    Column("host", String(255), nullable=False, comment="Where it was noted or accepted last."),
    Column("noted_at", String(32), nullable=False),
)

# On the exam's side: the exam API decides on deadlines, too.
clock_marks = Table(
    "clock_marks",
    metadata,
    Column(
        "boot_id",
        String(80),
        primary_key=True,
        comment="Start of a host that a process of this installation ran on; empty where the host names none.",
    ),
    Column("moment", Float, nullable=False, comment="The clock when it was last looked at, Unix time."),
    Column("uptime_s", Float, nullable=False, comment="Seconds since that start, at that moment."),
    Column(
        "leap_s",
        Float,
        nullable=False,
        comment="Seconds before that start that nothing but the clock shows; 0 once a person has confirmed them.",
    ),
    Column("found_at", Float, nullable=False, comment="The clock when they were found, Unix time."),
)
