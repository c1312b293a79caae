"""Parts of closed runs whose rows are in the lake."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.engine.sides import on_side

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.create_table(
        "run_archives",
        sa.Column(
            "unit",
            sa.String(100),
            nullable=False,
            comment="Its landing in `archived_rows`: the run, and the number of the part.",
        ),
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("session_ids", sa.JSON(), nullable=False, comment="Whose rows they are."),
        sa.Column(
            "rows_hash", sa.String(64), nullable=False, comment="Hash over the rows as they lie in the lake."
        ),
        sa.Column("row_counts", sa.JSON(), nullable=False, comment="Table to how many of its rows."),
        sa.Column(
            "sums",
            sa.JSON(),
            nullable=False,
            comment="What is asked of the rows without reading them: answers, calls and their cost, pages.",
        ),
        sa.Column("archived_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("unit", name="pk_run_archives"),
    )
    op.create_index("ix_run_archives_run", "run_archives", ["run_id"])
