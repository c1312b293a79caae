"""A provider of OpenID Connect, made of Authlib.

It gives codes with PKCE to a client that has a secret, and tokens that it signs. It can be told to do what a provider must not: another audience, another key, a token that has ended.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.integrations.flask_oauth2.requests import FlaskOAuth2Request
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc6749.models import AuthorizationCodeMixin, ClientMixin
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode
from flask import Flask, jsonify, redirect, request
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from werkzeug.serving import make_server

CLIENT = "proctor"
SECRET = "OPENID-SECRET/+ 1"
# Of everybody who has an account there.
EVERYBODY = ("cora", "chen", "new")
Signer = RSAKey | ECKey | OctKey


@dataclass
class Provider:
    """What the provider is told; changed between two requests.

    Attributes:
        url: its address, which is the issuer.
        callback: the only address to which it sends people back.
        name: who is signed in there and sent back at once; None to show a page on which somebody chooses.
        groups: the groups of each name.
        method: how clients prove who they are.
        claims: what replaces the claims of an ID token, or, where null, takes them out.
        told: what replaces the reply of UserInfo.
        about: what replaces a part of the discovery document.
        key: what signs; another than the published ones makes a token that is not the provider's.
        published: the keys that it shows.
        header: what replaces the header of an ID token.
        asked: the paths of what was asked for, in order.
    """

    url: str = ""
    callback: str = ""
    name: str | None = "cora"
    groups: dict[str, list[str]] = field(default_factory=dict)
    method: str = "client_secret_basic"
    claims: dict[str, Any] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    key: Signer = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "k1"}))
    published: list[Signer] = field(default_factory=list)
    header: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@dataclass
class _Client(ClientMixin):  # type: ignore[misc]
    provider: Provider

    def get_client_id(self) -> str:
        return CLIENT

    def get_default_redirect_uri(self) -> str:
        return self.provider.callback

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri == self.provider.callback

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == self.provider.method

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class _Code(AuthorizationCodeMixin):  # type: ignore[misc]
    user: str
    data: dict[str, str]

    def __getattr__(self, name: str) -> str | None:
        return self.data.get(name)

    def get_redirect_uri(self) -> str:
        return self.data["redirect_uri"]

    def get_scope(self) -> str:
        return self.data["scope"]

    def get_nonce(self) -> str:
        return self.data["nonce"]

    def get_auth_time(self) -> int:
        return int(time.time())

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


def _build(provider: Provider) -> Flask:
    app = Flask(__name__)
    codes: dict[str, _Code] = {}
    access: dict[str, str] = {}

    def save(token: dict[str, Any], asked: Any) -> None:
        access[token["access_token"]] = asked.user

    server = AuthorizationServer(app, query_client=lambda name: _Client(provider) if name == CLIENT else None, save_token=save)  # fmt: skip

    class CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]
        TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["client_secret_basic", "client_secret_post", "none"]

        def save_authorization_code(self, code: str, asked: Any) -> None:
            codes[code] = _Code(asked.user, dict(asked.payload.data))

        def query_authorization_code(self, code: str, _client: object) -> _Code | None:
            return codes.get(code)

        def delete_authorization_code(self, code: _Code) -> None:
            codes.pop(next(name for name, one in codes.items() if one is code))

        def authenticate_user(self, code: _Code) -> str:
            return code.user

    class Tokens(OpenIDCode):  # type: ignore[misc]
        def exists_nonce(self, nonce: str, _request: object) -> bool:
            return any(code.data["nonce"] == nonce for code in codes.values())

        def get_client_algorithm(self, _client: object) -> str:
            return str(provider.header.get("alg") or _name_algorithm(provider.key))

        def get_client_claims(self, _client: object) -> dict[str, Any]:
            return {"iss": provider.url, "sub": "nobody"}

        def generate_user_info(self, user: str, _scope: str) -> dict[str, Any]:
            return describe(user)

        def process_token(self, grant: Any, response: Any) -> dict[str, Any]:
            token: dict[str, Any] = super().process_token(grant, response)
            if not (provider.claims or provider.header):
                return token
            told = jwt.decode(
                token["id_token"], provider.key, algorithms=[self.get_client_algorithm(None)]
            ).claims
            claims = {name: value for name, value in (told | provider.claims).items() if value is not None}
            header = self.get_encode_header(None) | provider.header
            token["id_token"] = jwt.encode(header, claims, provider.key, algorithms=[header["alg"]])
            return token

        def get_encode_header(self, client: object) -> dict[str, Any]:
            named = {"kid": provider.key.kid} if provider.key.kid else {}
            return {"alg": self.get_client_algorithm(client)} | named

        def resolve_client_private_key(self, _client: object) -> Signer:
            return provider.key

    def describe(user: str) -> dict[str, Any]:
        told = {
            "sub": f"id-of-{user}",
            "email": f"{user}@example.org",
            "email_verified": True,
            "preferred_username": user,
        }
        return told | ({"groups": provider.groups[user]} if user in provider.groups else {})

    server.register_grant(CodeGrant, [CodeChallenge(required=True), Tokens(require_nonce=True)])

    @app.before_request
    def note() -> None:
        provider.asked.append(request.path)

    @app.get("/.well-known/openid-configuration")
    def discover() -> Any:
        told = {
            "issuer": provider.url,
            "authorization_endpoint": f"{provider.url}/authorize",
            "token_endpoint": f"{provider.url}/token",
            "userinfo_endpoint": f"{provider.url}/userinfo",
            "end_session_endpoint": f"{provider.url}/leave",
            "jwks_uri": f"{provider.url}/keys",
            "token_endpoint_auth_methods_supported": [provider.method],
        } | provider.about
        return jsonify({name: value for name, value in told.items() if value is not None})

    @app.get("/keys")
    def show_keys() -> Any:
        return jsonify(KeySet(provider.published or [provider.key]).as_dict(private=False))

    @app.route("/authorize", methods=["GET", "POST"])
    def authorize() -> Any:
        try:
            grant = server.get_consent_grant(end_user=provider.name or "somebody")
        except OAuth2Error as error:
            return server.handle_error_response(FlaskOAuth2Request(request), error)
        name = provider.name if provider.name is not None else request.form.get("name")
        if name is None:
            choices = "".join(f'<button name="name" value="{escape(one)}">{escape(one)}</button>' for one in EVERYBODY)  # fmt: skip
            return f'<!doctype html><html lang="en"><title>Provider</title><h1>Who are you?</h1><form method="post">{choices}</form></html>'
        return server.create_authorization_response(grant=grant, grant_user=name or None)

    @app.post("/token")
    def redeem() -> Any:
        return server.create_token_response()

    @app.get("/userinfo")
    def tell() -> Any:
        user = access.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        return (jsonify(describe(user) | provider.told), 200) if user else (jsonify({}), 401)

    @app.get("/leave")
    def leave() -> Any:
        return redirect(request.args["post_logout_redirect_uri"])

    return app


def _name_algorithm(key: Signer) -> str:
    return {"RSA": "RS256", "EC": "ES256", "oct": "HS256"}[key.key_type]


@contextmanager
def serve_provider(callback: str, build: Callable[[Provider], Flask] = _build) -> Iterator[Provider]:
    """A provider that listens on this machine until the block ends."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    provider = Provider(callback=callback)
    server = make_server("127.0.0.1", 0, build(provider), threaded=True)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, name=f"provider-{secrets.token_hex(2)}")
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
