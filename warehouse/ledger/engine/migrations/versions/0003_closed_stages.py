"""What closed units of stages were made of."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.engine.sides import on_side

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.create_table(
        "stage_leaves",
        sa.Column("stage", sa.String(40), nullable=False),
        sa.Column("unit", sa.String(200), nullable=False),
        sa.Column(
            "leaves",
            sa.Text(),
            nullable=False,
            comment="A hash of each row's key and one of the row, in order of key, in base64.",
        ),
        sa.PrimaryKeyConstraint("stage", "unit", name="pk_stage_leaves"),
    )
