"""Batches of calls that a provider answers in its own time, and the calls of each."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0026"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.create_table(
        "call_batches",
        sa.Column("batch_id", sa.String(40), nullable=False, comment="Ours; the provider has it as metadata."),
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("provider", sa.String(200), nullable=False),
        sa.Column("model", sa.String(120), nullable=False),
        sa.Column(
            "state",
            sa.String(10),
            nullable=False,
            comment="gathering, creating (sent, not acknowledged), created, ended, dropped (never sent), lost (never found).",
        ),
        sa.Column("file_hash", sa.String(64), comment="SHA-256 of the requests as they were uploaded."),
        sa.Column("file_id", sa.String(200), comment="The provider's name of that file."),
        sa.Column("provider_batch_id", sa.String(200)),
        sa.Column("provider_status", sa.String(20), comment="What the provider said of it last."),
        sa.Column("call_count", sa.Integer(), nullable=False),
        sa.Column("done_count", sa.Integer(), nullable=False),
        sa.Column("failed_count", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("changed_at", sa.String(32), nullable=False, comment="When it came into its state."),
        sa.CheckConstraint(
            "state in ('gathering','creating','created','ended','dropped','lost')",
            name=op.f("ck_call_batches_state"),
        ),
        sa.PrimaryKeyConstraint("batch_id", name="pk_call_batches"),
    )
    op.create_index("ix_call_batches_state", "call_batches", ["state"])
    op.create_table(
        "batch_calls",
        sa.Column("batch_id", sa.String(40), nullable=False),
        sa.Column("call_key", sa.String(64), nullable=False),
        sa.Column("worst_usd", sa.Float(), nullable=False, comment="The most that it can cost, at the batch's price."),
        sa.Column("status", sa.String(8), nullable=False, comment="sent, done, failed"),
        sa.Column("error", sa.String(60), comment="`batch_…` where the whole batch failed, else its own."),
        sa.CheckConstraint("status in ('sent','done','failed')", name=op.f("ck_batch_calls_status")),
        sa.PrimaryKeyConstraint("batch_id", "call_key", name="pk_batch_calls"),
    )
    op.create_index("ix_batch_calls_call", "batch_calls", ["call_key"])


def downgrade() -> None:
    if not on_side("ledger"):
        return
    op.drop_table("batch_calls")
    op.drop_table("call_batches")
