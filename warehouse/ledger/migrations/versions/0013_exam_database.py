"""The exam's database: plans, seeds and keys of draws in tables of their own; embedded, the exam's tables in their own file.

On a server the tables stay where they are, and a role of the exam API is granted the exam's side of them. No foreign key
leads from one side to the other any more. Columns are dropped in place: SQLite copies no rows for that.
"""

import json

import sqlalchemy as sa
from alembic import op

from warehouse.ledger import division, sides

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

# The exam's tables as of this step, each before those that it refers to.
TABLES = (
    "allocations",
    "responses",
    "sessions",
    "set_claims",
    "exposures",
    "sets",
    "set_numbers",
    "runs",
    "web_sessions",
    "ended_tokens",
    "access_heads",
    "access_log",
    "users",
    "organisations",
)
CROSSING = (
    ("annotator_profiles", "user_id", "fk_annotator_profiles_user_id"),
    ("review_assignments", "annotator", "fk_review_assignments_annotator"),
)
PLAN_COMMENT = "Candidates, styles, repeats, disciplines, models as registered."
SEED_COMMENT = "Secret until the run is closed."


def upgrade() -> None:
    if not sides.on_side("ledger"):
        return  # the exam's file begins with this step, which makes it from the ledger
    bind = op.get_bind()
    is_server = bind.dialect.name == "postgresql"
    op.create_table(
        "run_plans",
        sa.Column("run_id", sa.String(80), nullable=False),
        sa.Column("seed", sa.String(80), nullable=False, comment=SEED_COMMENT),
        sa.Column("plan", sa.JSON(), nullable=False, comment=PLAN_COMMENT),
        sa.PrimaryKeyConstraint("run_id", name="pk_run_plans"),
    )
    op.execute("INSERT INTO run_plans (run_id, seed, plan) SELECT run_id, seed, plan FROM runs")
    op.create_table(
        "set_keys",
        sa.Column("set_id", sa.String(100), nullable=False),
        sa.Column(
            "draw_key",
            sa.String(80),
            nullable=False,
            comment="Secret that the set's draw follows from; no run discloses it.",
        ),
        sa.PrimaryKeyConstraint("set_id", name="pk_set_keys"),
    )
    op.execute(
        "INSERT INTO set_keys (set_id, draw_key) SELECT set_id, draw_key FROM set_numbers WHERE draw_key IS NOT NULL"
    )
    op.add_column(
        "sessions",
        sa.Column(
            "is_outside",
            sa.Boolean(),
            nullable=False,
            server_default=sa.false(),
            comment="Sat by the candidate's own client.",
        ),
    )
    for run_id, plan in bind.execute(sa.text("SELECT run_id, plan FROM run_plans")).fetchall():
        outside = (json.loads(plan) if isinstance(plan, str) else plan).get("outside", ())
        for model in outside:
            bind.execute(
                sa.text("UPDATE sessions SET is_outside = :yes WHERE run_id = :run_id AND model = :model"),
                {"yes": True, "run_id": run_id, "model": model},
            )
    for table, column in (("runs", "seed"), ("runs", "plan"), ("set_numbers", "draw_key")):
        op.drop_column(table, column)
    for table, _, name in CROSSING:
        if is_server:
            op.drop_constraint(name, table, type_="foreignkey")
        else:
            with op.batch_alter_table(table) as batch:
                batch.drop_constraint(name, type_="foreignkey")
    if not is_server:
        division.move_out(bind, TABLES, form=revision)


def downgrade() -> None:
    if not sides.on_side("ledger"):
        return
    bind = op.get_bind()
    is_server = bind.dialect.name == "postgresql"
    if not is_server:
        division.move_back(bind, TABLES)
    for table, column, name in CROSSING:
        if is_server:
            op.create_foreign_key(name, table, "users", [column], ["user_id"])
        else:
            with op.batch_alter_table(table) as batch:
                batch.create_foreign_key(name, "users", [column], ["user_id"])
    op.add_column("set_numbers", sa.Column("draw_key", sa.String(80), comment="Secret that its draw follows from; no run discloses it."))
    op.execute(
        "UPDATE set_numbers SET draw_key = (SELECT draw_key FROM set_keys WHERE set_keys.set_id = set_numbers.set_id)"
    )
    op.add_column("runs", sa.Column("seed", sa.String(80), nullable=False, server_default="", comment=SEED_COMMENT))
    op.add_column("runs", sa.Column("plan", sa.JSON(), nullable=False, server_default="{}", comment=PLAN_COMMENT))
    op.execute(
        "UPDATE runs SET seed = (SELECT seed FROM run_plans WHERE run_plans.run_id = runs.run_id), "
        "plan = (SELECT plan FROM run_plans WHERE run_plans.run_id = runs.run_id)"
    )
    op.drop_column("sessions", "is_outside")
    op.drop_table("set_keys")
    op.drop_table("run_plans")
