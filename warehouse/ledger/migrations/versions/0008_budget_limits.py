"""Budgets that were raised after a run was planned, each with its reason."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "budget_limits",
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.String(200), nullable=False),
        sa.Column(
            "limit_usd",
            sa.Float(),
            nullable=False,
            comment="The last of a run counts, in place of the one it was planned with.",
        ),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("set_by", sa.String(120), nullable=False, comment="The account on the host that set it."),
        sa.Column("set_at", sa.String(32), nullable=False),
    )
    op.create_index("ix_budget_limits_run_id", "budget_limits", ["run_id"])


def downgrade() -> None:
    op.drop_table("budget_limits")
