"""The first form: all tables of both sides, as they were when the ledger was first released."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.engine.sides import on_side

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    if on_side("exam"):
        _create_exam_tables()
    if on_side("ledger"):
        _create_ledger_tables()


def downgrade() -> None:
    raise NotImplementedError("there is no form before the first")


def _create_exam_tables() -> None:
    op.create_table(
        "access_chain",
        sa.Column("chain", sa.Integer(), autoincrement=True, nullable=False, comment="Always 1: there is one row."),
        sa.Column("number", sa.Integer(), nullable=False, comment="Number of the last entry, 0 for none."),
        sa.Column("entry_hash", sa.String(64), nullable=False, comment="Hash of the last entry."),
        sa.PrimaryKeyConstraint("chain", name=op.f("pk_access_chain")),
    )
    op.bulk_insert(sa.table("access_chain", sa.column("chain"), sa.column("number"), sa.column("entry_hash")), [{"chain": 1, "number": 0, "entry_hash": "0000000000000000000000000000000000000000000000000000000000000000"}])
    op.create_table(
        "access_heads",
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("session_id", sa.String(80), nullable=False),
        sa.Column("entry_hash", sa.String(64), nullable=False),
        sa.Column("kept_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("day", "session_id", name=op.f("pk_access_heads")),
    )
    op.create_table(
        "access_log",
        sa.Column("access_id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("user_id", sa.String(120), nullable=True),
        sa.Column("session_id", sa.String(80), nullable=True),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("http_status", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(40), nullable=True),
        sa.Column("previous_hash", sa.String(64), nullable=True),
        sa.Column("entry_hash", sa.String(64), nullable=False),
        sa.Column("accessed_at", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True, comment="Place in the one chain; null in the chains of sessions that were before."),
        sa.Column("target", sa.String(240), nullable=True, comment="Whom or what it was done to."),
        sa.Column("address", sa.String(64), nullable=True, comment="Where the caller is; null for this machine."),
        sa.Column("seq", sa.Integer(), nullable=True, comment="Position of the question."),
        sa.Column("answer_hash", sa.String(64), nullable=True, comment="SHA-256 of the answer's text."),
        sa.Column("digest", sa.String(64), nullable=True, comment="SHA-256 of what else the entry fixes."),
        sa.PrimaryKeyConstraint("access_id", name=op.f("pk_access_log")),
    )
    op.create_index("ix_access_log_session", "access_log", ["session_id", "access_id"], unique=False)
    op.create_index("ix_access_log_target", "access_log", ["action", "target"], unique=False, sqlite_where=sa.text("target is not null and seq is null"), postgresql_where=sa.text("target is not null and seq is null"))
    op.create_index("uq_access_log_number", "access_log", ["number"], unique=True)
    op.create_table(
        "approvals",
        sa.Column("approval_id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("what", sa.String(20), nullable=False, comment="plan, release, retire or override."),
        sa.Column("target", sa.String(120), nullable=False, comment="The run, session, question or edition."),
        sa.Column("digest", sa.String(64), nullable=False, comment="SHA-256 of what exactly is asked."),
        sa.Column("parameters", sa.JSON(), nullable=False, comment="What exactly is asked."),
        sa.Column("asked_by", sa.String(120), nullable=False, comment="A user, or the account of a host."),
        sa.Column("stood_by", sa.String(120), nullable=True, comment="The user who answers for the request; null: nobody yet."),
        sa.Column("asked_at", sa.String(32), nullable=False),
        sa.Column("expires_at", sa.String(32), nullable=False, comment="From then on it is worth nothing."),
        sa.Column("state", sa.String(10), nullable=False, comment="asked, approved, refused or used."),
        sa.Column("decided_by", sa.String(120), nullable=True, comment="The user who approved or refused."),
        sa.Column("decided_at", sa.String(32), nullable=True),
        sa.Column("used_at", sa.String(32), nullable=True, comment="When it was done as asked."),
        sa.Column("open_digest", sa.String(64), nullable=True, comment="The digest while it is open: what is asked twice is one request."),
        sa.PrimaryKeyConstraint("approval_id", name=op.f("pk_approvals")),
        sa.UniqueConstraint("open_digest", name=op.f("uq_approvals_open_digest")),
        sa.CheckConstraint("state in ('asked','approved','refused','used')", name=op.f("ck_approvals_ck_approvals_state")),
    )
    op.create_index("ix_approvals_digest", "approvals", ["digest"], unique=False)
    op.create_table(
        "clock_marks",
        sa.Column("boot_id", sa.String(80), nullable=False, comment="Start of a host that a process of this installation ran on; empty where the host names none."),
        sa.Column("moment", sa.Float(), nullable=False, comment="The clock when it was last looked at, Unix time."),
        sa.Column("uptime_s", sa.Float(), nullable=False, comment="Seconds since that start, at that moment."),
        sa.Column("leap_s", sa.Float(), nullable=False, comment="Seconds before that start that nothing but the clock shows; 0 once a person has confirmed them."),
        sa.Column("found_at", sa.Float(), nullable=False, comment="The clock when they were found, Unix time."),
        sa.PrimaryKeyConstraint("boot_id", name=op.f("pk_clock_marks")),
    )
    op.create_table(
        "ended_tokens",
        sa.Column("kind", sa.String(5), nullable=False, comment="token: one; user: all that a user had."),
        sa.Column("name", sa.String(120), nullable=False, comment="Id of the token (`jti`), or the user."),
        sa.Column("issued_until", sa.Float(), nullable=False, comment="Unix time; a user's tokens that were issued until then are ended."),
        sa.Column("ended_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("kind", "name", name=op.f("pk_ended_tokens")),
        sa.CheckConstraint("kind in ('token','user')", name=op.f("ck_ended_tokens_kind")),
    )
    op.create_table(
        "erased_answers",
        sa.Column("session_id", sa.String(80), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("erasure_id", sa.String(120), nullable=False),
        sa.Column("answer_hash", sa.String(64), nullable=False, comment="SHA-256 of the text that was there."),
        sa.Column("kept_digest", sa.String(64), nullable=False, comment="SHA-256 of what is kept beside the text."),
        sa.PrimaryKeyConstraint("session_id", "seq", name=op.f("pk_erased_answers")),
    )
    op.create_index("ix_erased_answers_erasure", "erased_answers", ["erasure_id"], unique=False)
    op.create_table(
        "erasures",
        sa.Column("erasure_id", sa.String(120), nullable=False, comment="The run, and the number of its erasure."),
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("cause", sa.String(12), nullable=False, comment="policy or withdrawal"),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("erased_by", sa.String(120), nullable=False, comment="A user, or the account of a host."),
        sa.Column("erased_at", sa.String(32), nullable=False),
        sa.Column("session_count", sa.Integer(), nullable=False),
        sa.Column("answer_count", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, comment="SHA-256 over all of it; the audit log has it, too."),
        sa.Column("finished_at", sa.String(32), nullable=True, comment="When no file held the texts any more; null: not yet."),
        sa.PrimaryKeyConstraint("erasure_id", name=op.f("pk_erasures")),
        sa.CheckConstraint("cause in ('policy','withdrawal')", name=op.f("ck_erasures_cause")),
    )
    op.create_table(
        "exam_installation",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False, comment="Always 1: there is one row."),
        sa.Column("installation_id", sa.String(36), nullable=False, comment="The same in the home's secrets and in the lake's catalog."),
        sa.Column("given_at", sa.String(32), nullable=False),
        sa.Column("commit_count", sa.Integer(), nullable=False, comment="Commits of an embedded ledger since then; a file that knows fewer than its mark has lost some."),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_exam_installation")),
        sa.CheckConstraint("number = 1", name=op.f("ck_exam_installation_number")),
    )
    op.create_table(
        "exposures",
        sa.Column("organisation", sa.String(120), nullable=False),
        sa.Column("lineage_uuid", sa.String(36), nullable=False),
        sa.Column("set_id", sa.String(100), nullable=False),
        sa.Column("exposed_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("organisation", "lineage_uuid", name=op.f("pk_exposures")),
    )
    op.create_table(
        "log_keys",
        sa.Column("key_id", sa.String(16), nullable=False, comment="First half of the SHA-256 of the public key."),
        sa.Column("public_key", sa.String(44), nullable=False, comment="Ed25519, 32 bytes in base64."),
        sa.Column("place", sa.String(240), nullable=False, comment="Host and home whose key it is."),
        sa.Column("added_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("key_id", name=op.f("pk_log_keys")),
    )
    op.create_table(
        "organisations",
        sa.Column("organisation", sa.String(120), nullable=False, comment="Its name in normal form (`sim:` before a simulated one). Locked in order before sets are claimed."),
        sa.Column("question_limit", sa.Integer(), nullable=True, comment="Most questions it may be handed; null means no limit."),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("name", sa.String(120), nullable=False, server_default="", comment="As it was first registered: what people read."),
        sa.Column("same_as", sa.String(120), nullable=True, comment="The organisation that this is another name of; null for itself."),
        sa.PrimaryKeyConstraint("organisation", name=op.f("pk_organisations")),
    )
    op.create_table(
        "public_head",
        sa.Column("chain", sa.Integer(), autoincrement=True, nullable=False, comment="Always 1: there is one row."),
        sa.Column("number", sa.Integer(), nullable=False, comment="Number of the last line, 0 for none."),
        sa.Column("line_hash", sa.String(64), nullable=False, comment="Hash of the last line."),
        sa.Column("ends_at", sa.BigInteger(), nullable=False, comment="Bytes of all lines with their newlines."),
        sa.PrimaryKeyConstraint("chain", name=op.f("pk_public_head")),
    )
    op.bulk_insert(sa.table("public_head", sa.column("chain"), sa.column("number"), sa.column("line_hash"), sa.column("ends_at")), [{"chain": 1, "number": 0, "line_hash": "0000000000000000000000000000000000000000000000000000000000000000", "ends_at": 0}])
    op.create_table(
        "public_log",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False, comment="Line of the file, from 1."),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("run_id", sa.String(80), nullable=True, comment="The run that the entry is about; null for none."),
        sa.Column("line", sa.Text(), nullable=False, comment="The line to the byte, without its newline."),
        sa.Column("line_hash", sa.String(64), nullable=False, comment="SHA-256 of the line."),
        sa.Column("ends_at", sa.BigInteger(), nullable=False, comment="Bytes of the file up to the end of the line."),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_public_log")),
    )
    op.create_index("ix_public_log_ends_at", "public_log", ["ends_at"], unique=False)
    op.create_index("ix_public_log_run", "public_log", ["run_id", "kind"], unique=False)
    op.create_table(
        "responses",
        sa.Column("session_id", sa.String(80), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("response", sa.Text(), nullable=False),
        sa.Column("reasoning", sa.Text(), nullable=True),
        sa.Column("answer_status", sa.String(12), nullable=False),
        sa.Column("finish_reason", sa.String(40), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("latency_ms", sa.Float(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=True),
        sa.Column("error", sa.String(200), nullable=True),
        sa.Column("prompt_version", sa.String(60), nullable=False),
        sa.Column("call_key", sa.String(64), nullable=True),
        sa.Column("answered_at", sa.String(32), nullable=False),
        sa.Column("signature", sa.String(88), nullable=True, comment="The candidate's, where it has enrolled a key."),
        sa.PrimaryKeyConstraint("session_id", "seq", name=op.f("pk_responses")),
    )
    op.create_table(
        "runs",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("month", sa.String(7), nullable=False),
        sa.Column("season", sa.String(80), nullable=False),
        sa.Column("bank_version", sa.Integer(), nullable=False),
        sa.Column("reference_model", sa.String(120), nullable=False),
        sa.Column("set_size", sa.Integer(), nullable=False),
        sa.Column("policy", sa.String(8), nullable=False),
        sa.Column("budget_usd", sa.Float(), nullable=True),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.Column("planned_at", sa.String(32), nullable=False),
        sa.Column("closed_at", sa.String(32), nullable=True),
        sa.Column("bridged_reference", sa.String(120), nullable=True, comment="The former reference that sits this run too."),
        sa.Column("repetition", sa.String(80), nullable=False, server_default="", comment="Name of a further run of the month; empty for the month's own."),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_runs")),
    )
    op.create_index("uq_runs_month_repetition", "runs", ["month", "is_simulated", "repetition"], unique=True)
    op.create_table(
        "set_numbers",
        sa.Column("set_id", sa.String(100), nullable=False),
        sa.Column("season", sa.String(80), nullable=False),
        sa.Column("set_number", sa.Integer(), nullable=False),
        sa.Column("bank_version", sa.Integer(), nullable=False),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("set_group", sa.Integer(), nullable=False, server_default="1", comment="Group of organisations that may share it, from 1."),
        sa.PrimaryKeyConstraint("set_id", name=op.f("pk_set_numbers")),
        sa.UniqueConstraint("season", "set_number", name=op.f("uq_sets_season_number")),
    )
    op.create_table(
        "shared_files",
        sa.Column("name", sa.String(40), nullable=False, comment="`exam-keys.json`, `models.yaml`, `archive` …"),
        sa.Column("fingerprint", sa.String(64), nullable=False, comment="Digest keyed with the content itself: nobody comes from it to a key."),
        sa.Column("host", sa.String(255), nullable=False, comment="Where it was noted or accepted last."),
        sa.Column("noted_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_shared_files")),
    )
    op.create_table(
        "users",
        sa.Column("user_id", sa.String(120), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("organisation", sa.String(120), nullable=True),
        sa.Column("model", sa.String(120), nullable=True, comment="Registry name, for candidates."),
        sa.Column("disciplines", sa.JSON(), nullable=True, comment="Disciplines an annotator reviews; null means all."),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("question_limit", sa.Integer(), nullable=True, comment="Most questions a candidate may be handed; null means no limit."),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("public_key", sa.String(44), nullable=True, comment="Ed25519 key that the candidate signs its answers with, in base64."),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_users")),
        sa.CheckConstraint("role in ('admin','examiner','candidate','annotator','analyst')", name=op.f("ck_users_role")),
    )
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.String(80), nullable=False),
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("set_id", sa.String(100), nullable=False),
        sa.Column("user_id", sa.String(120), nullable=False, comment="The candidate user who may sit it."),
        sa.Column("model", sa.String(120), nullable=False),
        sa.Column("organisation", sa.String(120), nullable=False),
        sa.Column("prompt_style", sa.String(20), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("is_reference", sa.Boolean(), nullable=False),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.Column("pending_window", sa.Integer(), nullable=False),
        sa.Column("question_count", sa.Integer(), nullable=False),
        sa.Column("next_seq", sa.Integer(), nullable=False, comment="First position not handed out yet."),
        sa.Column("answered_count", sa.Integer(), nullable=False, comment="Answered, or given up when time was over."),
        sa.Column("status", sa.String(8), nullable=False),
        sa.Column("lease_generation", sa.Integer(), nullable=False),
        sa.Column("lease_hash", sa.String(64), nullable=True, comment="SHA-256 of the lease secret."),
        sa.Column("lease_expires_at", sa.Float(), nullable=True, comment="Unix time."),
        sa.Column("access_hash", sa.String(64), nullable=True, comment="Head of the session's chain in access_log."),
        sa.Column("opened_at", sa.String(32), nullable=True),
        sa.Column("closed_at", sa.String(32), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=True, comment="What its answers depend on besides the questions, as JSON of short hashes."),
        sa.Column("deadline_at", sa.String(32), nullable=True, comment="Nothing is taken after it; null until it is set."),
        sa.Column("question_s", sa.Float(), nullable=True, comment="Seconds for each question handed out; null means no limit."),
        sa.Column("close_reason", sa.String(200), nullable=True, comment="Why it was closed unfinished; null where it was not."),
        sa.Column("is_outside", sa.Boolean(), nullable=False, server_default=sa.false(), comment="Sat by the candidate's own client."),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_sessions")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], name=op.f("fk_sessions_run_id")),
        sa.ForeignKeyConstraint(["set_id"], ["set_numbers.set_id"], name=op.f("fk_sessions_set_id")),
        sa.UniqueConstraint("run_id", "set_id", "model", "prompt_style", "repeat", name=op.f("uq_sessions_sitting")),
        sa.CheckConstraint("status in ('planned','open','closed')", name=op.f("ck_sessions_status")),
    )
    op.create_index("ix_sessions_organisation", "sessions", ["organisation"], unique=False)
    op.create_index("ix_sessions_run", "sessions", ["run_id"], unique=False)
    op.create_index("ix_sessions_set", "sessions", ["set_id"], unique=False)
    op.create_index("ix_sessions_user", "sessions", ["user_id"], unique=False)
    op.create_table(
        "set_claims",
        sa.Column("organisation", sa.String(120), nullable=False),
        sa.Column("set_id", sa.String(100), nullable=False),
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("claimed_at", sa.String(32), nullable=False),
        sa.Column("is_reference", sa.Boolean(), nullable=False, server_default=sa.false(), comment="Met in sittings of the reference only."),
        sa.PrimaryKeyConstraint("organisation", "set_id", name=op.f("pk_set_claims")),
        sa.ForeignKeyConstraint(["set_id"], ["set_numbers.set_id"], name=op.f("fk_set_claims_set_id")),
    )
    op.create_table(
        "sets",
        sa.Column("set_id", sa.String(100), nullable=False),
        sa.Column("lineage_uuid", sa.String(36), nullable=False),
        sa.Column("question_uuid", sa.String(36), nullable=False),
        sa.Column("discipline", sa.String(40), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False, comment="Bare content: what a candidate may see, nothing else."),
        sa.Column("is_anchor", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("set_id", "lineage_uuid", name=op.f("pk_sets")),
        sa.ForeignKeyConstraint(["set_id"], ["set_numbers.set_id"], name=op.f("fk_sets_set_id")),
    )
    op.create_table(
        "signed_heads",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False, comment="Number of the entry that was the last one."),
        sa.Column("entry_hash", sa.String(64), nullable=False),
        sa.Column("key_id", sa.String(16), nullable=False),
        sa.Column("signed_at", sa.String(32), nullable=False),
        sa.Column("signature", sa.String(88), nullable=False, comment="Ed25519, in base64."),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_signed_heads")),
        sa.ForeignKeyConstraint(["key_id"], ["log_keys.key_id"], name=op.f("fk_signed_heads_key_id_log_keys")),
    )
    op.create_table(
        "web_sessions",
        sa.Column("session_hash", sa.String(64), nullable=False, comment="SHA-256 of what the cookie names."),
        sa.Column("user_id", sa.String(120), nullable=False),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("expires_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("session_hash", name=op.f("pk_web_sessions")),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name=op.f("fk_web_sessions_user_id")),
    )
    op.create_index("ix_web_sessions_user", "web_sessions", ["user_id"], unique=False)
    op.create_table(
        "allocations",
        sa.Column("session_id", sa.String(80), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("lineage_uuid", sa.String(36), nullable=False),
        sa.Column("allocated_at", sa.String(32), nullable=False),
        sa.Column("delivered_at", sa.String(32), nullable=True),
        sa.Column("error", sa.String(200), nullable=True, comment="Error class of the last call that failed for good; null for none."),
        sa.PrimaryKeyConstraint("session_id", "seq", name=op.f("pk_allocations")),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"], name=op.f("fk_allocations_session_id")),
    )


def _create_ledger_tables() -> None:
    op.create_table(
        "annotator_profiles",
        sa.Column("user_id", sa.String(120), nullable=False),
        sa.Column("language", sa.String(2), nullable=True, comment="Language of what is written to them; null: that of their questions."),
        sa.Column("email", sa.String(254), nullable=True, comment="Where reminders go; null means none by e-mail."),
        sa.Column("daily_quota", sa.Integer(), nullable=True, comment="Questions per day of the window; null means the setting."),
        sa.Column("due_days", sa.Integer(), nullable=True, comment="Days of their window; null means the setting."),
        sa.Column("levels", sa.JSON(), nullable=True, comment="novice, regular or expert by discipline; `*` for all others."),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_annotator_profiles")),
    )
    op.create_table(
        "backups",
        sa.Column("backup_id", sa.String(36), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False, comment="Where it was written; it may have been moved or deleted since."),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("begun_at", sa.String(32), nullable=False, comment="It holds nothing that was written later than it ended."),
        sa.PrimaryKeyConstraint("backup_id", name=op.f("pk_backups")),
    )
    op.create_index("ix_backups_begun_at", "backups", ["begun_at"], unique=False)
    op.create_table(
        "batch_calls",
        sa.Column("batch_id", sa.String(40), nullable=False),
        sa.Column("call_key", sa.String(64), nullable=False),
        sa.Column("worst_usd", sa.Float(), nullable=False, comment="The most that it can cost, at the batch's price."),
        sa.Column("status", sa.String(8), nullable=False, comment="sent, done, failed"),
        sa.Column("error", sa.String(60), nullable=True, comment="`batch_…` where the whole batch failed, else its own."),
        sa.PrimaryKeyConstraint("batch_id", "call_key", name=op.f("pk_batch_calls")),
        sa.CheckConstraint("status in ('sent','done','failed')", name=op.f("ck_batch_calls_status")),
    )
    op.create_index("ix_batch_calls_call", "batch_calls", ["call_key"], unique=False)
    op.create_table(
        "budget_limits",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("run_id", sa.String(200), nullable=False),
        sa.Column("limit_usd", sa.Float(), nullable=False, comment="The last of a run counts, in place of the one it was planned with."),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("set_by", sa.String(120), nullable=False, comment="The account on the host that set it."),
        sa.Column("set_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_budget_limits")),
    )
    op.create_index("ix_budget_limits_run_id", "budget_limits", ["run_id"], unique=False)
    op.create_table(
        "budget_shares",
        sa.Column("run_id", sa.String(200), nullable=False),
        sa.Column("holder", sa.String(40), nullable=False, comment="Drawn for each process."),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("reserved_usd", sa.Float(), nullable=False, comment="The most that its calls in flight could cost."),
        sa.Column("expires_at", sa.String(32), nullable=False, comment="Renewed by every call."),
        sa.PrimaryKeyConstraint("run_id", "holder", name=op.f("pk_budget_shares")),
    )
    op.create_table(
        "call_batches",
        sa.Column("batch_id", sa.String(40), nullable=False, comment="Ours; the provider has it as metadata."),
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("provider", sa.String(200), nullable=False),
        sa.Column("model", sa.String(120), nullable=False),
        sa.Column("state", sa.String(10), nullable=False, comment="gathering, creating (sent, not acknowledged), created, ended, dropped (never sent), lost (never found)."),
        sa.Column("file_hash", sa.String(64), nullable=True, comment="SHA-256 of the requests as they were uploaded."),
        sa.Column("file_id", sa.String(200), nullable=True, comment="The provider's name of that file."),
        sa.Column("provider_batch_id", sa.String(200), nullable=True),
        sa.Column("provider_status", sa.String(20), nullable=True, comment="What the provider said of it last."),
        sa.Column("call_count", sa.Integer(), nullable=False),
        sa.Column("done_count", sa.Integer(), nullable=False),
        sa.Column("failed_count", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("changed_at", sa.String(32), nullable=False, comment="When it came into its state."),
        sa.PrimaryKeyConstraint("batch_id", name=op.f("pk_call_batches")),
        sa.CheckConstraint("state in ('gathering','creating','created','ended','dropped','lost')", name=op.f("ck_call_batches_state")),
    )
    op.create_index("ix_call_batches_state", "call_batches", ["state"], unique=False)
    op.create_table(
        "commit_counts",
        sa.Column("connection", sa.String(36), nullable=False, comment="Drawn for each connection to a server."),
        sa.Column("commit_count", sa.Integer(), nullable=False, comment="Its last transaction that was kept."),
        sa.Column("counted_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("connection", name=op.f("pk_commit_counts")),
    )
    op.create_table(
        "desk_marks",
        sa.Column("kind", sa.String(20), nullable=False, comment="rating, label or league."),
        sa.Column("work", sa.String(200), nullable=False, comment="The round, the sample, or the league."),
        sa.Column("person", sa.String(120), nullable=False),
        sa.Column("item_key", sa.String(32), nullable=False, comment="What is marked; it tells nothing."),
        sa.Column("mark", sa.String(60), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("given_at", sa.String(32), nullable=False),
        sa.Column("landed_at", sa.String(32), nullable=True, comment="Null until the mark is in the lake."),
        sa.PrimaryKeyConstraint("kind", "work", "person", "item_key", name=op.f("pk_desk_marks")),
    )
    op.create_index("ix_desk_marks_landed", "desk_marks", ["landed_at"], unique=False)
    op.create_table(
        "edition_roots",
        sa.Column("edition_id", sa.Text(), nullable=False),
        sa.Column("root_hash", sa.Text(), nullable=False, comment="SHA-256 over every frozen row; kept once, never changed."),
        sa.Column("kept_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("edition_id", name=op.f("pk_edition_roots")),
    )
    op.create_table(
        "flow_runs",
        sa.Column("flow_run_id", sa.String(36), nullable=False, comment="Prefect's, or drawn where there is no server."),
        sa.Column("flow", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False, comment="What it is for: `monthly-2026-12`."),
        sa.Column("deployment", sa.String(80), nullable=True, comment="What started it; null for a command."),
        sa.Column("started_by", sa.String(10), nullable=False),
        sa.Column("due_at", sa.String(32), nullable=True, comment="When its schedule wanted it; null where no schedule did."),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=True, comment="Ids and counts of what it came to."),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("ended_at", sa.String(32), nullable=True),
        sa.Column("alive_until", sa.String(32), nullable=True, comment="Renewed by its process; null for runs of before that was noted."),
        sa.PrimaryKeyConstraint("flow_run_id", name=op.f("pk_flow_runs")),
        sa.CheckConstraint("started_by in ('schedule','event','person','command')", name=op.f("ck_flow_runs_started_by")),
        sa.CheckConstraint("state in ('running','completed','failed','crashed','cancelled')", name=op.f("ck_flow_runs_state")),
    )
    op.create_index("ix_flow_runs_deployment", "flow_runs", ["deployment", "started_at"], unique=False)
    op.create_index("ix_flow_runs_started_at", "flow_runs", ["started_at"], unique=False)
    op.create_table(
        "flow_schedules",
        sa.Column("deployment", sa.String(80), nullable=False),
        sa.Column("flow", sa.String(40), nullable=False),
        sa.Column("cron", sa.String(80), nullable=False),
        sa.Column("timezone", sa.String(60), nullable=False),
        sa.Column("deployed_at", sa.String(32), nullable=False, comment="Since when it has had this time; nothing was due before."),
        sa.PrimaryKeyConstraint("deployment", name=op.f("pk_flow_schedules")),
    )
    op.create_table(
        "installation",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False, comment="Always 1: there is one row."),
        sa.Column("installation_id", sa.String(36), nullable=False, comment="The same in the home's secrets and in the lake's catalog."),
        sa.Column("given_at", sa.String(32), nullable=False),
        sa.Column("commit_count", sa.Integer(), nullable=False, comment="Commits of an embedded ledger since then; a file that knows fewer than its mark has lost some."),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_installation")),
        sa.CheckConstraint("number = 1", name=op.f("ck_installation_number")),
    )
    op.create_table(
        "landing_marks",
        sa.Column("name", sa.String(40), nullable=False, comment="What is landed up to the mark."),
        sa.Column("marked_at", sa.String(32), nullable=False, comment="Everything older is in the lake."),
        sa.Column("unit_count", sa.Integer(), nullable=False, comment="Units the lake had then; a lake with fewer is another."),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_landing_marks")),
    )
    op.create_table(
        "llm_calls",
        sa.Column("call_key", sa.String(64), nullable=False),
        sa.Column("purpose", sa.String(40), nullable=False),
        sa.Column("run_id", sa.String(80), nullable=True),
        sa.Column("unit", sa.String(160), nullable=True, comment="Session, or session and judge, or batch: what it is landed with."),
        sa.Column("endpoint", sa.String(200), nullable=False),
        sa.Column("model", sa.String(120), nullable=False),
        sa.Column("status", sa.String(8), nullable=False, comment="started, done, failed"),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("reply", sa.JSON(), nullable=True, comment="What came back: text, reasoning, finish reason. Never the request."),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("latency_ms", sa.Float(), nullable=True),
        sa.Column("error", sa.String(200), nullable=True),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("finished_at", sa.String(32), nullable=True),
        sa.Column("holder", sa.String(40), nullable=True, comment="Who sent it last."),
        sa.Column("extra_usd", sa.Float(), nullable=False, server_default="0", comment="The most that attempts without a bill, and replies that came second, have cost."),
        sa.PrimaryKeyConstraint("call_key", name=op.f("pk_llm_calls")),
        sa.CheckConstraint("status in ('started','done','failed')", name=op.f("ck_llm_calls_status")),
    )
    op.create_index("ix_llm_calls_finished_at", "llm_calls", ["finished_at"], unique=False, sqlite_where=sa.text("purpose <> 'exam'"), postgresql_where=sa.text("purpose <> 'exam'"))
    op.create_index("ix_llm_calls_run", "llm_calls", ["run_id"], unique=False)
    op.create_index("ix_llm_calls_started_at", "llm_calls", ["started_at"], unique=False, sqlite_where=sa.text("purpose <> 'exam'"), postgresql_where=sa.text("purpose <> 'exam'"))
    op.create_index("ix_llm_calls_unit", "llm_calls", ["unit"], unique=False)
    op.create_table(
        "process_leases",
        sa.Column("holder", sa.String(40), nullable=False, comment="Drawn for each client of models."),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.String(32), nullable=False, comment="Renewed while the process works."),
        sa.PrimaryKeyConstraint("holder", name=op.f("pk_process_leases")),
    )
    op.create_table(
        "provider_paces",
        sa.Column("name", sa.String(300), nullable=False, comment="A provider, or a model with limits of its own."),
        sa.Column("next_at", sa.Float(), nullable=False, comment="Unix time of the first moment that is free."),
        sa.Column("paused_until", sa.Float(), nullable=False, comment="Unix time; nobody sends before it."),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_provider_paces")),
    )
    op.create_table(
        "review_assignments",
        sa.Column("batch_id", sa.String(80), nullable=False),
        sa.Column("question_uuid", sa.String(36), nullable=False),
        sa.Column("annotator", sa.String(120), nullable=False),
        sa.Column("role", sa.String(12), nullable=False),
        sa.Column("assigned_at", sa.String(32), nullable=False),
        sa.Column("due_at", sa.String(32), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False, server_default="0", comment="Place of the question in its batch, by paper and position."),
        sa.Column("has_answer", sa.Boolean(), nullable=False, server_default=sa.true(), comment="Whether the question came with an answer."),
        sa.PrimaryKeyConstraint("batch_id", "question_uuid", "annotator", name=op.f("pk_review_assignments")),
    )
    op.create_index("ix_review_assignments_queue", "review_assignments", ["annotator", "batch_id", "due_at", "place"], unique=False)
    op.create_table(
        "review_batches",
        sa.Column("batch_id", sa.String(80), nullable=False),
        sa.Column("status", sa.String(12), nullable=False, comment="open, complete (all decided), closed (gate applied)"),
        sa.Column("review_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("due_at", sa.String(32), nullable=False),
        sa.Column("closed_at", sa.String(32), nullable=True),
        sa.PrimaryKeyConstraint("batch_id", name=op.f("pk_review_batches")),
    )
    op.create_table(
        "review_drafts",
        sa.Column("batch_id", sa.String(80), nullable=False),
        sa.Column("question_uuid", sa.String(36), nullable=False),
        sa.Column("annotator", sa.String(120), nullable=False),
        sa.Column("draft", sa.JSON(), nullable=False, comment="What was begun and not given as a decision."),
        sa.Column("saved_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("batch_id", "question_uuid", "annotator", name=op.f("pk_review_drafts")),
    )
    op.create_table(
        "review_gold",
        sa.Column("batch_id", sa.String(80), nullable=False),
        sa.Column("question_uuid", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False, comment="accepted, rejected or spoiled"),
        sa.Column("expected", sa.String(8), nullable=False, comment="The known decision: accept or reject."),
        sa.Column("true_answer", sa.JSON(), nullable=True, comment="The answer before it was spoiled; null for the other kinds."),
        sa.Column("source_uuid", sa.String(36), nullable=False, comment="The settled question that it was made from."),
        sa.Column("source_batch", sa.String(80), nullable=False, comment="The batch that settled that question."),
        sa.PrimaryKeyConstraint("batch_id", "question_uuid", name=op.f("pk_review_gold")),
    )
    op.create_table(
        "reviews",
        sa.Column("batch_id", sa.String(80), nullable=False),
        sa.Column("question_uuid", sa.String(36), nullable=False),
        sa.Column("annotator", sa.String(120), nullable=False),
        sa.Column("decision", sa.String(8), nullable=False),
        sa.Column("reject_reason", sa.String(20), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("edited_fields", sa.JSON(), nullable=True),
        sa.Column("channel", sa.String(16), nullable=False),
        sa.Column("decided_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("batch_id", "question_uuid", "annotator", name=op.f("pk_reviews")),
    )
    op.create_index("ix_reviews_annotator", "reviews", ["annotator", "batch_id", "decided_at"], unique=False)
    op.create_index("ix_reviews_question_uuid", "reviews", ["question_uuid"], unique=False)
    op.create_table(
        "run_budgets",
        sa.Column("run_id", sa.String(200), nullable=False, comment="The run, or what stands for one."),
        sa.Column("spent_usd", sa.Float(), nullable=False, comment="Unknown bills at the most they could be."),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_budgets")),
    )
    op.create_table(
        "run_notices",
        sa.Column("flow_run_id", sa.String(36), nullable=False, comment="A run that ended badly, as the ledger or Prefect says."),
        sa.Column("name", sa.String(200), nullable=False, comment="What the run is for."),
        sa.Column("ending", sa.String(20), nullable=False, comment="Failed, Crashed, TimedOut."),
        sa.Column("found_at", sa.String(32), nullable=False),
        sa.Column("told_at", sa.String(32), nullable=True, comment="When everybody had been told; null before."),
        sa.Column("next_at", sa.String(32), nullable=False, comment="Nobody else tells of it, and nobody again, before."),
        sa.Column("tries", sa.Integer(), nullable=False, comment="How often somebody set out to tell."),
        sa.Column("told", sa.JSON(), nullable=False, comment="Names of those who have been told."),
        sa.PrimaryKeyConstraint("flow_run_id", name=op.f("pk_run_notices")),
    )
    op.create_index("ix_run_notices_told_at", "run_notices", ["told_at"], unique=False)
    op.create_table(
        "run_plans",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("seed", sa.String(80), nullable=False, comment="Secret until the run is closed."),
        sa.Column("plan", sa.JSON(), nullable=False, comment="Candidates, styles, repeats, disciplines, models as registered."),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_plans")),
    )
    op.create_table(
        "run_seals",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("share", sa.String(64), nullable=False, comment="The operator's share of the seed; secret until the run is closed."),
        sa.Column("plan", sa.Text(), nullable=False, comment="plan.json, which was committed to."),
        sa.Column("exclusions", sa.Text(), nullable=False, comment="exclusions.json, which was committed to."),
        sa.Column("parameters", sa.JSON(), nullable=True, comment="What it is planned from again when it is drawn; null where it was drawn at once."),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_seals")),
    )
    op.create_table(
        "set_keys",
        sa.Column("set_id", sa.String(100), nullable=False),
        sa.Column("draw_key", sa.String(80), nullable=False, comment="Secret that the set's draw follows from, until the run that drew it is closed."),
        sa.PrimaryKeyConstraint("set_id", name=op.f("pk_set_keys")),
    )
    op.create_table(
        "set_proofs",
        sa.Column("set_id", sa.String(100), nullable=False),
        sa.Column("drawn_in", sa.String(80), nullable=True, comment="The run that drew it; null for a set older than the public log."),
        sa.Column("items", sa.JSON(), nullable=False, comment="Its items as they are published when a run that sat it is closed."),
        sa.Column("revisions", sa.JSON(), nullable=False, comment="Question to its revision."),
        sa.PrimaryKeyConstraint("set_id", name=op.f("pk_set_proofs")),
    )
    op.create_table(
        "work_claims",
        sa.Column("kind", sa.String(40), nullable=False, comment="Kind of work: judge, drift, errors, contamination."),
        sa.Column("name", sa.String(300), nullable=False, comment="Which: a run, a sample."),
        sa.Column("holder", sa.String(40), nullable=False, comment="Drawn anew for each claim."),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.String(32), nullable=False, comment="Renewed while the work goes on."),
        sa.PrimaryKeyConstraint("kind", "name", name=op.f("pk_work_claims")),
    )
    op.create_table(
        "review_questions",
        sa.Column("batch_id", sa.String(80), nullable=False),
        sa.Column("question_uuid", sa.String(36), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("lineage_uuid", sa.String(36), nullable=False),
        sa.Column("document_id", sa.String(36), nullable=True, comment="Null for a variant written by a model."),
        sa.Column("discipline", sa.String(40), nullable=True),
        sa.Column("content", sa.JSON(), nullable=False, comment="The question as it is shown to annotators."),
        sa.PrimaryKeyConstraint("batch_id", "question_uuid", name=op.f("pk_review_questions")),
        sa.ForeignKeyConstraint(["batch_id"], ["review_batches.batch_id"], name=op.f("fk_review_questions_batch_id")),
    )
    op.create_index("ix_review_questions_question_uuid", "review_questions", ["question_uuid"], unique=False)
