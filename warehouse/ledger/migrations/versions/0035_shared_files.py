"""Fingerprints of what the hosts of an installation share: keys, registry, archive."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("exam"):
        return
    op.create_table(
        "shared_files",
        sa.Column(
            "name", sa.String(40), nullable=False, comment="`exam-keys.json`, `models.yaml`, `archive` …"
        ),
        sa.Column(
            "fingerprint",
            sa.String(64),
            nullable=False,
            comment="Digest keyed with the content itself: nobody comes from it to a key.",
        ),
        sa.Column("host", sa.String(255), nullable=False, comment="Where it was noted or accepted last."),
        sa.Column("noted_at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_shared_files"),
    )


def downgrade() -> None:
    if on_side("exam"):
        op.drop_table("shared_files")
