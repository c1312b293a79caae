"""Messages on questions under review, and the guidelines that decisions were given under."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.engine.sides import on_side

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.add_column(
        "reviews",
        sa.Column(
            "guideline_version",
            sa.Integer(),
            nullable=True,
            comment="Guidelines under which it was given; null before the first version.",
        ),
    )
    op.create_table(
        "review_messages",
        sa.Column("batch_id", sa.String(80), nullable=False),
        sa.Column("question_uuid", sa.String(36), nullable=False),
        sa.Column(
            "number",
            sa.Integer(),
            nullable=False,
            comment="From 1 for each question, in the order of writing.",
        ),
        sa.Column(
            "annotator",
            sa.String(120),
            nullable=True,
            comment="With whom; null: with everybody who has the question.",
        ),
        sa.Column("author", sa.String(120), nullable=False),
        sa.Column("is_coordinator", sa.Boolean(), nullable=False, comment="Whether a coordinator wrote it."),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("written_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("batch_id", "question_uuid", "number", name="pk_review_messages"),
    )
    op.create_index("ix_review_messages_annotator", "review_messages", ["annotator", "batch_id"])
    op.create_table(
        "guideline_versions",
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "changes",
            sa.Text(),
            nullable=False,
            comment="What changed, in the words of who published it.",
        ),
        sa.Column(
            "changes_zh", sa.Text(), nullable=True, comment="The same in Chinese, where it was written."
        ),
        sa.Column(
            "published_by", sa.String(120), nullable=True, comment="Null where a command published it."
        ),
        sa.Column("published_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("version", name="pk_guideline_versions"),
    )
    op.create_table(
        "guideline_readings",
        sa.Column("annotator", sa.String(120), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("read_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("annotator", "version", name="pk_guideline_readings"),
    )


def downgrade() -> None:
    raise NotImplementedError("a ledger does not go back to an earlier form: restore a backup")
