"""Backups that were begun: what is erased later is still in them."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0033"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.create_table(
        "backups",
        sa.Column("backup_id", sa.String(36), nullable=False),
        sa.Column(
            "folder",
            sa.Text(),
            nullable=False,
            comment="Where it was written; it may have been moved or deleted since.",
        ),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column(
            "begun_at",
            sa.String(32),
            nullable=False,
            comment="It holds nothing that was written later than it ended.",
        ),
        sa.Column("key_id", sa.String(16), comment="The key that it is encrypted with; null for a plain one."),
        sa.PrimaryKeyConstraint("backup_id", name="pk_backups"),
    )
    op.create_index("ix_backups_begun_at", "backups", ["begun_at"])


def downgrade() -> None:
    if not on_side("ledger"):
        return
    op.drop_table("backups")
