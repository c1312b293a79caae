"""Around the exam: tokens, users, runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Annotated, TypeVar

from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import SecretStr

from deployments.auth import PasswordDoor, find_weakness, hash_password
from deployments.exam_api import bodies
from deployments.exam_api.caller import MOST_PER_PAGE, Exam, Limit, Store, Token, acting_as, cut_page
from deployments.exam_api.refusals import note_refusal
from deployments.exam_api.strangers import note_attempt
from schemas.errors import ExamError, UsageError
from schemas.ledger.exam import Run
from schemas.settings import Settings
from tasks.exam.log.signing import LogSigner, read_public_key
from tasks.exam.protocol import ExamProtocol
from tasks.exam.protocol.tokens import PERMISSIONS, KeyFile, issue_token
from warehouse.ledger.engine.leases.clock import read_lease_time
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.exam import sittings
from warehouse.ledger.trust import users

T = TypeVar("T")


@dataclass(frozen=True)
class _Wanted:
    """A token that is asked for.

    Attributes:
        user_id: whose it is to be.
        session_id: the session that it is for; null for none.
        role: the role that the user must have; null for any.
        checked_hash: that of the password that was shown; null where none was.
        issued_by: the examiner who asks for it; null where the user does.
    """

    user_id: str
    session_id: str | None
    role: str | None = None
    checked_hash: str | None = None
    issued_by: str | None = None


def add_administration_routes(app: FastAPI, settings: Settings) -> None:
    """Add what examiners and admins may ask, and the way to a token."""

    @app.post("/token")
    async def ask_token(
        request: Request, body: bodies.TokenRequest, protocol: Exam, ledger: Store
    ) -> bodies.Token:
        """A token for a user's name and password.

        A candidate names the session that it is for, if any.
        """
        stored = await _check_password(request, "token", body.user_id, body.password, ledger)
        async with _noting_refusal(protocol, "token", body.user_id):
            token = await run_in_threadpool(
                _issue,
                ledger,
                settings,
                request.app.state.keys,
                _Wanted(body.user_id, body.session_id, checked_hash=stored),
            )
        await note_attempt(protocol, "token", body.user_id, body.session_id, 200, None, token.token_id)
        return token

    @app.post("/users/{user_id:path}/key", status_code=201)
    async def enrol_key(
        request: Request, user_id: bodies.Name, body: bodies.KeyRequest, protocol: Exam, ledger: Store
    ) -> bodies.EnrolledKey:
        """Enrol a candidate's key, once, with its password: from then on its answers must be signed."""
        stored = await _check_password(request, "enrol_key", user_id, body.password, ledger)
        acting_as(user_id)
        async with _noting_refusal(protocol, "enrol_key", user_id):
            public_key = await run_in_threadpool(_enrol, ledger, user_id, body.public_key, stored)
        return bodies.EnrolledKey(user_id=user_id, public_key=public_key)

    @app.get("/log/key")
    async def read_log_key(request: Request) -> bodies.LogKeyBody:
        """The key that receipts are signed with; ask for it before the exam, and keep it."""
        signer: LogSigner = request.app.state.heads.signer
        return bodies.LogKeyBody(key_id=signer.key_id, public_key=signer.public_key)

    @app.post("/users/{user_id:path}/tokens")
    async def issue_candidate_token(
        request: Request,
        user_id: bodies.Name,
        body: bodies.IssueRequest,
        token: Token,
        protocol: Exam,
        ledger: Store,
    ) -> bodies.Token:
        """A token for a candidate, made by an examiner or admin."""
        claims = await run_in_threadpool(
            protocol.check_token, token, "issue_tokens", "ask_for_token", user_id[:80]
        )
        return await run_in_threadpool(
            _issue,
            ledger,
            settings,
            request.app.state.keys,
            _Wanted(user_id, body.session_id, "candidate", issued_by=claims.user_id),
        )

    @app.get("/users")
    async def list_users(
        token: Token,
        protocol: Exam,
        ledger: Store,
        after: Annotated[bodies.Name | None, Query()] = None,
        limit: Limit = MOST_PER_PAGE,
    ) -> bodies.UserList:
        """Users by name. A page at a time."""
        await run_in_threadpool(protocol.check_token, token, "write_users", "list_users")
        found = await run_in_threadpool(
            _read, ledger, lambda c: users.list_users(c, after=after, limit=limit + 1)
        )
        page, next_after = cut_page(found, limit, lambda user: user.user_id)
        return bodies.UserList(
            users=[bodies.UserBody(**asdict(user)) for user in page], next_after=next_after
        )

    @app.post("/users", status_code=201)
    async def add_user(
        body: bodies.UserRequest, token: Token, protocol: Exam, ledger: Store
    ) -> bodies.UserBody:
        """Add a user."""
        acting_as((await run_in_threadpool(protocol.check_token, token, "write_users", "ask_to_add")).user_id)
        values = body.model_dump(exclude={"password"})
        password_hash = await _hash(app, body.user_id, body.password)
        user = await run_in_threadpool(
            ledger.writer.run, lambda c: users.add_user(c, **values, password_hash=password_hash)
        )
        return bodies.UserBody(**asdict(user))

    @app.patch("/users/{user_id:path}")
    async def change_user(
        user_id: bodies.Name, body: bodies.UserChange, token: Token, protocol: Exam, ledger: Store
    ) -> bodies.UserBody:
        """Admit or shut out a user, set a password or a limit."""
        acting_as(
            (await run_in_threadpool(protocol.check_token, token, "write_users", "ask_to_change")).user_id
        )
        password_hash = await _hash(app, user_id, body.password)

        def change(connection: Connection) -> users.User:
            user = users.read_user(connection, user_id)
            if user is None:
                raise ExamError(404, "user_unknown", "There is no such user.")
            if body.is_active is not None:
                users.write_activity(connection, user_id, is_active=body.is_active)
            if "question_limit" in body.model_fields_set:
                users.write_user_limit(connection, user_id, body.question_limit)
            if password_hash is not None:
                users.write_password_hash(connection, user_id, password_hash)
            changed = users.read_user(connection, user_id)
            assert changed is not None
            return changed

        return bodies.UserBody(**asdict(await run_in_threadpool(ledger.writer.run, change)))

    @app.get("/runs")
    async def list_runs(
        token: Token,
        protocol: Exam,
        ledger: Store,
        after: Annotated[bodies.Name | None, Query()] = None,
        limit: Limit = MOST_PER_PAGE,
    ) -> bodies.RunList:
        """Runs and how far they are. A page at a time."""
        await run_in_threadpool(protocol.check_token, token, "read_runs", "list_runs")
        found = await run_in_threadpool(
            _read, ledger, lambda c: sittings.list_run_page(c, after=after, limit=limit + 1)
        )
        page, next_after = cut_page(found, limit, lambda run: run[0].run_id)
        return bodies.RunList(runs=[_describe_run(*run) for run in page], next_after=next_after)

    @app.get("/runs/{run_id}")
    async def read_run(run_id: bodies.Name, token: Token, protocol: Exam, ledger: Store) -> bodies.RunBody:
        """One run and how far it is."""
        await run_in_threadpool(protocol.check_token, token, "read_runs", "read_run")
        found = await run_in_threadpool(_read, ledger, lambda c: sittings.list_run_page(c, run_id=run_id))
        if found:
            return _describe_run(*found[0])
        raise ExamError(404, "run_unknown", "There is no such run.")


@asynccontextmanager
async def _noting_refusal(protocol: ExamProtocol, action: str, user_id: str) -> AsyncIterator[None]:
    """Write into the audit log what somebody is refused whose password was right."""
    try:
        yield
    except ExamError as error:
        await note_attempt(protocol, action, user_id, None, error.status, error.code)
        raise


def _read(ledger: Ledger, operation: Callable[[Connection], T]) -> T:
    with ledger.read() as connection:
        return operation(connection)


def _describe_run(run: Run, counts: Mapping[str, int]) -> bodies.RunBody:
    own = bodies.RunBody.model_fields.keys() - {"session_count", "closed_session_count"}
    return bodies.RunBody(
        **{name: getattr(run, name) for name in own},
        session_count=sum(counts.values()),
        closed_session_count=counts.get("closed", 0),
    )


def _issue(ledger: Ledger, settings: Settings, keys: KeyFile, wanted: _Wanted) -> bodies.Token:
    """Sign a token for a user that may have it. Candidates get one for their own sessions only.

    `issued_by` is the examiner who asks for it: the token and the audit log name them, in the transaction that issues it.

    `checked_hash` is that of the password that was shown. It must be the user's still: nobody gets a token for a password
    that was replaced, or that a user had who was shut out, while it was being checked.
    """
    user_id, session_id, issued_by = wanted.user_id, wanted.session_id, wanted.issued_by

    def operation(connection: Connection) -> bodies.Token:
        stored = users.read_password_hash(connection, user_id, is_held=True)
        user = users.read_user(connection, user_id)
        if user is None or not user.is_active or (wanted.role is not None and user.role != wanted.role):
            raise ExamError(404, "user_unknown", "There is no such candidate.")
        if wanted.checked_hash is not None and stored != wanted.checked_hash:
            raise _wrong_password()
        if session_id is not None:
            found = sittings.list_sessions(connection, session_id=session_id, user_id=user_id)
            if not found:
                raise ExamError(403, "session_invalid", "The session is not one of this user.")
        permissions = PERMISSIONS[user.role]
        if user.role == "candidate" and session_id is None:
            permissions = permissions - {"sit"}
        token = issue_token(
            keys,
            user_id,
            session_id,
            permissions,
            settings.token_ttl_s,
            now=read_lease_time(connection),
            issued_by=issued_by,
        )
        if issued_by is not None:
            target = f"{user_id} {token.token_id}"
            add_entry(connection, Entry("issue_token", issued_by, session_id, target=target))
        return bodies.Token(token=token.text, token_id=token.token_id, expires_at=token.expires_at)

    return ledger.writer.run(operation)


async def _check_password(
    request: Request, action: str, user_id: str, password: SecretStr, ledger: Ledger
) -> str:
    """The hash of a password that is right; raises ExamError 401 or 429."""
    door: PasswordDoor = request.app.state.passwords
    outcome, stored = await door.check(
        request.client.host if request.client else None,
        user_id,
        password.get_secret_value(),
        lambda: _read(ledger, lambda c: users.read_password_hash(c, user_id)),
    )
    if outcome == "pause":
        raise ExamError(429, "too_many_failures", "Too many wrong passwords. Wait five minutes.")
    if outcome == "busy":
        raise ExamError(429, "busy", "Many passwords wait to be checked. Try again in a few seconds.")
    if outcome == "wrong" or stored is None:
        # Whose password it was not; a name that nobody has is not written down.
        known = await run_in_threadpool(_name_known, ledger, user_id)
        await note_refusal(request, action, 401, "password_wrong", known)
        raise _wrong_password()
    return stored


def _name_known(ledger: Ledger, user_id: str) -> str | None:
    """The user's name where somebody could sign in under it; else null."""
    stored = _read(ledger, lambda connection: users.read_password_hash(connection, user_id))
    return None if stored is None else user_id


def _enrol(ledger: Ledger, user_id: str, public_key: str, checked_hash: str) -> str:
    """Set a candidate's key where it has none; raises ExamError."""
    try:
        key = read_public_key(public_key)
    except UsageError as error:
        raise ExamError(422, "key_invalid", str(error)) from None

    def operation(connection: Connection) -> str:
        if users.read_password_hash(connection, user_id, is_held=True) != checked_hash:
            raise _wrong_password()
        user = users.read_user(connection, user_id)
        if user is None or user.role != "candidate":
            raise ExamError(403, "permission_missing", "Only candidates enrol a key.")
        if users.read_public_key(connection, user_id) is not None:
            raise ExamError(
                409,
                "key_enrolled",
                "A key is enrolled already. Ask an admin of the installation to replace it.",
            )
        users.write_public_key(connection, user_id, key)
        return key

    return ledger.writer.run(operation)


def _wrong_password() -> ExamError:
    return ExamError(401, "password_wrong", "The user or the password is wrong.")


async def _hash(app: FastAPI, user_id: str, password: SecretStr | None) -> str | None:
    """The hash of a new password; raises ExamError 422 for a weak one."""
    if password is None:
        return None
    door: PasswordDoor = app.state.passwords
    text = password.get_secret_value()
    if (weakness := find_weakness(text, user_id)) is not None:
        raise ExamError(422, "weak_password", weakness.sentence)
    async with door.places.hold():
        return await run_in_threadpool(hash_password, text)
