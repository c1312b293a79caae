"""The public log: every line of it as it stands in the file, and its head."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("exam"):
        return
    op.create_table(
        "public_log",
        sa.Column(
            "number", sa.Integer(), autoincrement=False, nullable=False, comment="Line of the file, from 1."
        ),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("run_id", sa.String(80), comment="The run that the entry is about; null for none."),
        sa.Column("line", sa.Text(), nullable=False, comment="The line to the byte, without its newline."),
        sa.Column("line_hash", sa.String(64), nullable=False, comment="SHA-256 of the line."),
        sa.Column(
            "ends_at", sa.BigInteger(), nullable=False, comment="Bytes of the file up to the end of the line."
        ),
        sa.PrimaryKeyConstraint("number", name="pk_public_log"),
    )
    op.create_index("ix_public_log_run", "public_log", ["run_id", "kind"])
    op.create_index("ix_public_log_ends_at", "public_log", ["ends_at"])
    head = op.create_table(
        "public_head",
        sa.Column("chain", sa.Integer(), nullable=False, comment="Always 1: there is one row."),
        sa.Column("number", sa.Integer(), nullable=False, comment="Number of the last line, 0 for none."),
        sa.Column("line_hash", sa.String(64), nullable=False, comment="Hash of the last line."),
        sa.Column(
            "ends_at", sa.BigInteger(), nullable=False, comment="Bytes of all lines with their newlines."
        ),
        sa.PrimaryKeyConstraint("chain", name="pk_public_head"),
    )
    op.bulk_insert(head, [{"chain": 1, "number": 0, "line_hash": "0" * 64, "ends_at": 0}])


def downgrade() -> None:
    if not on_side("exam"):
        return
    op.drop_table("public_head")
    op.drop_table("public_log")
