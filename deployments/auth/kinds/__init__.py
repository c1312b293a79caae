"""What a kind of sign-in is to Proctor: what it shows, and how it says who somebody is.

Other packages bring theirs by the entry points `proctor.auth`, and the setting `sign_in` names those that the web desk offers.
Accounts, roles, sessions, the pages, cookies, state, nonce and the limits of guesses are Proctor's. The tokens of the exam API
belong to its protocol: no kind of sign-in gives one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable
from urllib.parse import urlsplit

from schemas import patterns as re
from schemas.seams import Seam
from schemas.vocabulary import LANGUAGES

__all__ = [
    "LANGUAGES",
    "OWN_KIND",
    "SIGN_INS",
    "Accounts",
    "Attempt",
    "FormField",
    "FormKind",
    "OpenKind",
    "Recognised",
    "RedirectKind",
    "SignInFault",
    "SignInKind",
    "Words",
    "is_kind_name",
    "is_web_address",
]

# The name of our own kind.
OWN_KIND: Final = "password"
# A text in each of LANGUAGES.
Words = Mapping[str, str]

# It stands in addresses, cookies and the audit log.
_KIND_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,29}")
_HERE: Final = ("127.0.0.1", "::1", "localhost")


class SignInFault(Exception):
    """Why a kind cannot say now who somebody is.

    Its text is written to the server's log and shown to nobody: it quotes no code, token, password or name.
    """


@dataclass(frozen=True, slots=True)
class FormField:
    """What a form asks for beside the user's name.

    Attributes:
        name: its key in what is sent; small letters, digits and underscores.
        label: what the page calls it.
        is_secret: whether nobody may read it over a shoulder.
        autocomplete: what a browser may fill in, in HTML's word (`current-password`, `one-time-code`).
    """

    name: str
    label: Words
    is_secret: bool = True
    autocomplete: str = "off"


@dataclass(frozen=True, slots=True)
class Recognised:
    """Who somebody is, as a kind of sign-in says.

    Attributes:
        user_id: the name of the account, always the same for the same person.
        claims: groups or roles that they have there, which the settings `sign_in_roles` and `sign_in_teams` map; None where the kind
            names none.
    """

    user_id: str
    claims: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way out of the desk and back, of one browser; another has other values.

    Attributes:
        state: what must come back in the address, in the parameter `state`; Proctor checks it.
        nonce: what must come back in what is signed there; the kind checks it.
        verifier: a secret for PKCE: its SHA-256 goes out, and it is shown when the code is exchanged.
        callback: the address to come back to.
    """

    state: str
    nonce: str
    verifier: str
    callback: str


class Accounts(Protocol):
    """What a kind may ask of Proctor's own accounts."""

    def check_password(self, user_id: str, password: str) -> bool:
        """Whether it is the password of somebody who has work here.

        It takes tens of milliseconds by design, as long for a name that nobody has: call it in a thread.
        """
        ...


@runtime_checkable
class FormKind(Protocol):
    """A form: the user's name and further fields.

    Attributes:
        title: what the page calls it.
        help: a sentence below the form.
        fields: what it asks for beside the name.
    """

    @property
    def title(self) -> Words:  # noqa: D102 - above
        ...

    @property
    def help(self) -> Words:  # noqa: D102 - above
        ...

    @property
    def fields(self) -> Sequence[FormField]:  # noqa: D102 - above
        ...

    async def read_form(self, form: Mapping[str, str], accounts: Accounts) -> Recognised | None:
        """Who sent the form; None for a wrong one.

        `form` has `user_id` and the fields, each empty where nothing was sent. Guesses are counted outside: this is only
        called for who may try. What is raised means that it cannot be said now.
        """
        ...


@runtime_checkable
class RedirectKind(Protocol):
    """A way to another site, which recognises somebody and sends them back.

    Attributes:
        title: what the page calls it, on the button that leads there.
        help: a sentence below the button.
    """

    @property
    def title(self) -> Words:  # noqa: D102 - above
        ...

    @property
    def help(self) -> Words:  # noqa: D102 - above
        ...

    async def begin(self, attempt: Attempt) -> str:
        """The address to which the browser is sent."""
        ...

    async def read_answer(self, attempt: Attempt, query: Mapping[str, str]) -> Recognised | None:
        """Who came back, from the parameters of the address; None where nobody is recognised.

        The browser is the one that was sent away with this attempt: its state has been checked. What is raised means that it
        cannot be said now.
        """
        ...

    async def end(self, back: str) -> str | None:
        """The address at which somebody signs out there and comes `back`; None where there is none.

        Proctor's own session has ended before.
        """
        ...


SignInKind = FormKind | RedirectKind
# Opens a kind with what is set for it (`sign_in_options`); raises UsageError naming an option that is wrong.
OpenKind = Callable[[Mapping[str, str]], SignInKind]

SIGN_INS: Final[Seam[OpenKind]] = Seam(
    "proctor.auth",
    "kind of sign-in",
    {
        OWN_KIND: "deployments.auth.kinds.password:open_kind",
        "openid": "deployments.auth.kinds.openid:open_kind",
    },
    needs=("__call__",),
)


def is_kind_name(name: str) -> bool:
    """Whether a kind may have that name: small letters, digits and hyphens, at most 30."""
    return _KIND_NAME.fullmatch(name) is not None


def is_web_address(address: object) -> bool:
    """Whether a browser may be sent there with what only its user may have.

    Such an address is https, or http on this machine, and has a host without an account before it.
    """
    if not isinstance(address, str) or re.fullmatch(r"[!-\[\]-~]+", address) is None:
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    is_closed = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
    return is_closed and bool(parts.hostname) and "@" not in parts.netloc
