"""Marks that people give on the web: stars, classes of failures, verdicts on a league's questions."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "desk_marks",
        sa.Column("kind", sa.String(20), nullable=False, comment="rating, label or league."),
        sa.Column("work", sa.String(200), nullable=False, comment="The round, the sample, or the league."),
        sa.Column("person", sa.String(120), nullable=False),
        sa.Column("item_key", sa.String(32), nullable=False, comment="What is marked; it tells nothing."),
        sa.Column("mark", sa.String(60), nullable=False),
        sa.Column("note", sa.Text()),
        sa.Column("given_at", sa.String(32), nullable=False),
        sa.Column("landed_at", sa.String(32), comment="Null until the mark is in the lake."),
        sa.PrimaryKeyConstraint("kind", "work", "person", "item_key", name="pk_desk_marks"),
    )
    op.create_index("ix_desk_marks_landed", "desk_marks", ["landed_at"])


def downgrade() -> None:
    op.drop_index("ix_desk_marks_landed", table_name="desk_marks")
    op.drop_table("desk_marks")
