"""Claims on paid work, for all processes and hosts of an installation."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "work_claims",
        sa.Column("kind", sa.String(40), primary_key=True, comment="Kind of work: judge, drift, errors, contamination."),
        sa.Column("name", sa.String(300), primary_key=True, comment="Which: a run, a sample."),
        sa.Column("holder", sa.String(40), nullable=False, comment="Drawn anew for each claim."),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process_id", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.String(32), nullable=False, comment="Renewed while the work goes on."),
    )


def downgrade() -> None:
    op.drop_table("work_claims")
