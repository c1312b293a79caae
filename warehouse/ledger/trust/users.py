"""Users: people with a role, and candidates with the organisation that owns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from schemas.errors import UsageError, suggest
from schemas.vocabulary import ROLES
from warehouse.ledger.engine.leases.clock import read_lease_time
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.tables import users
from warehouse.ledger.exam.tokens import end_user_tokens
from warehouse.ledger.trust.organisations import find_organisation, read_aliases
from warehouse.ledger.trust.seals import seal_user
from warehouse.ledger.trust.web_sessions import delete_sessions


@dataclass(frozen=True)
class User:
    """One user as stored, without the password hash.

    Attributes:
        user_id: the name used everywhere.
        role: one of `schemas.vocabulary.ROLES`; it decides what a token may do.
        organisation: key of the candidate's owner (`organisations.make_key`); null for people.
        model: registry name of the candidate; null for people.
        disciplines: what an annotator reviews; null means all, and an empty list that nothing is given to them.
        question_limit: most questions a candidate may be handed; null means no limit.
        is_active: an inactive user is refused everywhere.
    """

    user_id: str
    role: str
    organisation: str | None
    model: str | None
    disciplines: list[str] | None
    question_limit: int | None
    is_active: bool
    created_at: str


_PUBLIC = tuple(column for column in users.c if column.name not in ("password_hash", "public_key"))


def add_user(
    connection: Connection,
    *,
    user_id: str,
    role: str,
    organisation: str | None = None,
    model: str | None = None,
    disciplines: Sequence[str] | None = None,
    question_limit: int | None = None,
    password_hash: str | None = None,
) -> User:
    """Add a user; UsageError for an unknown role or organisation, or a name that cannot be."""
    if not 1 <= len(user_id) <= 120 or not user_id.isprintable() or user_id.strip() != user_id:
        raise UsageError(
            f"{user_id[:120]!r} is no name of a user: 1 to 120 letters that can be seen, no space before or after them. Choose another."
        )
    if role not in ROLES:
        raise UsageError(f"Role {role!r} is unknown.{suggest(role, ROLES)} Roles are {', '.join(ROLES)}.")
    if read_user(connection, user_id) is not None:
        raise UsageError(f"There is already a user {user_id!r}. Choose another name, or change that user.")
    alike = select(users.c.user_id).where(func.lower(users.c.user_id) == user_id.lower())
    if (known := connection.execute(alike).scalar()) is not None:
        raise UsageError(
            f"There is already a user {known!r}, and {user_id!r} would be taken for them. Choose another name."
        )
    connection.execute(
        users.insert().values(
            user_id=user_id,
            role=role,
            organisation=None if organisation is None else find_organisation(connection, organisation),
            model=model,
            disciplines=None if disciplines is None else list(disciplines),
            question_limit=question_limit,
            password_hash=password_hash,
            is_active=True,
            created_at=now_text(),
        )
    )
    seal_user(connection, user_id, "add_user")
    user = read_user(connection, user_id)
    assert user is not None
    return user


def ensure_candidate(connection: Connection, *, user_id: str, organisation: str, model: str) -> None:
    """Add a candidate user unless it exists; UsageError for a name that is somebody else's."""
    found = read_user(connection, user_id)
    if found is None:
        connection.execute(
            users.insert().values(
                user_id=user_id,
                role="candidate",
                organisation=organisation,
                model=model,
                is_active=True,
                created_at=now_text(),
            )
        )
        seal_user(connection, user_id, "add_user")
        return
    owner = read_aliases(connection).get(found.organisation or "", found.organisation)
    if (found.role, owner, found.model) != ("candidate", organisation, model):
        raise UsageError(
            f"User {user_id!r} is not the candidate {model!r} of {organisation!r}: it is registered as "
            f"{found.role} {found.model!r} of {found.organisation!r}. Register the model under another name."
        )
    if found.organisation != organisation:
        _change(connection, "move_user", user_id, organisation=organisation)


def read_user(connection: Connection, user_id: str) -> User | None:
    """The user of that name; null when there is none."""
    row = connection.execute(select(*_PUBLIC).where(users.c.user_id == user_id)).first()
    return None if row is None else User(**row._mapping)


def check_may_take(connection: Connection, user_id: str, what: str, roles: Sequence[str]) -> None:
    """Pass for an admitted user of one of these roles; UsageError for any other, and for nobody."""
    if not user_id:
        raise UsageError(
            f"{what.capitalize()} leave for a named user only: give --as with a user who is {' or '.join(roles)} "
            "(`proctor exam user list`)."
        )
    user = read_user(connection, user_id)
    if user is None or not user.is_active or user.role not in roles:
        found = "is not there" if user is None else f"is {user.role}" if user.is_active else "is shut out"
        raise UsageError(
            f"User {user_id!r} {found}: {what} leave for {' and '.join(roles)} only. Name another with --as."
        )


def read_password_hash(connection: Connection, user_id: str, *, is_held: bool = False) -> str | None:
    """The hash of an active user's password, or null; `is_held`: nobody changes it meanwhile."""
    query = select(users.c.password_hash).where(users.c.user_id == user_id, users.c.is_active.is_(True))
    return connection.execute(query.with_for_update(read=True) if is_held else query).scalar()


def read_question_limit(connection: Connection, user_id: str) -> int | None:
    """The most questions that a candidate may be handed; null for no limit."""
    return connection.execute(select(users.c.question_limit).where(users.c.user_id == user_id)).scalar()


def list_users(
    connection: Connection, role: str | None = None, *, after: str | None = None, limit: int | None = None
) -> list[User]:
    """Users by name, all or of a role: `limit` of them, whose names follow `after`."""
    query = select(*_PUBLIC).order_by(users.c.user_id).limit(limit)
    if role is not None:
        query = query.where(users.c.role == role)
    if after is not None:
        query = query.where(users.c.user_id > after)
    return [User(**row._mapping) for row in connection.execute(query)]


def write_password_hash(connection: Connection, user_id: str, password_hash: str | None) -> None:
    """Set or clear a password, which ends web sessions and tokens; UsageError if unknown."""
    _change(connection, "set_password", user_id, password_hash=password_hash)
    delete_sessions(connection, user_id)
    end_user_tokens(connection, user_id, read_lease_time(connection))


def write_activity(connection: Connection, user_id: str, *, is_active: bool) -> None:
    """Admit or shut out a user, whose tokens and sessions end for good; UsageError if unknown."""
    _change(connection, "admit_user" if is_active else "shut_out_user", user_id, is_active=is_active)
    if not is_active:
        delete_sessions(connection, user_id)
        end_user_tokens(connection, user_id, read_lease_time(connection))


def write_role(
    connection: Connection, user_id: str, role: str, *, disciplines: Sequence[str] | None = None
) -> None:
    """Give a person another role and disciplines; tokens end. UsageError for a candidate."""
    if role not in ROLES:
        raise UsageError(f"Role {role!r} is unknown.{suggest(role, ROLES)} Roles are {', '.join(ROLES)}.")
    user = read_user(connection, user_id)
    if "candidate" in (role, None if user is None else user.role):
        raise UsageError(
            "A candidate stays a candidate, and nobody else becomes one: add a user with another name."
        )
    reviewed = None if user is None else user.disciplines or None
    reviewed = reviewed if disciplines is None else list(disciplines)
    _change(connection, "change_role", user_id, role=role, disciplines=reviewed)
    delete_sessions(connection, user_id)
    end_user_tokens(connection, user_id, read_lease_time(connection))


def write_user_limit(connection: Connection, user_id: str, question_limit: int | None) -> None:
    """Limit the questions that a candidate may be handed; raises UsageError for an unknown user."""
    _change(connection, "limit_user", user_id, question_limit=question_limit)


def read_public_key(connection: Connection, user_id: str) -> str | None:
    """The key that a candidate signs its answers with (Ed25519, base64); null for none."""
    return connection.execute(select(users.c.public_key).where(users.c.user_id == user_id)).scalar()


def write_public_key(connection: Connection, user_id: str, public_key: str | None) -> None:
    """Set or remove the key of a candidate's answers; UsageError unless it is a candidate."""
    user = read_user(connection, user_id)
    if user is None or user.role != "candidate":
        raise UsageError(
            f"There is no candidate {user_id!r}. `proctor exam user list` shows those that exist."
        )
    action = "remove_key" if public_key is None else "enrol_key"
    _change(connection, action, user_id, public_key=public_key)


def _change(connection: Connection, action: str, user_id: str, **values: object) -> None:
    if connection.execute(update(users).where(users.c.user_id == user_id).values(**values)).rowcount == 0:
        raise UsageError(f"There is no user {user_id!r}. `proctor exam user list` shows those that exist.")
    seal_user(connection, user_id, action)
