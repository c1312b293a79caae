"""A university's portal, to which people are sent to sign in."""

import asyncio
import base64
import hashlib
import hmac
import json
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from deployments.auth.kinds import Recognised
from schemas.errors import UsageError


class Portal:
    title = {"en": "University portal", "zh": "校园门户"}
    help = {"en": "Use the account of your university.", "zh": "请使用校园账户。"}

    def __init__(self, url, secret):
        self._url = url
        self._secret = secret

    async def begin(self, attempt):
        digest = hashlib.sha256(attempt.verifier.encode()).digest()
        asked = {
            "client_id": "proctor",
            "redirect_uri": attempt.callback,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        }
        return f"{self._url}/authorize?{urlencode(asked)}"

    async def read_answer(self, attempt, query):
        if not query.get("code"):
            return None
        sent = {"code": query["code"], "code_verifier": attempt.verifier, "client_secret": self._secret}
        try:
            told = await asyncio.to_thread(self._redeem, sent)
        except HTTPError as error:
            if error.code < 500:
                return None
            raise
        if not hmac.compare_digest(told["nonce"].encode(), attempt.nonce.encode()):
            return None
        return Recognised(told["name"].lower(), tuple(told["groups"]))

    async def end(self, back):
        return f"{self._url}/leave?{urlencode({'back': back})}"

    def _redeem(self, sent):
        request = Request(f"{self._url}/token", urlencode(sent).encode())
        with urlopen(request, timeout=10) as reply:
            return json.load(reply)


def open_kind(options):
    if set(options) != {"url", "secret"}:
        raise UsageError("The portal needs the options `url` and `secret`, and no others.")
    return Portal(options["url"], options["secret"])
