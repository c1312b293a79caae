"""Rounds of drand are checked against the chain's signature, whoever brings them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from py_arkworks_bls12381 import G1Point, Scalar

from schemas.errors import ProctorError, UsageError
from tasks.exam.public.draws.beacons import fetch_round, name_beacon, read_given
from tasks.exam.public.verifier import CHAINS, SIGNED_IN_G1, find_round_time, is_round_signed
from tests.local_server import Handler, serve

QUICKNET, DEFAULT = CHAINS
# As published: a round of quicknet and one of the default chain by users of a library, and one of the default chain by drand's own tests.
UNCHAINED = (
    657413,
    "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
    "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587",
)
CHAINED = (
    3311596,
    "a696b9409ababce45749c3a4ec369074453dd4a79967734e1390d969c8ad8d98897d217b9121e92c8ddebbddda8d92f900e3bd6bf9deb166863b1a19390d743f"
    "82774001487594c5c09e581db7365f02b70a2c8cc41ce32446ef08e4890c4754",
    "8ed588f2a7716fb1349e2d9803da5db0005e98a83783c353d4a08f183236a9ad91d70ddb01266f4b7c576983db464b430e65680b9e0098552758afd6c1e6afcb"
    "77e3f62fe1b93d42d1cb63abbb2205512fe12fbf74ea9c5ac3b8f5c1e283a1d8",
    "647c07b2abbf7ff2afb4d670214f565e5cd9f9c91bfdcecb59a21f3c78d73920",
)
OF_DRAND = (
    2634945,
    "814778ed1e480406beb43b74af71ce2f0373e0ea1bfdfea8f9ed62c876c20fcbc7f0163860e3da42ed2148756015f4551451898ffe06d384b4d002245025571b"
    "6b7a752f7158b40ad92b13b6d703ad31922a617f2c7f6d960b84d56cf1d79eef",
    "8bd96294383b4d1e04e736360bd7a487f9f409f1e7bd800b720656a310d577b3bdb1e1631af6c5782a1d8979c502f395036181eff4058960fc40bb7034cdae19"
    "91d3eda518ab204a077d2f7e724974cf87b407e549bd815cf0b8e5a3832f675d",
)


def test_published_rounds_of_both_chains_are_signed_and_nothing_else_is() -> None:
    number, signature, value = UNCHAINED
    assert is_round_signed(QUICKNET, number, bytes.fromhex(signature), b"")
    assert not is_round_signed(QUICKNET, number + 1, bytes.fromhex(signature), b"")
    assert not is_round_signed(QUICKNET, number, bytes(48), b"")
    assert not is_round_signed(QUICKNET, number, b"", b"")
    named = {"source": "s", "chain": QUICKNET, "round": number}
    assert read_given(named, signature)["value"] == value
    for number, signature, previous in (CHAINED[:3], OF_DRAND):
        assert is_round_signed(DEFAULT, number, bytes.fromhex(signature), bytes.fromhex(previous))
        assert not is_round_signed(DEFAULT, number, bytes.fromhex(signature), b"")
        assert not is_round_signed(QUICKNET, number, bytes.fromhex(signature), bytes.fromhex(previous))
    number, signature, previous, value = CHAINED
    named = {"source": "s", "chain": DEFAULT, "round": number}
    reply = {"round": number, "signature": signature, "previous_signature": previous, "randomness": value}
    assert read_given(named, json.dumps(reply)) == {
        "source": "s",
        "value": value,
        "signature": signature,
        "previous": previous,
    }


def test_a_round_is_named_before_it_is_given_out_and_its_moment_follows_from_its_number() -> None:
    now = datetime(2026, 11, 26, 12, 0, 1, tzinfo=UTC)
    named = name_beacon("drand", now)
    given_out = find_round_time(named["chain"], named["round"]).replace(tzinfo=UTC)
    assert named["source"] == f"drand quicknet, round {named['round']}"
    assert 600 < (given_out - now).total_seconds() <= 606
    assert find_round_time(QUICKNET, UNCHAINED[0]) == datetime(2023, 9, 15, 11, 0, 3)
    number = named["round"] + 5
    assert name_beacon(f"Drand quicknet, round {number}", now)["round"] == number
    assert name_beacon("drand default", now)["chain"] == DEFAULT
    assert name_beacon("the lottery of 1 December", now) == {"source": "the lottery of 1 December"}
    for text, reason in (
        ("drand quicknet round 657413", "was given out at 2023-09-15 11:00:03 UTC"),
        ("drand quicknett", "is no round of drand"),
        ("drand quicknet 24000000", "is no round of drand"),
        ("two\nlines", "one line"),
    ):
        with pytest.raises(UsageError, match=reason):
            name_beacon(text, now)


def test_what_drand_did_not_sign_is_refused_and_a_typed_value_is_taken_as_it_is() -> None:
    named = {"source": "drand quicknet, round 657414", "chain": QUICKNET, "round": 657414}
    for text in (UNCHAINED[1], json.dumps({"round": 657414, "signature": UNCHAINED[1]})):
        with pytest.raises(UsageError, match="drand did not sign this in drand quicknet, round 657414"):
            read_given(named, text)
    for text in ("7e1f", "{", "[]", "no digits", json.dumps({"signature": 7})):
        with pytest.raises(UsageError):
            read_given(named, text)
    assert read_given({"source": "dice"}, " 4 ") == {"source": "dice", "value": "4"}


@pytest.fixture
def drand() -> Iterator[tuple[str, dict[str, Any]]]:
    """A server that answers as drand does: its address, and what it says of each path."""
    said: dict[str, Any] = {}

    class Answers(Handler):
        def do_GET(self) -> None:
            found = said.get(self.path)
            self.send(200 if found else 404, found or {})

    with serve(Answers) as port:
        yield f"http://127.0.0.1:{port}/", said


def test_a_round_is_fetched_once_it_is_given_out_and_believed_for_its_signature_alone(
    drand: tuple[str, dict[str, Any]],
) -> None:
    url, said = drand
    number, signature, value = UNCHAINED
    named = {"source": f"drand quicknet, round {number}", "chain": QUICKNET, "round": number}
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(ProctorError, match="Look the round up elsewhere"):
        fetch_round(url, named, now)
    with pytest.raises(UsageError, match="is given out at 2023-09-15 11:00:03 UTC: draw then"):
        fetch_round(url, named, datetime(2023, 9, 15, tzinfo=UTC))
    with pytest.raises(UsageError, match="is to be typed"):
        fetch_round(url, {"source": "dice"}, now)
    said[f"/{QUICKNET}/public/{number}"] = {"round": number, "randomness": "00", "signature": signature}
    assert read_given(named, fetch_round(url, named, now))["value"] == value
    # Whoever answers in drand's place has no key of its own: what another key signs is refused.
    message = hashlib.sha256(number.to_bytes(8, "big")).digest()
    forged = G1Point.hash_to_curve(message, SIGNED_IN_G1) * Scalar(7)
    said[f"/{QUICKNET}/public/{number}"] = {"signature": bytes(forged.to_compressed_bytes()).hex()}
    with pytest.raises(UsageError, match="drand did not sign this"):
        read_given(named, fetch_round(url, named, now))
