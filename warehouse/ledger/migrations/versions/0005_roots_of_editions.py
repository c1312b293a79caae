"""The roots of published editions."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "edition_roots",
        sa.Column("edition_id", sa.Text(), primary_key=True),
        sa.Column(
            "root_hash",
            sa.Text(),
            nullable=False,
            comment="SHA-256 over every frozen row; kept once, never changed.",
        ),
        sa.Column("kept_at", sa.Text(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("edition_roots")
