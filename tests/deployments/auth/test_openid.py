"""Single sign-on at a provider made of Authlib: nobody but whom it signed, for us, now."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest
from joserfc.jwk import ECKey, OctKey, RSAKey

from deployments.auth.kinds import Attempt, Recognised, SignInFault, openid
from deployments.auth.kinds.conformance import check_redirect
from deployments.auth.kinds.openid import OpenIdKind, open_kind
from schemas.errors import UsageError
from tests.deployments.auth.openid_provider import CLIENT, SECRET, Provider, serve_provider

CALLBACK = "https://desk.example/sign-in/openid/back"
CORA = Recognised("cora@example.org", ())


@pytest.fixture(scope="module")
def served() -> Iterator[Provider]:
    with serve_provider(CALLBACK) as provider:
        yield provider


@pytest.fixture
def provider(served: Provider) -> Iterator[Provider]:
    """The provider as it is at first, with its key."""
    kept = served.key
    yield served
    fresh = Provider(served.url, served.callback, key=kept)
    for name in Provider.__dataclass_fields__:
        setattr(served, name, getattr(fresh, name))


def make_attempt() -> Attempt:
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    return Attempt(state, nonce, verifier, CALLBACK)


def open_it(provider: Provider, **given: str) -> OpenIdKind:
    return open_kind({"issuer": provider.url, "client_id": CLIENT, "client_secret": SECRET} | given)


async def follow(address: str) -> Mapping[str, str]:
    """Ask the provider as a browser does; returns the parameters with which it sends it back."""
    parts = urlsplit(address)

    def go() -> tuple[int, str]:
        connection = HTTPConnection(parts.netloc, timeout=10)
        connection.request("GET", f"{parts.path}?{parts.query}")
        reply = connection.getresponse()
        connection.close()
        return reply.status, str(reply.headers["location"])

    status, back = await asyncio.to_thread(go)
    assert status == 302
    assert back.startswith(f"{CALLBACK}?")
    return dict(parse_qsl(urlsplit(back).query))


def sign_in(kind: OpenIdKind, **changed: str) -> Recognised | None:
    """Go there and come back, with an answer in which some parameters are changed."""

    async def go() -> Recognised | None:
        attempt = make_attempt()
        query = await follow(await kind.begin(attempt))
        assert "code" in query, query
        return await kind.read_answer(attempt, {**query, **changed})

    return asyncio.run(go())


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
def test_the_kind_keeps_the_rules_of_its_kit_however_it_proves_who_it_is(
    provider: Provider, method: str
) -> None:
    provider.method = method
    provider.groups["cora"] = ["exam-office"]
    kind = open_it(provider, client_secret="" if method == "none" else SECRET)
    assert check_redirect(kind, follow, CALLBACK) == Recognised("cora@example.org", ("exam-office",))


@pytest.mark.parametrize("key", [ECKey.generate_key("P-256", {"kid": "e1"}), RSAKey.generate_key(2048)])
def test_a_key_of_another_kind_or_without_a_name_signs_as_well(
    provider: Provider, key: ECKey | RSAKey
) -> None:
    provider.key = key
    assert sign_in(open_it(provider)) == CORA


def test_a_key_that_was_exchanged_is_known_at_once_and_the_former_is_none(provider: Provider) -> None:
    former, kind = provider.key, open_it(provider)
    provider.key = RSAKey.generate_key(2048, {"kid": "k2"})
    assert sign_in(kind) == CORA
    provider.published, provider.key = [provider.key], former
    assert sign_in(kind) is None


# Given as seconds from now.
_MOMENTS = ("exp", "iat", "nbf")


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["another-client"]},
        {"aud": ["another-client", CLIENT]},
        {"aud": [CLIENT], "azp": "another-client"},
        {"iss": "https://another.example"},
        {"exp": -3600},
        {"iat": 7200, "exp": 9000},
        {"nbf": 7200},
        {"nonce": "of-another-attempt"},
        {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
        {"at_hash": 7},
        *({name: None} for name in ("iss", "sub", "aud", "exp", "iat", "nonce")),
    ],
    ids=lambda claims: " ".join(f"{name}={value}" for name, value in claims.items()),
)
def test_a_token_for_somebody_else_or_another_time_recognises_nobody(
    provider: Provider, claims: dict[str, Any]
) -> None:
    now = int(time.time())
    moments = {name: now + value for name, value in claims.items() if name in _MOMENTS and value is not None}
    provider.claims = claims | moments
    assert sign_in(open_it(provider)) is None


def test_a_token_that_the_provider_did_not_sign_recognises_nobody(provider: Provider) -> None:
    kind, own = open_it(provider), provider.key
    provider.published = [own]
    provider.key = RSAKey.generate_key(2048, {"kid": "k1"})
    assert sign_in(kind) is None
    provider.published, provider.key, provider.header = [own], own, {"kid": "another"}
    assert sign_in(kind) is None


def test_of_two_keys_of_one_name_none_is_guessed(provider: Provider) -> None:
    provider.published = [RSAKey.generate_key(2048, {"kid": "k1"}), provider.key]
    assert sign_in(open_it(provider)) is None


@pytest.mark.parametrize(
    "header",
    [
        '{"alg":"none"}',
        '{"alg":"None","kid":"k1"}',
        '{"kid":"k1"}',
        '{"alg":["RS256"],"kid":"k1"}',
        "{",
        "[]",
    ],
)
def test_an_unsigned_token_recognises_nobody(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    replace_token(monkeypatch, lambda claims: f"{encode(header.encode())}.{encode(claims)}.")
    assert sign_in(open_it(provider)) is None


@pytest.mark.parametrize("is_public", [True, False])
def test_a_token_signed_with_what_others_know_as_if_it_were_a_secret_recognises_nobody(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, is_public: bool
) -> None:
    assert isinstance(provider.key, RSAKey)
    shared = provider.key.as_pem(private=False) if is_public else SECRET.encode()

    def forge(claims: bytes) -> str:
        header = b'{"alg":"HS256","kid":"k1"}'
        signed = f"{encode(header)}.{encode(claims)}"
        return f"{signed}.{encode(hmac.digest(shared, signed.encode(), 'sha256'))}"

    replace_token(monkeypatch, forge)
    assert sign_in(open_it(provider)) is None
    provider.published = [provider.key, OctKey.import_key(SECRET, {"kid": "k1", "alg": "HS256"})]
    assert sign_in(open_it(provider)) is None


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def replace_token(monkeypatch: pytest.MonkeyPatch, make: Callable[[bytes], str]) -> None:
    """Let another token with the same claims arrive in place of the provider's."""
    whole = openid._send

    async def send(http: Any, asked: Any) -> Any:
        status, told = await whole(http, asked)
        if "id_token" in told:
            claims = jwt.decode(told["id_token"], options={"verify_signature": False})
            told = {**told, "id_token": make(json.dumps(claims).encode())}
        return status, told

    monkeypatch.setattr(openid, "_send", send)


def test_a_code_of_another_attempt_and_a_refusal_recognise_nobody(provider: Provider) -> None:
    kind = open_it(provider)
    attempt = make_attempt()
    stolen = dataclasses.replace(attempt, verifier=make_attempt().verifier)

    async def go() -> Recognised | None:
        return await kind.read_answer(stolen, await follow(await kind.begin(attempt)))

    assert asyncio.run(go()) is None
    assert sign_in(kind, error="access_denied") is None
    assert sign_in(kind, code="") is None
    provider.asked.clear()
    # An answer that another provider gave is not shown to this one (a mix-up).
    assert sign_in(kind, iss="https://another.example") is None
    assert "/token" not in provider.asked
    assert sign_in(kind, iss=provider.url) == CORA
    provider.about = {"authorization_response_iss_parameter_supported": True}
    assert sign_in(kind) is None


def test_what_goes_out_is_a_code_flow_with_the_hash_of_the_verifier(provider: Provider) -> None:
    provider.about = {"authorization_endpoint": f"{provider.url}/authorize?tenant=7"}
    attempt = make_attempt()
    asked = dict(parse_qsl(urlsplit(asyncio.run(open_it(provider).begin(attempt))).query))
    digest = hashlib.sha256(attempt.verifier.encode()).digest()
    assert asked == {
        "tenant": "7",
        "response_type": "code",
        "client_id": CLIENT,
        "redirect_uri": CALLBACK,
        "scope": "openid email profile",
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
    }


def test_the_name_and_the_groups_are_those_of_the_claims_that_are_set(provider: Provider) -> None:
    provider.claims = {
        "realm_access": {"roles": ["a", 7, "b"]},
        "email": "Cora.Ng@Example.ORG",
        "upn": "Cora",
    }
    kind = open_it(provider, groups_claim="realm_access.roles")
    assert sign_in(kind) == Recognised("cora.ng@example.org", ("a", "b"))
    assert sign_in(open_it(provider, name_claim="upn")) == Recognised("Cora", ())
    provider.claims |= {"groups": "one-text"}
    assert sign_in(open_it(provider)) == Recognised("cora.ng@example.org", ("one-text",))


def test_what_the_token_lacks_is_asked_for_and_must_be_of_the_same_person(provider: Provider) -> None:
    provider.claims = {"email": None, "email_verified": None, "groups": None}
    provider.told = {"groups": ["exam-office"]}
    kind = open_it(provider)
    assert sign_in(kind) == Recognised("cora@example.org", ("exam-office",))
    provider.told = {"sub": "id-of-eve", "email": "eve@example.org"}
    with pytest.raises(SignInFault, match="UserInfo"):
        sign_in(kind)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"claims": {"email_verified": False}}, "has not verified"),
        ({"claims": {"email_verified": "true"}}, "has not verified"),
        ({"claims": {"email": ["a@b"]}}, "names nobody in the claim 'email'"),
        ({"claims": {"_claim_names": {"groups": "src1"}}}, "leaves the claim 'groups' out"),
        ({"about": {"issuer": "https://another.example"}}, "by another address than the option `issuer`"),
        ({"about": {"token_endpoint": "http://desk.example/token"}}, "no token_endpoint that is https"),
        ({"about": {"token_endpoint": None}}, "no token_endpoint that is https"),
        ({"about": {"jwks_uri": "file:///etc/passwd"}}, "no jwks_uri that is https"),
        ({"about": {"authorization_endpoint": "javascript:alert(1)"}}, "no authorization_endpoint"),
        ({"method": "private_key_jwt"}, r"gives no token \(status 401, invalid_client\)"),
        ({"about": {"padding": "x" * (1 << 20)}}, "larger than 1 MiB"),
    ],
)
def test_a_provider_that_cannot_be_used_is_said_and_recognises_nobody(
    provider: Provider, told: dict[str, Any], why: str
) -> None:
    for name, value in told.items():
        setattr(provider, name, value)
    with pytest.raises(SignInFault, match=why) as raised:
        sign_in(open_it(provider))
    assert not any(secret in str(raised.value) for secret in (SECRET, "cora", "example.org"))


def test_a_provider_that_is_away_or_no_provider_is_said(provider: Provider) -> None:
    for address, why in (
        ("http://127.0.0.1:1", "cannot be reached"),
        (f"{provider.url}/authorize", "status 404|no JSON"),
    ):
        with pytest.raises(SignInFault, match=why):
            asyncio.run(open_kind({"issuer": address, "client_id": CLIENT}).begin(make_attempt()))


def test_somebody_signs_out_there_where_there_is_a_page_for_it(provider: Provider) -> None:
    kind = open_it(provider)
    address = asyncio.run(kind.end("https://desk.example/sign-in"))
    assert address == f"{provider.url}/leave?client_id=proctor&post_logout_redirect_uri=https%3A%2F%2Fdesk.example%2Fsign-in"  # fmt: skip
    provider.about = {"end_session_endpoint": None}
    assert asyncio.run(kind.end("https://desk.example/sign-in")) is None


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "needs issuer and client_id"),
        ({"issuer": "https://id.example"}, "needs client_id"),
        ({"issuer": "http://id.example", "client_id": "a"}, "is no address"),
        ({"issuer": "https://id.example?x=1", "client_id": "a"}, "is no address"),
        ({"issuer": "https://id.example", "client_id": "a", "scopes": "email"}, "lacks the word openid"),
        ({"issuer": "https://id.example", "client_id": "a", "secret": "b"}, "has no option secret"),
    ],
)
def test_options_that_cannot_be_are_refused_in_one_sentence(options: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        open_kind(options)


def test_the_page_calls_the_provider_as_the_option_says(provider: Provider) -> None:
    assert open_it(provider).title == {"en": "Single sign-on", "zh": "单点登录"}
    assert open_it(provider, title="Example University").title["zh"] == "Example University"
