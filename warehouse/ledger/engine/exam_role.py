"""The exam API's role on a PostgreSQL server: the exam's side and nothing else."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, text

from schemas.errors import StoreError, UsageError
from warehouse.ledger.engine.sides import EXAM_TABLES, OPEN_ANSWERS

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

_GRANTED: Final = {**EXAM_TABLES, "alembic_version": ("SELECT",), OPEN_ANSWERS: ("SELECT",)}
# What the log says of a closing stays: the role adds entries, and changes none.
_OPEN_ANSWERS: Final = f"""
    CREATE OR REPLACE VIEW {OPEN_ANSWERS} WITH (security_barrier) AS
    SELECT given.session_id, given.seq, given.http_status, given.answer_hash
    FROM access_log AS given
    WHERE NOT EXISTS (
        SELECT FROM access_log AS ended
        WHERE ended.session_id = given.session_id AND ended.action = 'close' AND ended.http_status = 200
    )
"""
_AGAIN: Final = (
    "The ledger's owner runs `proctor exam database --role {role}`, which grants what it needs and no more."
)
_MORE: Final = "is a superuser, makes roles, copies the server, or is a member of another role"
_MOST_NAMED: Final = 5

# Every use that a role can make of a table, or of a column of one, outside the server's own catalogues.
_REACHED: Final = text(
    """
    select c.relname, p.privilege, a.attname, pg_has_role(c.relowner, 'MEMBER') as is_owned
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'REFERENCES', 'DELETE', 'TRUNCATE', 'TRIGGER']) as p(privilege)
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema')
      and has_schema_privilege(n.oid, 'USAGE')
      and case when p.privilege in ('DELETE', 'TRUNCATE', 'TRIGGER') then has_table_privilege(c.oid, p.privilege)
          else has_column_privilege(c.oid, a.attnum, p.privilege) end
    order by c.relname, a.attnum
    """
)
# What gets round the tables' own rights: all of them, making roles, copying the server, and being another role too.
_IS_MORE: Final = """
    (rolsuper or rolcreaterole or rolreplication
     or exists (select from pg_auth_members as m where m.member = pg_roles.oid))
"""
_SERIALS: Final = text(
    """
    select pg_get_serial_sequence(quote_ident(c.relname), a.attname)
    from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.oid = to_regclass(:name) and pg_get_serial_sequence(quote_ident(c.relname), a.attname) is not null
    """
)


@dataclass(frozen=True)
class ExamRole:
    """The role of the exam API.

    Attributes:
        address: SQLAlchemy URL to open the exam's side by; with the password where the role was made now.
        is_new: whether it was made now; the password of one that was there is left as it is.
    """

    name: str
    address: str = field(repr=False)
    is_new: bool


def grant_role(ledger: Ledger, name: str) -> ExamRole:
    """Make the role unless it exists, and give it the exam's side alone; UsageError if unfit."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", name):
        raise UsageError(
            f"{name!r} is no name for a role: up to 63 small letters, digits and underscores, a letter first."
        )
    url = ledger.engine.url.set(username=name, password=None)
    password = None
    with ledger.write() as connection:
        found = connection.execute(
            text(
                f"select {_IS_MORE}, pg_has_role(rolname, current_user, 'MEMBER') from pg_roles where rolname = :name"
            ),
            {"name": name},
        ).first()
        if found is not None and any(found):
            raise UsageError(
                f"The role {name!r} is the ledger's owner, or {_MORE}: it could read everything. Name another; one that does not "
                "exist yet is made."
            )
        if found is None:
            password = secrets.token_urlsafe(24)
            _make_role(connection, name, password)
        _grant(connection, name)
    if password is not None:
        url = url.set(password=password)
    return ExamRole(
        name, url.set(drivername="postgresql").render_as_string(hide_password=False), found is None
    )


def check_role(engine: Engine) -> None:
    """Pass when the present role can use the exam's side of the ledger alone; else StoreError."""
    with engine.connect() as connection:
        role, is_more = connection.execute(
            text(f"select rolname, {_IS_MORE} from pg_roles where rolname = current_user")
        ).one()
        if is_more:
            raise StoreError(
                f"The role {role!r} {_MORE}: it can read answers, keys and seeds. "
                + _AGAIN.format(role="NAME")
            )
        reached = connection.execute(_REACHED).all()
    owned = sorted({str(row.relname) for row in reached if row.is_owned})
    if owned:
        raise StoreError(
            f"The role {role!r} owns tables ({_name_some(owned)}): it can read answers, keys and seeds. "
            + _AGAIN.format(role="NAME")
        )
    granted = {name for name, privileges in _GRANTED.items() if privileges}
    beyond = dict.fromkeys(
        row.relname if row.relname not in granted else f"{row.privilege} of {row.relname}.{row.attname}"
        for row in reached
        if not _is_granted(*row[:3])
    )
    if beyond:
        raise StoreError(
            f"The role {role!r} can use what is not the exam's ({_name_some(list(beyond))}). Revoke that. "
            + _AGAIN.format(role=role)
        )
    held = {(row.relname, row.privilege) for row in reached}
    needed = {(name, one.partition(" ")[0]) for name, given in _GRANTED.items() for one in given}
    missing = sorted({name for name, _ in needed - held})
    if missing:
        raise StoreError(
            f"The role {role!r} cannot use the exam's tables ({_name_some(missing)}). "
            + _AGAIN.format(role=role)
        )


def _is_granted(table: str, privilege: str, column: str) -> bool:
    for given in _GRANTED.get(table, ()):
        word, _, columns = given.rstrip(")").partition(" (")
        if word == privilege and (not columns or column in columns.split(", ")):
            return True
    return False


def _make_role(connection: Connection, name: str, password: str) -> None:
    """The password goes to the server as a hash, so that no log of statements has it."""
    driver: Any = connection.connection.driver_connection
    hashed = driver.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256").decode()
    connection.exec_driver_sql(
        f"CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD '{hashed}'"
    )


def _grant(connection: Connection, name: str) -> None:
    database, schema = connection.execute(text("select current_database(), current_schema()")).one()
    quote = connection.dialect.identifier_preparer.quote
    run = connection.exec_driver_sql
    run(f"REVOKE ALL ON ALL TABLES IN SCHEMA {quote(schema)} FROM {name}")
    run(f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA {quote(schema)} FROM {name}")
    run(f"GRANT CONNECT ON DATABASE {quote(database)} TO {name}")
    run(f"GRANT USAGE ON SCHEMA {quote(schema)} TO {name}")
    run(_OPEN_ANSWERS)
    for table, privileges in _GRANTED.items():
        for privilege in privileges:
            run(f"GRANT {privilege} ON {table} TO {name}")
        if "INSERT" in privileges:
            for sequence in connection.execute(_SERIALS, {"name": table}).scalars().all():
                run(f"GRANT USAGE ON SEQUENCE {sequence} TO {name}")


def _name_some(names: list[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
