"""Jobs that wait or are held, in place of claims on work."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.engine.sides import on_side

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.create_table(
        "jobs",
        sa.Column(
            "kind",
            sa.String(40),
            nullable=False,
            comment="Kind of work: sit, judge, document, drift, errors, contamination.",
        ),
        sa.Column(
            "name",
            sa.String(300),
            nullable=False,
            comment="Which: a session, a judge's part of one, a run, a sample.",
        ),
        sa.Column(
            "run_id",
            sa.String(80),
            nullable=True,
            comment="The run that any worker may help with; null for work of one process.",
        ),
        sa.Column(
            "lane",
            sa.String(200),
            nullable=False,
            comment="Whom it asks: a provider, a judge. It is taken where there is room for it.",
        ),
        sa.Column("place", sa.Integer(), nullable=False, comment="The lowest is taken first."),
        sa.Column("tries", sa.Integer(), nullable=False, comment="Tries that failed."),
        sa.Column(
            "problem",
            sa.Text(),
            nullable=True,
            comment="Why the last try failed; null before one has.",
        ),
        sa.Column(
            "details",
            sa.JSON(),
            nullable=True,
            comment="What it is begun with by another process; null for nothing.",
        ),
        sa.Column(
            "deferred_by",
            sa.String(120),
            nullable=False,
            comment="The worker whose run put it here; empty for a command.",
        ),
        sa.Column("holder", sa.String(40), nullable=True, comment="Drawn by who holds it; null while it waits."),
        sa.Column("host", sa.String(255), nullable=True),
        sa.Column("process_id", sa.Integer(), nullable=True),
        sa.Column(
            "expires_at", sa.String(32), nullable=True, comment="End of the lease; null while it waits."
        ),
        sa.PrimaryKeyConstraint("kind", "name", name="pk_jobs"),
    )
    op.create_index("ix_jobs_run", "jobs", ["kind", "run_id", "lane", "tries", "place"])
    # Whoever held a claim of an earlier release has ended: nothing is lost with them.
    op.drop_table("work_claims")


def downgrade() -> None:
    raise NotImplementedError("a ledger does not go back to an earlier form: restore a backup")
