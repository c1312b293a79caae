"""What the ledger's two sides say of each other, as no foreign key joins the files."""

from __future__ import annotations

from sqlalchemy import Connection, select

from warehouse.ledger.engine.tables import annotator_profiles, review_assignments, run_plans, runs, users


def find_strays(connection: Connection) -> list[str]:
    """What one side names and the other lacks, as sentences; plans of killed planners are none."""
    without_plan = (
        select(runs.c.run_id).where(runs.c.run_id.not_in(select(run_plans.c.run_id))).order_by(runs.c.run_id)
    )
    known = select(users.c.user_id)
    nobody = (
        select(annotator_profiles.c.user_id)
        .where(annotator_profiles.c.user_id.not_in(known))
        .union(select(review_assignments.c.annotator).where(review_assignments.c.annotator.not_in(known)))
        .order_by("user_id")
    )
    return [
        *(f"run {name} has no plan" for name in connection.execute(without_plan).scalars()),
        *(f"annotator {name} is no user" for name in connection.execute(nobody).scalars()),
    ]


def measure_size(connection: Connection) -> int:
    """Bytes of the ledger and of the exam's side of it; on a server those of the whole database."""
    if connection.dialect.name != "sqlite":
        return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())
    names = [str(row[1]) for row in connection.exec_driver_sql("PRAGMA database_list").all()]
    total = 0
    for name in names:
        pages = connection.exec_driver_sql(f'PRAGMA "{name}".page_count').scalar_one()
        total += int(pages) * int(connection.exec_driver_sql(f'PRAGMA "{name}".page_size').scalar_one())
    return total
