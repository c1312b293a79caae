"""Public values that nobody can know when a run is committed to.

A round of drand names itself by its chain and number, and is checked against the chain's signature; any other value is typed, and
nobody here can say whether its source gave it out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from schemas.errors import ProctorError, StoreError, UsageError
from tasks.exam.public.verifier import CHAINS, find_round_time, is_round_signed

# So long before its round a commit is made, unless a round is named: witnesses have it by then.
LEAD_S: Final = 600
_LONGEST: Final = 200
_LONGEST_ROUND: Final = 4_000
_TIME_LIMIT_S: Final = 15.0
_DRAND = re.compile(
    r"drand(?:[ ,]+(?P<chain>[a-z]+?))?(?:[ ,]+round +(?P<number>[0-9]{1,12}))?", re.IGNORECASE
)


def name_beacon(text: str, now: datetime) -> dict[str, Any]:
    """A beacon as it stands in a commitment.

    `text` is `drand`, `drand CHAIN round NUMBER`, or where another value will be. Of drand without a number it is the first round ten minutes from `now`. Raises UsageError for a text that is no line, a chain that
    is not known, and a round that is given out already.
    """
    text = check_line("The beacon's source", text)
    if not text.lower().startswith("drand"):
        return {"source": text}
    found, names = _DRAND.fullmatch(text), {name: chain for chain, (name, *_) in CHAINS.items()}
    chain = names.get((found["chain"] or "quicknet").lower()) if found else None
    if found is None or chain is None:
        raise UsageError(
            f"The beacon {text!r} is no round of drand: write 'drand', or 'drand CHAIN round NUMBER' with one of the chains "
            f"{', '.join(names)}."
        )
    name, _, first, seconds = CHAINS[chain]
    number = int(found["number"] or 0) or int(now.timestamp() + LEAD_S - first) // seconds + 2
    beacon: dict[str, Any] = {"source": f"drand {name}, round {number}", "chain": chain, "round": number}
    given_out = find_moment(beacon)
    if given_out is not None and given_out <= now:
        raise UsageError(
            f"Round {number} of drand's {name} was given out at {given_out:%Y-%m-%d %H:%M:%S} UTC: name one that is still to come, or "
            "'drand' alone."
        )
    return beacon


def find_moment(named: Mapping[str, Any]) -> datetime | None:
    """When the value of a named beacon is given out; null for one that is typed."""
    if named.get("chain") not in CHAINS:
        return None
    return find_round_time(named["chain"], named["round"]).replace(tzinfo=UTC)


def describe_due(named: Mapping[str, Any]) -> str:
    """When the value of a named beacon is there; an empty text for one that is typed."""
    moment = find_moment(named)
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def read_given(named: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A beacon's value as it stands in a draw, from what was typed or fetched.

    Of drand it is the round's JSON, or its signature in hexadecimal digits. Raises UsageError for what the chain did not sign.
    """
    if "chain" not in named:
        return {"source": named["source"], "value": check_line("The beacon's value", text)}
    text = text.strip()
    fields: Any = {"signature": text}
    if text.startswith("{") and len(text) <= _LONGEST_ROUND:
        try:
            fields = json.loads(text)
        except ValueError:
            fields = {}
    signature, previous = fields.get("signature"), fields.get("previous_signature") or None
    if not _is_hex(signature) or not (previous is None or _is_hex(previous)):
        raise UsageError(
            f"What you gave is not {named['source']}: give the JSON that drand answers with, or its signature in hexadecimal digits."
        )
    signature = signature.lower()
    previous = previous.lower() if previous else None
    try:
        import py_arkworks_bls12381  # noqa: F401
    except ImportError:
        raise StoreError(
            "The package py-arkworks-bls12381 is missing, without which no round of drand can be checked: `make setup` installs it."
        ) from None
    is_signed = is_round_signed(
        named["chain"], named["round"], bytes.fromhex(signature), bytes.fromhex(previous or "")
    )
    if not is_signed:
        raise UsageError(
            f"drand did not sign this in {named['source']}. Look that round up again; of a chained one the JSON is needed, with the "
            "signature before."
        )
    return {
        "source": named["source"],
        "value": hashlib.sha256(bytes.fromhex(signature)).hexdigest(),
        "signature": signature,
        **({} if previous is None else {"previous": previous}),
    }


def fetch_round(url: str, named: Mapping[str, Any], now: datetime) -> str:
    """What drand answers for a named round. It is believed as far as its signature goes.

    Raises UsageError for a value that is typed or is not given out yet, ProctorError where drand cannot be reached.
    """
    if "chain" not in named:
        raise UsageError(
            f"The value of {named['source']!r} is to be typed: look it up, and give it with --beacon-value TEXT."
        )
    given_out = find_moment(named)
    if given_out is not None and now < given_out:
        raise UsageError(f"{named['source']} is given out at {describe_due(named)}: draw then.")
    address = f"{url.rstrip('/')}/{named['chain']}/public/{named['round']}"
    import httpx

    try:
        reply = httpx.get(address, timeout=_TIME_LIMIT_S, follow_redirects=True).raise_for_status()
        return reply.text[:_LONGEST_ROUND]
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ProctorError(
            f"{address} cannot be read ({type(error).__name__}). Look the round up elsewhere, and give its JSON with --beacon-value."
        ) from None


def check_line(what: str, text: str) -> str:
    """The text as one line; raises UsageError for an empty, long or unprintable one."""
    text = text.strip()
    if not text or len(text) > _LONGEST or not text.isprintable():
        raise UsageError(f"{what} is one line of 1 to {_LONGEST} characters.")
    return text


def _is_hex(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"([0-9a-fA-F]{2}){1,200}", value))
