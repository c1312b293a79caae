"""What every kind of sign-in keeps to, as functions for the tests of whoever writes one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from deployments.auth.kinds import (
    LANGUAGES,
    Accounts,
    Attempt,
    FormKind,
    Recognised,
    RedirectKind,
    SignInKind,
    is_web_address,
)

# Keys of a form that are Proctor's own.
_OWN_FIELDS: Final = ("form_token", "kind", "then", "user_id")
_BACK: Final = "https://desk.example/sign-in"
_JUNK: Final = ("", " ", "x" * 5000, "' or 1=1 --", "../..", "{}", "用户")
_LONGEST_NAME: Final = 120


class NoAccounts:
    """Accounts among which no password is right."""

    def check_password(self, user_id: str, password: str) -> bool:
        """See Accounts: it never is one."""
        return False


def check_form(
    kind: FormKind,
    right: Mapping[str, str],
    wrong: Mapping[str, str],
    accounts: Accounts | None = None,
) -> Recognised:
    """Send a form that is right and others that are not; returns who was recognised.

    `right` and `wrong` hold `user_id` and the kind's fields; `accounts` is what it asks of Proctor's own. Raises AssertionError naming
    the rule that is broken: texts in both languages, fields of its own, the same person for the same form, and None, never an exception,
    for a form that is wrong, empty or junk.
    """
    assert isinstance(kind, FormKind), (
        "this is no kind with a form: it lacks title, help, fields or read_form"
    )
    _check_texts(kind)
    names = [field.name for field in kind.fields]
    assert len(set(names)) == len(names), "two fields have one name"
    for name in names:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name), (
            f"the field {name!r} has others than small letters, digits and underscores"
        )
        assert name not in _OWN_FIELDS, f"a field is called {name!r}, which is Proctor's own"
    asked = accounts or NoAccounts()
    found = asyncio.run(_read_form(kind, right, asked))
    assert found is not None, "the form that is right recognised nobody"
    _check_person(found)
    assert found == asyncio.run(_read_form(kind, right, asked)), "the same form was read in two ways"
    bad = [dict(wrong), dict.fromkeys(["user_id", *names], "")]
    bad += [{**wrong, name: junk} for name in ["user_id", *names] for junk in _JUNK]
    for form in bad:
        person = asyncio.run(_read_form(kind, form, asked))
        assert person is None, "a form that is wrong recognised somebody"
    return found


def check_redirect(
    kind: RedirectKind, follow: Callable[[str], Awaitable[Mapping[str, str]]], callback: str
) -> Recognised:
    """Let somebody go away and come back; returns who was recognised.

    `follow` does what browser and site do between the two: it takes the address of `begin` and returns the parameters of the address that
    leads back to `callback`. Raises AssertionError naming the rule that is broken: texts in both languages, an address that carries the
    state and not the verifier, the same state back, nobody for an answer to another attempt (its nonce or its verifier is another), for
    one that is refused or that is junk, and a way out that is an address or None.
    """
    assert isinstance(kind, RedirectKind), (
        "this is no kind that leads elsewhere: it lacks title, help, begin, read_answer or end"
    )
    _check_texts(kind)
    return asyncio.run(_check_redirect(kind, follow, callback))


async def _check_redirect(
    kind: RedirectKind, follow: Callable[[str], Awaitable[Mapping[str, str]]], callback: str
) -> Recognised:
    mine, others = _make_attempt("1", callback), _make_attempt("2", callback)
    address = await kind.begin(mine)
    assert is_web_address(address), (
        f"{address!r} is no address to send a browser to: https, or http on this machine"
    )
    assert mine.state in address, "the address lacks the state: what comes back could belong to anybody"
    assert mine.verifier not in address, "the address shows the verifier; its SHA-256 goes out, and no more"
    query = dict(await follow(address))
    assert query.get("state") == mine.state, "the state did not come back as it went out"
    for wrong in ({}, {"error": "access_denied"}, *({"code": junk, "state": mine.state} for junk in _JUNK)):
        person = await _read_answer(kind, mine, wrong)
        assert person is None, "an answer that is none recognised somebody"
    theirs = dict(await follow(await kind.begin(others)))
    person = await _read_answer(kind, mine, theirs)
    assert person is None, "the answer to another attempt recognised somebody: check nonce and verifier"
    found = await _read_answer(kind, mine, query)
    assert found is not None, "the answer that is right recognised nobody"
    _check_person(found)
    out = await kind.end(_BACK)
    assert out is None or is_web_address(out), f"{out!r} is no address to send a browser to"
    return found


def _make_attempt(number: str, callback: str) -> Attempt:
    return Attempt(f"state-{number * 40}", f"nonce-{number * 40}", f"verifier-{number * 40}", callback)


def _check_texts(kind: SignInKind) -> None:
    labels = [field.label for field in kind.fields] if isinstance(kind, FormKind) else []
    for words in (kind.title, kind.help, *labels):
        for language in LANGUAGES:
            assert isinstance(words.get(language), str) and words[language].strip(), (
                f"{dict(words)!r} says nothing in {language!r}"
            )


def _check_person(person: Recognised) -> None:
    assert isinstance(person, Recognised), f"{type(person).__name__} was returned, not a Recognised"
    name = person.user_id
    assert isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_NAME, (
        f"{name!r} is no name of an account: 1 to {_LONGEST_NAME} characters that can be printed"
    )
    assert person.claims is None or all(isinstance(claim, str) for claim in person.claims), "a claim is text"


async def _read_form(kind: FormKind, form: Mapping[str, str], accounts: Accounts) -> Recognised | None:
    try:
        return await kind.read_form(dict(form), accounts)
    except Exception as error:
        raise AssertionError(
            f"{type(error).__name__} was raised for a form that could be answered: what is wrong is None"
        ) from error


async def _read_answer(kind: RedirectKind, attempt: Attempt, query: Mapping[str, str]) -> Recognised | None:
    try:
        return await kind.read_answer(attempt, dict(query))
    except Exception as error:
        raise AssertionError(
            f"{type(error).__name__} was raised for an answer that could be read: what recognises nobody is None"
        ) from error
