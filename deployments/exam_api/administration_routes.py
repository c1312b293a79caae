"""Around the exam: tokens, users, runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import SecretStr

from deployments.auth.passwords import hash_password
from deployments.auth.sign_in import PasswordDoor
from deployments.auth.weak_passwords import find_weakness
from deployments.exam_api import bodies
from deployments.exam_api.caller import Exam, Store, Token
from deployments.exam_api.pages import MOST_PER_PAGE, Limit, cut_page
from deployments.exam_api.refusals import note_attempt, note_refusal
from schemas.errors import ExamError
from schemas.settings import Settings
from tasks.exam.protocol.keys import KeyFile
from tasks.exam.protocol.tokens import PERMISSIONS, issue_token
from warehouse.ledger import exam, users
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection, RowMapping

T = TypeVar("T")


def add_administration_routes(app: FastAPI, settings: Settings) -> None:
    """Add what examiners and admins may ask, and the way to a token."""

    @app.post("/token")
    async def ask_token(
        request: Request, body: bodies.TokenRequest, protocol: Exam, ledger: Store
    ) -> bodies.Token:
        """A token for a user's name and password. A candidate names the session that it is for, if any."""
        door: PasswordDoor = request.app.state.passwords
        outcome, stored = await door.check(
            request.client.host if request.client else None,
            body.user_id,
            body.password.get_secret_value(),
            lambda: _read(ledger, lambda c: users.read_password_hash(c, body.user_id)),
        )
        if outcome == "pause":
            raise ExamError(429, "too_many_failures", "Too many wrong passwords. Wait five minutes.")
        if outcome == "wrong":
            await note_refusal(request, "token", 401, "password_wrong")
            raise _wrong_password()
        token = await run_in_threadpool(
            _issue, ledger, settings, request.app.state.keys, body.user_id, body.session_id, None, stored
        )
        await note_attempt(protocol, "token", body.user_id, body.session_id, 200, None)
        return token

    @app.post("/users/{user_id}/tokens")
    async def issue_candidate_token(
        request: Request,
        user_id: bodies.Name,
        body: bodies.IssueRequest,
        token: Token,
        protocol: Exam,
        ledger: Store,
    ) -> bodies.Token:
        """A token for a candidate, made by an examiner or admin."""
        await run_in_threadpool(protocol.check_token, token, "issue_tokens", "issue_token")
        return await run_in_threadpool(
            _issue, ledger, settings, request.app.state.keys, user_id, body.session_id, "candidate"
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
        await run_in_threadpool(protocol.check_token, token, "write_users", "add_user")
        values = body.model_dump(exclude={"password"})
        password_hash = await _hash(app, body.user_id, body.password)
        user = await run_in_threadpool(
            ledger.writer.run, lambda c: users.add_user(c, **values, password_hash=password_hash)
        )
        return bodies.UserBody(**asdict(user))

    @app.patch("/users/{user_id}")
    async def change_user(
        user_id: bodies.Name, body: bodies.UserChange, token: Token, protocol: Exam, ledger: Store
    ) -> bodies.UserBody:
        """Admit or shut out a user, set a password or a limit."""
        await run_in_threadpool(protocol.check_token, token, "write_users", "change_user")
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
            _read, ledger, lambda c: exam.list_run_page(c, after=after, limit=limit + 1)
        )
        page, next_after = cut_page(found, limit, lambda run: str(run[0]["run_id"]))
        return bodies.RunList(runs=[_describe_run(*run) for run in page], next_after=next_after)

    @app.get("/runs/{run_id}")
    async def read_run(run_id: bodies.Name, token: Token, protocol: Exam, ledger: Store) -> bodies.RunBody:
        """One run and how far it is."""
        await run_in_threadpool(protocol.check_token, token, "read_runs", "read_run")
        found = await run_in_threadpool(_read, ledger, lambda c: exam.list_run_page(c, run_id=run_id))
        if found:
            return _describe_run(*found[0])
        raise ExamError(404, "run_unknown", "There is no such run.")


def _read(ledger: Ledger, operation: Callable[[Connection], T]) -> T:
    with ledger.read() as connection:
        return operation(connection)


def _describe_run(row: RowMapping, counts: Mapping[str, int]) -> bodies.RunBody:
    own = bodies.RunBody.model_fields.keys() - {"session_count", "closed_session_count"}
    return bodies.RunBody(
        **{name: row[name] for name in own},
        session_count=sum(counts.values()),
        closed_session_count=counts.get("closed", 0),
    )


def _issue(
    ledger: Ledger,
    settings: Settings,
    keys: KeyFile,
    user_id: str,
    session_id: str | None,
    role: str | None,
    checked_hash: str | None = None,
) -> bodies.Token:
    """Sign a token for a user that may have it. Candidates get one for their own sessions only.

    `checked_hash` is that of the password that was shown. It must be the user's still: nobody gets a token for a password
    that was replaced, or that a user had who was shut out, while it was being checked.
    """

    def operation(connection: Connection) -> bodies.Token:
        stored = users.read_password_hash(connection, user_id, is_held=True)
        user = users.read_user(connection, user_id)
        if user is None or not user.is_active or (role is not None and user.role != role):
            raise ExamError(404, "user_unknown", "There is no such candidate.")
        if checked_hash is not None and stored != checked_hash:
            raise _wrong_password()
        if session_id is not None:
            found = exam.list_sessions(connection, session_id=session_id, user_id=user_id)
            if not found:
                raise ExamError(403, "session_invalid", "The session is not one of this user.")
        permissions = PERMISSIONS[user.role]
        if user.role == "candidate" and session_id is None:
            permissions = permissions - {"sit"}
        token = issue_token(keys, user_id, session_id, permissions, settings.token_ttl_s)
        return bodies.Token(token=token.text, token_id=token.token_id, expires_at=token.expires_at)

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
    async with door.places:
        return await run_in_threadpool(hash_password, text)
