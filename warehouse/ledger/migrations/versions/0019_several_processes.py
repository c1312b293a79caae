"""Who makes a call, what came of it beyond the reply, and the pace of a provider: for several processes on one run."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0019"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("ledger"):
        return
    op.create_table(
        "process_leases",
        sa.Column("holder", sa.String(40), nullable=False, comment="Drawn for each client of models."),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.String(32), nullable=False, comment="Renewed while the process works."),
        sa.PrimaryKeyConstraint("holder", name="pk_process_leases"),
    )
    op.create_table(
        "provider_paces",
        sa.Column("name", sa.String(300), nullable=False, comment="A provider, or a model with limits of its own."),
        sa.Column("next_at", sa.Float(), nullable=False, comment="Unix time of the first moment that is free."),
        sa.Column("paused_until", sa.Float(), nullable=False, comment="Unix time; nobody sends before it."),
        sa.PrimaryKeyConstraint("name", name="pk_provider_paces"),
    )
    op.add_column("llm_calls", sa.Column("holder", sa.String(40), comment="Who sent it last."))
    op.add_column(
        "llm_calls",
        sa.Column(
            "extra_usd",
            sa.Float(),
            nullable=False,
            server_default="0",
            comment="The most that attempts without a bill, and replies that came second, have cost.",
        ),
    )


def downgrade() -> None:
    if not on_side("ledger"):
        return
    op.drop_column("llm_calls", "extra_usd")
    op.drop_column("llm_calls", "holder")
    op.drop_table("provider_paces")
    op.drop_table("process_leases")
