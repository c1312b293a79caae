"""Runs of flows, and the times at which schedules want them."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0030"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.create_table(
        "flow_runs",
        sa.Column(
            "flow_run_id", sa.String(36), nullable=False, comment="Prefect's, or drawn where there is no server."
        ),
        sa.Column("flow", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False, comment="What it is for: `monthly-2026-12`."),
        sa.Column("deployment", sa.String(80), comment="What started it; null for a command."),
        sa.Column("started_by", sa.String(10), nullable=False),
        sa.Column("due_at", sa.String(32), comment="When its schedule wanted it; null where no schedule did."),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("counts", sa.JSON(), comment="Ids and counts of what it came to."),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.String(32), nullable=False),
        sa.Column("ended_at", sa.String(32)),
        sa.CheckConstraint(
            "started_by in ('schedule','event','person','command')", name=op.f("ck_flow_runs_started_by")
        ),
        sa.CheckConstraint(
            "state in ('running','completed','failed','crashed','cancelled')", name=op.f("ck_flow_runs_state")
        ),
        sa.PrimaryKeyConstraint("flow_run_id", name="pk_flow_runs"),
    )
    op.create_index("ix_flow_runs_started_at", "flow_runs", ["started_at"])
    op.create_index("ix_flow_runs_deployment", "flow_runs", ["deployment", "started_at"])
    op.create_table(
        "flow_schedules",
        sa.Column("deployment", sa.String(80), nullable=False),
        sa.Column("flow", sa.String(40), nullable=False),
        sa.Column("cron", sa.String(80), nullable=False),
        sa.Column("timezone", sa.String(60), nullable=False),
        sa.Column(
            "deployed_at",
            sa.String(32),
            nullable=False,
            comment="Since when it has had this time; nothing was due before.",
        ),
        sa.PrimaryKeyConstraint("deployment", name="pk_flow_schedules"),
    )


def downgrade() -> None:
    if not on_side("ledger"):
        return
    op.drop_table("flow_schedules")
    op.drop_table("flow_runs")
