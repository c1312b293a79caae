"""One chain over the whole audit log, signed heads, and keys that candidates sign their answers with.

The chains of sessions stay as they are, without numbers; the first entry of the one chain holds their heads.
"""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

ADDED = (
    sa.Column(
        "number",
        sa.Integer(),
        comment="Place in the one chain; null in the chains of sessions that were before.",
    ),
    sa.Column("target", sa.String(240), comment="Whom or what it was done to."),
    sa.Column("address", sa.String(64), comment="Where the caller is; null for this machine."),
    sa.Column("seq", sa.Integer(), comment="Position of the question."),
    sa.Column("answer_hash", sa.String(64), comment="SHA-256 of the answer's text."),
    sa.Column("digest", sa.String(64), comment="SHA-256 of what else the entry fixes."),
)
TARGETED = sa.text("target is not null and seq is null")


def upgrade() -> None:
    if not on_side("exam"):
        return
    for column in ADDED:
        op.add_column("access_log", column)
    op.drop_index("ix_access_log_accessed_at", table_name="access_log")
    op.create_index("uq_access_log_number", "access_log", ["number"], unique=True)
    op.create_index(
        "ix_access_log_target",
        "access_log",
        ["action", "target"],
        sqlite_where=TARGETED,
        postgresql_where=TARGETED,
    )
    op.add_column(
        "users",
        sa.Column(
            "public_key",
            sa.String(44),
            comment="Ed25519 key that the candidate signs its answers with, in base64.",
        ),
    )
    op.add_column(
        "responses",
        sa.Column("signature", sa.String(88), comment="The candidate's, where it has enrolled a key."),
    )
    chain = op.create_table(
        "access_chain",
        sa.Column("chain", sa.Integer(), nullable=False, comment="Always 1: there is one row."),
        sa.Column("number", sa.Integer(), nullable=False, comment="Number of the last entry, 0 for none."),
        sa.Column("entry_hash", sa.String(64), nullable=False, comment="Hash of the last entry."),
        sa.PrimaryKeyConstraint("chain", name="pk_access_chain"),
    )
    op.bulk_insert(chain, [{"chain": 1, "number": 0, "entry_hash": "0" * 64}])
    op.create_table(
        "log_keys",
        sa.Column(
            "key_id",
            sa.String(16),
            nullable=False,
            comment="First half of the SHA-256 of the public key.",
        ),
        sa.Column(
            "public_key",
            sa.String(44),
            nullable=False,
            comment="Ed25519, 32 bytes in base64.",
        ),
        sa.Column("place", sa.String(240), nullable=False, comment="Host and home whose key it is."),
        sa.Column("added_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("key_id", name="pk_log_keys"),
    )
    op.create_table(
        "signed_heads",
        sa.Column(
            "number", sa.Integer(), nullable=False, comment="Number of the entry that was the last one."
        ),
        sa.Column("entry_hash", sa.String(64), nullable=False),
        sa.Column("key_id", sa.String(16), nullable=False),
        sa.Column("signed_at", sa.String(32), nullable=False),
        sa.Column("signature", sa.String(88), nullable=False, comment="Ed25519, in base64."),
        sa.PrimaryKeyConstraint("number", name="pk_signed_heads"),
        sa.ForeignKeyConstraint(
            ["key_id"], ["log_keys.key_id"], name="fk_signed_heads_key_id_log_keys"
        ),
    )


def downgrade() -> None:
    if not on_side("exam"):
        return
    op.drop_table("signed_heads")
    op.drop_table("log_keys")
    op.drop_table("access_chain")
    op.drop_column("responses", "signature")
    op.drop_column("users", "public_key")
    op.drop_index("ix_access_log_target", table_name="access_log")
    op.drop_index("uq_access_log_number", table_name="access_log")
    op.create_index("ix_access_log_accessed_at", "access_log", ["accessed_at"], unique=False)
    for column in reversed(ADDED):
        op.drop_column("access_log", column.name)
