"""Fair plans: organisations by normal form, named repetitions, anchors, keys of draws, and what a sitting depends on.

Organisations whose names differ in letter case, width, spaces or punctuation become one, under the name registered
first; what either met, both have met. Sittings of a reference count as met by its organisation from now on, the earlier
ones included. Columns are added and dropped in place: SQLite copies no rows for that.
"""

import hashlib
import json
import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

PREFIX = "sim:"
KEYED = ("users", "sessions")
ORGANISATION_COMMENT = "Its name in normal form (`sim:` before a simulated one). Locked in order before sets are claimed."
NAME_COMMENT = "As it was first registered: what people read."


def upgrade() -> None:
    is_server = op.get_bind().dialect.name == "postgresql"
    op.add_column("organisations", sa.Column("name", sa.String(120), nullable=False, server_default="", comment=NAME_COMMENT))
    op.add_column("organisations", sa.Column("same_as", sa.String(120), comment="The organisation that this is another name of; null for itself."))
    op.add_column("runs", sa.Column("bridged_reference", sa.String(120), comment="The former reference that sits this run too."))
    op.add_column("runs", sa.Column("repetition", sa.String(80), nullable=False, server_default="", comment="Name of a further run of the month; empty for the month's own."))
    op.add_column("set_numbers", sa.Column("set_group", sa.Integer(), nullable=False, server_default="1", comment="Group of organisations that may share it, from 1."))
    op.add_column("set_numbers", sa.Column("draw_key", sa.String(80), comment="Secret that its draw follows from; no run discloses it."))
    op.add_column("sets", sa.Column("is_anchor", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("set_claims", sa.Column("is_reference", sa.Boolean(), nullable=False, server_default=sa.false(), comment="Met in sittings of the reference only."))
    op.add_column("sessions", sa.Column("fingerprint", sa.Text(), comment="What its answers depend on besides the questions, as JSON of short hashes."))
    # An organisation claims a set for all that its candidates sit in a run: no longer for one of them.
    op.drop_column("set_claims", "model")
    op.drop_column("set_claims", "repeat")
    if is_server:
        op.alter_column("organisations", "organisation", comment=ORGANISATION_COMMENT, existing_type=sa.String(120))
    _name_runs()
    _merge_organisations()
    _count_reference_sittings()
    _describe_sittings()
    op.create_index("uq_runs_month_repetition", "runs", ["month", "is_simulated", "repetition"], unique=True)


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("organisations", "organisation", comment="Locked in order before sets are claimed.", existing_type=sa.String(120))
    op.drop_index("uq_runs_month_repetition", table_name="runs")
    op.add_column("set_claims", sa.Column("model", sa.String(120), nullable=False, server_default=""))
    op.add_column("set_claims", sa.Column("repeat", sa.Integer(), nullable=False, server_default="1"))
    for table, columns in (
        ("sessions", ("fingerprint",)),
        ("set_claims", ("is_reference",)),
        ("sets", ("is_anchor",)),
        ("set_numbers", ("draw_key", "set_group")),
        ("runs", ("repetition", "bridged_reference")),
        ("organisations", ("same_as", "name")),
    ):
        for column in columns:
            op.drop_column(table, column)


def _name_runs() -> None:
    """The month's own run has the month as its id; every other is a repetition under its own name."""
    bind = op.get_bind()
    for run_id, month, is_simulated, plan in bind.execute(sa.text("SELECT run_id, month, is_simulated, plan FROM runs")).fetchall():
        first = f"sim-{month}" if is_simulated else month
        repetition = "" if run_id == first else str(run_id).removeprefix(f"{first}-")
        found = json.loads(plan) if isinstance(plan, str) else plan
        bind.execute(
            sa.text("UPDATE runs SET repetition = :repetition, bridged_reference = :bridged WHERE run_id = :run_id"),
            {"run_id": run_id, "repetition": repetition, "bridged": found.get("bridged_reference")},
        )


def _merge_organisations() -> None:
    bind = op.get_bind()
    names = {}
    query = "SELECT organisation, question_limit, created_at FROM organisations ORDER BY created_at, organisation"
    known = {row[0]: (row[1], row[2]) for row in bind.execute(sa.text(query)).fetchall()}
    for table in ("users", "sessions", "exposures", "set_claims"):
        for (name,) in bind.execute(sa.text(f"SELECT DISTINCT organisation FROM {table} WHERE organisation IS NOT NULL")).fetchall():
            known.setdefault(name, (None, "9999"))
    for name, (limit, created_at) in sorted(known.items(), key=lambda item: (item[1][1], item[0])):
        names.setdefault(_make_key(name), []).append((name, limit, created_at))
    for key, spellings in names.items():
        for name, _, _ in spellings:
            if name != key:
                _rename(bind, name, key)
        limits = [limit for _, limit, _ in spellings if limit is not None]
        bind.execute(sa.text("DELETE FROM organisations WHERE organisation = :key"), {"key": key})
        for name, _, _ in spellings:
            bind.execute(sa.text("DELETE FROM organisations WHERE organisation = :name"), {"name": name})
        bind.execute(
            sa.text("INSERT INTO organisations (organisation, name, question_limit, created_at) VALUES (:key, :name, :limit, :at)"),
            {
                "key": key,
                "name": spellings[0][0].removeprefix(PREFIX),
                # Several limits of one organisation: the strictest holds.
                "limit": min(limits) if limits else None,
                "at": spellings[0][2] if spellings[0][2] != "9999" else "1970-01-01T00:00:00.000000+00:00",
            },
        )


def _rename(bind, name: str, key: str) -> None:
    values = {"name": name, "key": key}
    for table in KEYED:
        bind.execute(sa.text(f"UPDATE {table} SET organisation = :key WHERE organisation = :name"), values)
    for table, column, at in (("exposures", "lineage_uuid", "exposed_at"), ("set_claims", "set_id", "claimed_at")):
        # Met under both names: the later meeting stays, from which a rest period counts.
        for stale, kept in ((":name", ":key"), (":key", ":name")):
            bind.execute(
                sa.text(
                    f"DELETE FROM {table} WHERE organisation = {stale} AND EXISTS (SELECT 1 FROM {table} AS other "
                    f"WHERE other.organisation = {kept} AND other.{column} = {table}.{column} AND other.{at} >= {table}.{at})"
                ),
                values,
            )
        bind.execute(sa.text(f"UPDATE {table} SET organisation = :key WHERE organisation = :name"), values)


def _count_reference_sittings() -> None:
    bind = op.get_bind()
    bind.execute(
        sa.text(
            "INSERT INTO set_claims (organisation, set_id, run_id, is_reference, claimed_at) "
            "SELECT s.organisation, s.set_id, min(s.run_id), :yes, min(r.planned_at) FROM sessions AS s "
            "JOIN runs AS r ON r.run_id = s.run_id WHERE s.is_reference = :yes "
            "GROUP BY s.organisation, s.set_id ON CONFLICT DO NOTHING"
        ),
        {"yes": True},
    )
    bind.execute(
        sa.text(
            "INSERT INTO exposures (organisation, lineage_uuid, set_id, exposed_at) "
            "SELECT c.organisation, i.lineage_uuid, min(c.set_id), max(c.claimed_at) FROM set_claims AS c "
            "JOIN sets AS i ON i.set_id = c.set_id WHERE c.is_reference = :yes "
            "GROUP BY c.organisation, i.lineage_uuid ON CONFLICT DO NOTHING"
        ),
        {"yes": True},
    )


def _describe_sittings() -> None:
    """What is known of earlier sittings: the endpoint's model, mode and parameters as they were registered then."""
    bind = op.get_bind()
    for run_id, plan in bind.execute(sa.text("SELECT run_id, plan FROM runs")).fetchall():
        found = json.loads(plan) if isinstance(plan, str) else plan
        for name, model in found.get("models", {}).items():
            known = {
                "endpoint_model": model.get("endpoint_model"),
                "mode": model.get("mode"),
                "parameters": _hash(model.get("parameters", {})),
            }
            bind.execute(
                sa.text("UPDATE sessions SET fingerprint = :fingerprint WHERE run_id = :run_id AND model = :model"),
                {"run_id": run_id, "model": name, "fingerprint": json.dumps(known, sort_keys=True)},
            )


def _make_key(name: str) -> str:
    prefix = PREFIX if name.startswith(PREFIX) else ""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name.removeprefix(PREFIX)).casefold())
    return prefix + ("".join(c for c in text if unicodedata.category(c)[0] not in ("Z", "P", "C")) or name)


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
