"""Tokens that were ended before their time."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ended_tokens",
        sa.Column("kind", sa.String(5), nullable=False, comment="token: one; user: all that a user had."),
        sa.Column("name", sa.String(120), nullable=False, comment="Id of the token (`jti`), or the user."),
        sa.Column(
            "issued_until",
            sa.Float(),
            nullable=False,
            comment="Unix time; a user's tokens that were issued until then are ended.",
        ),
        sa.Column("ended_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("kind", "name", name="pk_ended_tokens"),
        sa.CheckConstraint("kind in ('token','user')", name="kind"),
    )


def downgrade() -> None:
    op.drop_table("ended_tokens")
