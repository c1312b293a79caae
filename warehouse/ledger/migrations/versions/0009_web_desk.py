"""The web desk: who is signed in, drafts of decisions, and each annotator's questions in the order in which they are read."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "web_sessions",
        sa.Column("session_hash", sa.String(64), nullable=False, comment="SHA-256 of what the cookie names."),
        sa.Column("user_id", sa.String(120), nullable=False),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("expires_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("session_hash", name="pk_web_sessions"),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name="fk_web_sessions_user_id"),
    )
    op.create_index("ix_web_sessions_user", "web_sessions", ["user_id"])
    op.create_table(
        "review_drafts",
        sa.Column("batch_id", sa.String(80), nullable=False),
        sa.Column("question_uuid", sa.String(36), nullable=False),
        sa.Column("annotator", sa.String(120), nullable=False),
        sa.Column("draft", sa.JSON(), nullable=False, comment="What was begun and not given as a decision."),
        sa.Column("saved_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("batch_id", "question_uuid", "annotator", name="pk_review_drafts"),
    )
    op.add_column(
        "review_assignments",
        sa.Column(
            "place",
            sa.Integer(),
            nullable=False,
            server_default="0",
            comment="Place of the question in its batch, by paper and position.",
        ),
    )
    op.add_column(
        "review_assignments",
        sa.Column(
            "has_answer",
            sa.Boolean(),
            nullable=False,
            server_default=sa.true(),
            comment="Whether the question came with an answer.",
        ),
    )
    _fill(op.get_bind())
    op.drop_index("ix_review_assignments_annotator", table_name="review_assignments")
    op.create_index(
        "ix_review_assignments_queue", "review_assignments", ["annotator", "batch_id", "due_at", "place"]
    )
    op.create_index("ix_reviews_annotator", "reviews", ["annotator", "batch_id", "decided_at"])


def downgrade() -> None:
    op.drop_index("ix_reviews_annotator", table_name="reviews")
    op.drop_index("ix_review_assignments_queue", table_name="review_assignments")
    op.create_index("ix_review_assignments_annotator", "review_assignments", ["annotator"])
    op.drop_column("review_assignments", "has_answer")
    op.drop_column("review_assignments", "place")
    op.drop_table("review_drafts")
    op.drop_index("ix_web_sessions_user", table_name="web_sessions")
    op.drop_table("web_sessions")


def _fill(connection: sa.Connection) -> None:
    """Places of the questions of batches that are still open; what is closed is not read again."""
    batches = sa.table("review_batches", sa.column("batch_id"), sa.column("status"))
    questions = sa.table(
        "review_questions",
        sa.column("batch_id"),
        sa.column("question_uuid"),
        sa.column("document_id"),
        sa.column("content", sa.JSON()),
    )
    assignments = sa.table(
        "review_assignments",
        sa.column("batch_id"),
        sa.column("question_uuid"),
        sa.column("place"),
        sa.column("has_answer", sa.Boolean()),
    )
    change = (
        sa.update(assignments)
        .where(
            assignments.c.batch_id == sa.bindparam("in_batch"),
            assignments.c.question_uuid == sa.bindparam("of_question"),
        )
        .values(place=sa.bindparam("new_place"), has_answer=sa.bindparam("new_has_answer"))
    )
    for batch_id in connection.scalars(sa.select(batches.c.batch_id).where(batches.c.status != "closed")).all():
        rows = connection.execute(sa.select(questions).where(questions.c.batch_id == batch_id)).all()
        rows = sorted(
            rows,
            key=lambda row: (row.document_id or "", row.content.get("position") or 0, row.question_uuid),
        )
        if rows:
            connection.execute(
                change,
                [
                    {
                        "in_batch": batch_id,
                        "of_question": row.question_uuid,
                        "new_place": place,
                        "new_has_answer": bool(row.content.get("answer")),
                    }
                    for place, row in enumerate(rows, start=1)
                ],
            )
