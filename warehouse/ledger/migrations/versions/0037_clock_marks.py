"""What proves the time: the clock beside the uptime of each host, and leaps that nothing but the clock shows."""

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.sides import on_side

revision = "0037"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not on_side("exam"):
        return
    op.create_table(
        "clock_marks",
        sa.Column(
            "boot_id",
            sa.String(80),
            nullable=False,
            comment="Start of a host that a process of this installation ran on; empty where the host names none.",
        ),
        sa.Column(
            "moment",
            sa.Float,
            nullable=False,
            comment="The clock when it was last looked at, Unix time.",
        ),
        sa.Column(
            "uptime_s", sa.Float, nullable=False, comment="Seconds since that start, at that moment."
        ),
        sa.Column(
            "leap_s",
            sa.Float,
            nullable=False,
            comment="Seconds before that start that nothing but the clock shows; 0 once a person has confirmed them.",
        ),
        sa.Column(
            "found_at", sa.Float, nullable=False, comment="The clock when they were found, Unix time."
        ),
        sa.PrimaryKeyConstraint("boot_id", name="pk_clock_marks"),
    )


def downgrade() -> None:
    if on_side("exam"):
        op.drop_table("clock_marks")
