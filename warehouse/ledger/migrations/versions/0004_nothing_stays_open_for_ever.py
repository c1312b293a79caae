"""Nothing stays open for ever: deadlines of sessions and questions, why a session was closed, what was landed up to when.

Columns are added in place. Sessions that are open get their deadline when they are next met, counted from then: an upgrade
closes nobody's session.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# table, column, type, comment
COLUMNS = (
    ("sessions", "deadline_at", sa.String(32), "Nothing is taken after it; null until it is set."),
    ("sessions", "question_s", sa.Float(), "Seconds for each question handed out; null means no limit."),
    ("sessions", "close_reason", sa.String(200), "Why it was closed unfinished; null where it was not."),
    ("allocations", "error", sa.String(200), "Error class of the last call that failed for good; null for none."),
)
ANSWERED = "Answered, or given up when time was over."
CALL_INDEXES = (("ix_llm_calls_started_at", "started_at"), ("ix_llm_calls_finished_at", "finished_at"))


def upgrade() -> None:
    for table, name, kind, comment in COLUMNS:
        op.add_column(table, sa.Column(name, kind, nullable=True, comment=comment))
    _comment_on_answered_count(ANSWERED)
    op.create_table(
        "landing_marks",
        sa.Column("name", sa.String(40), nullable=False, comment="What is landed up to the mark."),
        sa.Column("marked_at", sa.String(32), nullable=False, comment="Everything older is in the lake."),
        sa.Column(
            "unit_count",
            sa.Integer(),
            nullable=False,
            comment="Units the lake had then; a lake with fewer is another.",
        ),
        sa.PrimaryKeyConstraint("name", name="pk_landing_marks"),
    )
    not_exam = sa.text("purpose <> 'exam'")
    for name, column in CALL_INDEXES:
        op.create_index(name, "llm_calls", [column], sqlite_where=not_exam, postgresql_where=not_exam)


def downgrade() -> None:
    for name, _ in CALL_INDEXES:
        op.drop_index(name, table_name="llm_calls")
    op.drop_table("landing_marks")
    _comment_on_answered_count(None)
    for table, name, _, _ in reversed(COLUMNS):
        op.drop_column(table, name)


def _comment_on_answered_count(comment: str | None) -> None:
    """SQLite keeps no comments."""
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("sessions", "answered_count", existing_type=sa.Integer(), comment=comment)
