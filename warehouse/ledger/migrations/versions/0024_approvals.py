"""Requests that need a second person: what exactly is asked, by whom, and who agreed."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0024"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("exam"):
        return
    op.create_table(
        "approvals",
        sa.Column("approval_id", sa.Integer(), nullable=False),
        sa.Column("what", sa.String(20), nullable=False, comment="plan, release, retire or override."),
        sa.Column("target", sa.String(120), nullable=False, comment="The run, session, question or edition."),
        sa.Column("digest", sa.String(64), nullable=False, comment="SHA-256 of what exactly is asked."),
        sa.Column("parameters", sa.JSON(), nullable=False, comment="What exactly is asked."),
        sa.Column("asked_by", sa.String(120), nullable=False, comment="A user, or the account of a host."),
        sa.Column("stood_by", sa.String(120), comment="The user who answers for the request; null: nobody yet."),
        sa.Column("asked_at", sa.String(32), nullable=False),
        sa.Column("expires_at", sa.String(32), nullable=False, comment="From then on it is worth nothing."),
        sa.Column("state", sa.String(10), nullable=False, comment="asked, approved, refused or used."),
        sa.Column("decided_by", sa.String(120), comment="The user who approved or refused."),
        sa.Column("decided_at", sa.String(32)),
        sa.Column("used_at", sa.String(32), comment="When it was done as asked."),
        sa.Column(
            "open_digest", sa.String(64), comment="The digest while it is open: what is asked twice is one request."
        ),
        sa.PrimaryKeyConstraint("approval_id", name="pk_approvals"),
        sa.CheckConstraint("state in ('asked','approved','refused','used')", name="ck_approvals_state"),
        sa.UniqueConstraint("open_digest", name="uq_approvals_open_digest"),
    )
    op.create_index("ix_approvals_digest", "approvals", ["digest"])


def downgrade() -> None:
    if not on_side("exam"):
        return
    op.drop_table("approvals")
