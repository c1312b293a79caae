"""The kinds of sign-in that an installation offers, opened with what is set for each."""

from __future__ import annotations

from urllib.parse import urlsplit

from deployments.auth.kinds import (
    LANGUAGES,
    SIGN_INS,
    FormKind,
    RedirectKind,
    SignInKind,
    is_kind_name,
    is_web_address,
)
from schemas.errors import ProctorError, UsageError
from schemas.settings import Settings


def open_kinds(settings: Settings) -> dict[str, SignInKind]:
    """The kinds by name, in the order in which they are offered.

    Raises UsageError for a kind that is none or whose options are wrong, and where the address is missing to which another site
    sends people back.
    """
    if unknown := sorted(set(settings.sign_in_options) - set(settings.sign_in)):
        raise UsageError(
            f"`sign_in_options` has options of {', '.join(unknown)}, which `sign_in` does not offer. Correct one of the two."
        )
    return {name: _open_kind(settings, name) for name in settings.sign_in}


def read_desk_address(settings: Settings) -> str:
    """Where browsers reach the desk, without a slash at its end.

    Raises UsageError where that is not set, or no address of a server that speaks TLS or is on this machine.
    """
    address = (settings.web_url or "").removesuffix("/")
    if not is_web_address(address) or any(urlsplit(address)[2:]):
        raise UsageError(
            "To sign in by way of another site the web desk must know its own address. Set `web_url` (PROCTOR_WEB_URL) to "
            "https:// and the name at which browsers reach it, without a path."
        )
    return address


def _open_kind(settings: Settings, name: str) -> SignInKind:
    options = {
        option: value.get_secret_value() for option, value in settings.sign_in_options.get(name, {}).items()
    }
    try:
        kind = SIGN_INS.find(name)(options)
    except ProctorError:
        raise
    except Exception as error:  # Its words may hold a secret of the options
        raise _refuse(
            name,
            f"opening it failed with {type(error).__name__}; does it lack one of its `sign_in_options`?",
        ) from None
    if not isinstance(kind, FormKind | RedirectKind):
        raise _refuse(name, "it has neither the parts of a form nor those of a way to another site")
    labels = [field.label for field in kind.fields] if isinstance(kind, FormKind) else []
    if any(not words.get(language) for words in (kind.title, kind.help, *labels) for language in LANGUAGES):
        raise _refuse(name, f"a text of its page is missing in one of the languages {', '.join(LANGUAGES)}")
    if not is_kind_name(name):
        raise _refuse(name, "its name has others than small letters, digits and hyphens, or more than 30")
    if isinstance(kind, RedirectKind):
        read_desk_address(settings)
    return kind


def _refuse(name: str, why: str) -> UsageError:
    package = SIGN_INS.find_entry(name).package
    return UsageError(
        f"The kind of sign-in {name!r} of {package} cannot be offered: {why}. docs/extending.md shows what one has."
    )
