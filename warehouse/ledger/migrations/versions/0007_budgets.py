"""Budgets of runs, for all processes and hosts of an installation."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "run_budgets",
        sa.Column("run_id", sa.String(200), primary_key=True, comment="The run, or what stands for one."),
        sa.Column("spent_usd", sa.Float(), nullable=False, comment="Unknown bills at the most they could be."),
    )
    op.create_table(
        "budget_shares",
        sa.Column("run_id", sa.String(200), primary_key=True),
        sa.Column("holder", sa.String(40), primary_key=True, comment="Drawn for each process."),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("reserved_usd", sa.Float(), nullable=False, comment="The most that its calls in flight could cost."),
        sa.Column("expires_at", sa.String(32), nullable=False, comment="Renewed by every call."),
    )


def downgrade() -> None:
    op.drop_table("budget_shares")
    op.drop_table("run_budgets")
