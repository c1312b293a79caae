"""What was erased of answers: by whom, when and why, and the hashes that stay."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("exam"):
        return
    op.create_table(
        "erasures",
        sa.Column(
            "erasure_id", sa.String(120), nullable=False, comment="The run, and the number of its erasure."
        ),
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("cause", sa.String(12), nullable=False, comment="policy or withdrawal"),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("erased_by", sa.String(120), nullable=False, comment="A user, or the account of a host."),
        sa.Column("erased_at", sa.String(32), nullable=False),
        sa.Column("session_count", sa.Integer(), nullable=False),
        sa.Column("answer_count", sa.Integer(), nullable=False),
        sa.Column(
            "digest", sa.String(64), nullable=False, comment="SHA-256 over all of it; the audit log has it, too."
        ),
        sa.Column(
            "finished_at", sa.String(32), comment="When no file held the texts any more; null: not yet."
        ),
        sa.CheckConstraint("cause in ('policy','withdrawal')", name=op.f("ck_erasures_cause")),
        sa.PrimaryKeyConstraint("erasure_id", name="pk_erasures"),
    )
    op.create_table(
        "erased_answers",
        sa.Column("session_id", sa.String(80), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("erasure_id", sa.String(120), nullable=False),
        sa.Column(
            "answer_hash", sa.String(64), nullable=False, comment="SHA-256 of the text that was there."
        ),
        sa.Column(
            "kept_digest", sa.String(64), nullable=False, comment="SHA-256 of what is kept beside the text."
        ),
        sa.PrimaryKeyConstraint("session_id", "seq", name="pk_erased_answers"),
    )
    op.create_index("ix_erased_answers_erasure", "erased_answers", ["erasure_id"])


def downgrade() -> None:
    if not on_side("exam"):
        return
    op.drop_table("erased_answers")
    op.drop_table("erasures")
