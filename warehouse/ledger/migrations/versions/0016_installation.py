"""The installation that the ledger belongs to, and the number of its last commit."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0016"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if on_side("ledger"):
        _create("installation")
    if on_side("exam"):
        _create("exam_installation")


def downgrade() -> None:
    if on_side("ledger"):
        op.drop_table("installation")
    if on_side("exam"):
        op.drop_table("exam_installation")


def _create(name: str) -> None:
    op.create_table(
        name,
        sa.Column("number", sa.Integer(), nullable=False, comment="Always 1: there is one row."),
        sa.Column(
            "installation_id",
            sa.String(36),
            nullable=False,
            comment="The same in the home's secrets and in the lake's catalog.",
        ),
        sa.Column("given_at", sa.String(32), nullable=False),
        sa.Column(
            "commit_count",
            sa.Integer(),
            nullable=False,
            comment="Commits of an embedded ledger since then; a file that knows fewer than its mark has lost some.",
        ),
        sa.PrimaryKeyConstraint("number", name=f"pk_{name}"),
        sa.CheckConstraint("number = 1", name="number"),
    )
