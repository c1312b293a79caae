"""Sealed draws: the secrets of a run's draw and what was committed to, and the proofs of sets."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.create_table(
        "run_seals",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column(
            "share",
            sa.String(64),
            nullable=False,
            comment="The operator's share of the seed; secret until the run is closed.",
        ),
        sa.Column("plan", sa.Text(), nullable=False, comment="plan.json, which was committed to."),
        sa.Column("exclusions", sa.Text(), nullable=False, comment="exclusions.json, which was committed to."),
        sa.Column(
            "parameters",
            sa.JSON(),
            comment="What it is planned from again when it is drawn; null where it was drawn at once.",
        ),
        sa.PrimaryKeyConstraint("run_id", name="pk_run_seals"),
    )
    op.create_table(
        "set_proofs",
        sa.Column("set_id", sa.String(100), nullable=False),
        sa.Column("drawn_in", sa.String(80), comment="The run that drew it; null for a set older than the public log."),
        sa.Column(
            "items",
            sa.JSON(),
            nullable=False,
            comment="Its items as they are published when a run that sat it is closed.",
        ),
        sa.Column("revisions", sa.JSON(), nullable=False, comment="Question to its revision."),
        sa.PrimaryKeyConstraint("set_id", name="pk_set_proofs"),
    )
    _comment_on_key("Secret that the set's draw follows from, until the run that drew it is closed.")


def downgrade() -> None:
    if not on_side("ledger"):
        return
    _comment_on_key("Secret that the set's draw follows from; no run discloses it.")
    op.drop_table("set_proofs")
    op.drop_table("run_seals")


def _comment_on_key(text: str) -> None:
    # SQLite keeps no comments.
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("set_keys", "draw_key", comment=text)
