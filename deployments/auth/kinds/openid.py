"""Single sign-on: a provider of OpenID Connect says who somebody is.

The way is that of a code with PKCE (OpenID Connect Core 1.0; RFC 6749, 7636, 9207). Nothing of a provider is remembered: its addresses and keys are asked for at each sign-in, so that a key it has taken back
recognises nobody. Of its tokens only name and groups are read, and none is kept.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from deployments.auth.kinds import Attempt, Recognised, SignInFault, is_web_address
from schemas.errors import UsageError

if TYPE_CHECKING:
    import ssl

    import httpx

# What is signed with a key that only the provider has; a secret shared with us (HS256) could be anybody's who reads our settings.
_ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
_KEY_TYPES: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
# Clocks of two servers may differ by that many seconds.
_LEEWAY_S: Final = 60
_TIME_LIMIT_S: Final = 8.0
_LARGEST_REPLY_BYTES: Final = 1 << 20
_DISCOVERY: Final = "/.well-known/openid-configuration"
_NEEDED: Final = ("issuer", "client_id")
_DEFAULTS: Final = {
    "client_secret": "",
    "scopes": "openid email profile",
    "name_claim": "email",
    "groups_claim": "groups",
    "title": "",
}
# Of a name that belongs to an address, whose owner the provider has asked.
_ADDRESS_CLAIM: Final = "email"

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OpenIdKind:
    """A provider of OpenID Connect.

    Attributes:
        issuer: its address, as its tokens name it.
        client_id: our name there.
        client_secret: what proves to it that we ask; empty for a public client, which has PKCE alone.
        scopes: what we ask for, with spaces between.
        name_claim: the claim that names the account here.
        groups_claim: the claim whose texts `sign_in_roles` maps; dots lead into it (`realm_access.roles`).
        label: what the page calls the provider; empty for our own words.
    """

    issuer: str
    client_id: str
    client_secret: str
    scopes: str
    name_claim: str
    groups_claim: str
    label: str

    @property
    def title(self) -> Mapping[str, str]:
        """See RedirectKind."""
        if self.label:
            return {"en": self.label, "zh": self.label}
        return {"en": "Single sign-on", "zh": "单点登录"}

    @property
    def help(self) -> Mapping[str, str]:
        """See RedirectKind."""
        return {"en": "Use the account of your organisation.", "zh": "请使用您所在机构的账户。"}

    async def begin(self, attempt: Attempt) -> str:
        """The provider's page, with the SHA-256 of the verifier."""
        async with _connect() as http:
            provider = await self._discover(http)
        digest = hashlib.sha256(attempt.verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": attempt.callback,
            "scope": self.scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": _encode(digest),
            "code_challenge_method": "S256",
        }
        return _add_query(_read_address(provider, "authorization_endpoint"), asked)

    async def read_answer(self, attempt: Attempt, query: Mapping[str, str]) -> Recognised | None:
        """Who came back, by the ID token, or by UserInfo where the token lacks name or groups."""
        code = query.get("code", "")
        if not code or query.get("error"):
            return None
        async with _connect() as http:
            provider = await self._discover(http)
            if not self._is_from_issuer(provider, query):
                return None
            tokens = await self._redeem(http, provider, attempt, code)
            if tokens is None:
                return None
            keys = await _fetch(http, _read_address(provider, "jwks_uri"))
            claims = self._read_token(tokens, keys, attempt)
            if claims is None:
                return None
            if not self._has_all(claims) and "userinfo_endpoint" in provider:
                claims = await self._add_told(http, provider, tokens, claims)
        return self._recognise(claims)

    async def end(self, back: str) -> str | None:
        """Where somebody signs out at the provider; None where it has no such page."""
        async with _connect() as http:
            provider = await self._discover(http)
        if "end_session_endpoint" not in provider:
            return None
        asked = {"client_id": self.client_id, "post_logout_redirect_uri": back}
        return _add_query(_read_address(provider, "end_session_endpoint"), asked)

    async def _discover(self, http: httpx.AsyncClient) -> Json:
        """What the provider says of itself (OpenID Connect Discovery 1.0)."""
        provider = await _fetch(http, self.issuer.rstrip("/") + _DISCOVERY)
        if provider.get("issuer") != self.issuer:
            raise SignInFault(
                "the provider calls itself by another address than the option `issuer`; they must be equal to the letter"
            )
        return provider

    def _is_from_issuer(self, provider: Json, query: Mapping[str, str]) -> bool:
        """Whether an answer names this provider (RFC 9207): another one's code is not given to it."""
        is_named = provider.get("authorization_response_iss_parameter_supported") is True
        return query.get("iss", self.issuer if not is_named else "") == self.issuer

    async def _redeem(
        self, http: httpx.AsyncClient, provider: Json, attempt: Attempt, code: str
    ) -> Json | None:
        """The tokens for a code; None for a code that is none, or is another attempt's."""
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.callback,
            "code_verifier": attempt.verifier,
        }
        headers = {"accept": "application/json"}
        methods = provider.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if not self.client_secret:
            sent["client_id"] = self.client_id
        elif "client_secret_basic" in methods:
            pair = f"{quote(self.client_id, safe='')}:{quote(self.client_secret, safe='')}"
            headers["authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            sent |= {"client_id": self.client_id, "client_secret": self.client_secret}
        request = http.build_request(
            "POST", _read_address(provider, "token_endpoint"), data=sent, headers=headers
        )
        status, told = await _send(http, request)
        if status == 200:
            return told
        if told.get("error") == "invalid_grant":
            return None
        raise SignInFault(
            f"the provider gives no token (status {status}, {_name_error(told)}): check `client_id` and `client_secret`"
        )

    def _read_token(self, tokens: Json, keys: Json, attempt: Attempt) -> Json | None:
        """The claims of a token that the provider signed for us, now, in this attempt; else None."""
        import jwt

        token, access = tokens.get("id_token"), tokens.get("access_token", "")
        if not isinstance(token, str) or not isinstance(access, str):
            raise SignInFault("the provider gives no ID token: is `openid` among `scopes`?")
        try:
            header = jwt.get_unverified_header(token)
            algorithm = str(header.get("alg"))
            key = _find_key(keys, header.get("kid"), algorithm)
            if key is None:
                return None
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self.client_id,
                issuer=self.issuer,
                leeway=_LEEWAY_S,
                options={"require": ["iss", "sub", "aud", "exp", "iat", "nonce"]},
            )
        except jwt.PyJWTError:
            return None
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        party = claims.get("azp", self.client_id if len(audience) == 1 else None)
        if party != self.client_id or not _are_equal(claims["nonce"], attempt.nonce):
            return None
        if "at_hash" in claims and not _are_equal(claims["at_hash"], _hash_half(access, algorithm)):
            return None
        return claims

    def _has_all(self, claims: Json) -> bool:
        return self.name_claim in claims and _find_claim(claims, self.groups_claim) is not None

    async def _add_told(self, http: httpx.AsyncClient, provider: Json, tokens: Json, claims: Json) -> Json:
        """The claims with what UserInfo adds about the same person; the token's own stand."""
        request = http.build_request(
            "GET",
            _read_address(provider, "userinfo_endpoint"),
            headers={
                "authorization": f"Bearer {tokens.get('access_token', '')}",
                "accept": "application/json",
            },
        )
        status, told = await _send(http, request)
        if status != 200 or told.get("sub") != claims["sub"]:
            raise SignInFault(f"the provider's UserInfo tells nothing of who signs in (status {status})")
        return {**told, **claims}

    def _recognise(self, claims: Json) -> Recognised | None:
        name = claims.get(self.name_claim)
        if not isinstance(name, str) or not name:
            raise SignInFault(f"the provider names nobody in the claim {self.name_claim!r}")
        if self.name_claim == _ADDRESS_CLAIM:
            if claims.get("email_verified") is not True:
                raise SignInFault(
                    "the provider has not verified the address of who signs in (`email_verified`): set `name_claim` to a claim "
                    "that nobody chooses for themselves"
                )
            name = name.lower()
        groups = _find_claim(claims, self.groups_claim)
        if groups is None and self.groups_claim in claims.get("_claim_names", ()):
            raise SignInFault(
                f"the provider leaves the claim {self.groups_claim!r} out where somebody has too many: let it name roles, or "
                "only the groups of this application"
            )
        return Recognised(name, _read_texts(groups))


def open_kind(options: Mapping[str, str]) -> OpenIdKind:
    """The kind; raises UsageError for options that are missing, unknown or wrong."""
    if unknown := sorted(set(options) - {*_NEEDED, *_DEFAULTS}):
        raise UsageError(
            f"The kind of sign-in 'openid' has no option {', '.join(unknown)}; it has {', '.join((*_NEEDED, *_DEFAULTS))}."
        )
    if missing := [name for name in _NEEDED if not options.get(name)]:
        raise UsageError(
            f"The kind of sign-in 'openid' needs {' and '.join(missing)}. Set them in `sign_in_options.openid`."
        )
    given = {**_DEFAULTS, **options}
    if not is_web_address(given["issuer"]) or "?" in given["issuer"] or "#" in given["issuer"]:
        raise UsageError(
            "The option `issuer` of the kind of sign-in 'openid' is no address: https:// and the provider's name, as its own "
            f"{_DISCOVERY} writes it."
        )
    if "openid" not in given["scopes"].split():
        raise UsageError("The option `scopes` of the kind of sign-in 'openid' lacks the word openid.")
    return OpenIdKind(
        given["issuer"],
        given["client_id"],
        given["client_secret"],
        given["scopes"],
        given["name_claim"],
        given["groups_claim"],
        given["title"],
    )


def _connect() -> httpx.AsyncClient:
    import httpx

    return httpx.AsyncClient(verify=_trust(), timeout=_TIME_LIMIT_S, follow_redirects=False)


@cache
def _trust() -> ssl.SSLContext:
    """The certificates that are trusted; reading them takes longer than a sign-in."""
    import httpx

    return httpx.create_ssl_context()


async def _fetch(http: httpx.AsyncClient, address: str) -> Json:
    status, told = await _send(
        http, http.build_request("GET", address, headers={"accept": "application/json"})
    )
    if status != 200:
        raise SignInFault(f"the provider answers its {address.rpartition('/')[2]} with status {status}")
    return told


async def _send(http: httpx.AsyncClient, request: httpx.Request) -> tuple[int, Json]:
    """Status and JSON object of a reply; SignInFault where it is none, or too large."""
    import httpx

    text = bytearray()
    try:
        reply = await http.send(request, stream=True)
        try:
            async for piece in reply.aiter_bytes():
                text += piece
                if len(text) > _LARGEST_REPLY_BYTES:
                    raise SignInFault("the provider's reply is larger than 1 MiB")
        finally:
            await reply.aclose()
    except httpx.HTTPError as error:
        raise SignInFault(f"the provider cannot be reached ({type(error).__name__})") from None
    try:
        told = json.loads(text or b"{}")
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise SignInFault(
            f"the provider answers with something that is no JSON object (status {reply.status_code})"
        )
    return reply.status_code, told


def _read_address(provider: Json, name: str) -> str:
    address = provider.get(name)
    if not isinstance(address, str) or not is_web_address(address):
        raise SignInFault(f"the provider names no {name} that is https")
    return address


def _add_query(address: str, asked: Mapping[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"


def _find_key(keys: Json, name: object, algorithm: str) -> Any:
    """The provider's one key of that name for such a signature; None for none or several."""
    import jwt

    if algorithm not in _ALGORITHMS:
        return None
    fitting = [
        key
        for key in keys.get("keys", [])
        if isinstance(key, dict)
        and (name is None or key.get("kid") == name)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and key.get("kty") == _KEY_TYPES[algorithm[:2]]
    ]
    if len(fitting) != 1:
        return None
    return jwt.PyJWK(fitting[0], algorithm=algorithm).key


def _find_claim(claims: Json, path: str) -> Any:
    """The claim of that name, or what dots lead to in one; None where there is none."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _read_texts(claim: Any) -> tuple[str, ...]:
    """The texts of a claim; none where it is missing, as some leave out an empty one."""
    listed = claim if isinstance(claim, list) else [claim]
    return tuple(one for one in listed if isinstance(one, str))


def _hash_half(token: str, algorithm: str) -> str:
    """The left half of a token's hash, by the hash of the signature (Core 1.0, 3.1.3.6)."""
    name = "sha512" if algorithm == "EdDSA" else f"sha{algorithm[2:]}"
    digest = hashlib.new(name, token.encode()).digest()
    return _encode(digest[: len(digest) // 2])


def _are_equal(found: object, expected: str) -> bool:
    return isinstance(found, str) and hmac.compare_digest(found.encode(), expected.encode())


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _name_error(told: Json) -> str:
    """The provider's word for what is wrong, which is one of a list (RFC 6749, 5.2)."""
    error = told.get("error")
    return (
        error if isinstance(error, str) and error.isidentifier() and len(error) <= 40 else "no reason given"
    )
