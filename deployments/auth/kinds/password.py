"""Our own kind of sign-in: the name and password of an account of Proctor."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi.concurrency import run_in_threadpool

from deployments.auth.kinds import Accounts, FormField, Recognised
from schemas.errors import UsageError


class PasswordKind:
    """A password, which `proctor exam user password NAME` sets."""

    title = {"en": "Name and password", "zh": "用户名和密码"}
    help = {"en": "Your coordinator gives you a name and a password.", "zh": "用户名和密码由协调人提供。"}
    fields = (FormField("password", {"en": "Password", "zh": "密码"}, autocomplete="current-password"),)

    async def read_form(self, form: Mapping[str, str], accounts: Accounts) -> Recognised | None:
        """The account whose password it is."""
        is_right = await run_in_threadpool(accounts.check_password, form["user_id"], form["password"])
        return Recognised(form["user_id"]) if is_right else None


def open_kind(options: Mapping[str, str]) -> PasswordKind:
    """The kind; it has no options."""
    if options:
        raise UsageError(
            f"The kind of sign-in 'password' has no option {', '.join(sorted(options))}. Take it out of `sign_in_options`."
        )
    return PasswordKind()
