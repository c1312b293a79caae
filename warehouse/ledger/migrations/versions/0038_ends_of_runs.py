"""Runs renew a lease, what ends badly is told once, and a server says whether it kept a transaction."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.add_column(
        "flow_runs",
        sa.Column(
            "alive_until",
            sa.String(32),
            comment="Renewed by its process; null for runs of before that was noted.",
        ),
    )
    op.create_table(
        "run_notices",
        sa.Column(
            "flow_run_id",
            sa.String(36),
            nullable=False,
            comment="A run that ended badly, as the ledger or Prefect says.",
        ),
        sa.Column("name", sa.String(200), nullable=False, comment="What the run is for."),
        sa.Column("ending", sa.String(20), nullable=False, comment="Failed, Crashed, TimedOut."),
        sa.Column("found_at", sa.String(32), nullable=False),
        sa.Column("told_at", sa.String(32), comment="When everybody had been told; null before."),
        sa.Column(
            "next_at",
            sa.String(32),
            nullable=False,
            comment="Nobody else tells of it, and nobody again, before.",
        ),
        sa.Column("tries", sa.Integer(), nullable=False, comment="How often somebody set out to tell."),
        sa.Column("told", sa.JSON(), nullable=False, comment="Names of those who have been told."),
        sa.PrimaryKeyConstraint("flow_run_id", name="pk_run_notices"),
    )
    op.create_index("ix_run_notices_told_at", "run_notices", ["told_at"])
    op.create_table(
        "commit_counts",
        sa.Column(
            "connection", sa.String(36), nullable=False, comment="Drawn for each connection to a server."
        ),
        sa.Column(
            "commit_count", sa.Integer(), nullable=False, comment="Its last transaction that was kept."
        ),
        sa.Column("counted_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("connection", name="pk_commit_counts"),
    )


def downgrade() -> None:
    if not on_side("ledger"):
        return
    op.drop_table("commit_counts")
    op.drop_table("run_notices")
    op.drop_column("flow_runs", "alive_until")
