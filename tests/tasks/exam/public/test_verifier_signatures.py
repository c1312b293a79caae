"""Ed25519 of the verifier, pinned to RFC 8032 and to another implementation."""

from __future__ import annotations

import hashlib
import random

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tasks.exam.public import verifier

# RFC 8032, section 7.1: TEST 1, 2, 3 and SHA(abc): public key, message, signature.
VECTORS = {
    "1": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    "2": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    "3": (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    "SHA(abc)": (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").hexdigest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
}


def is_signed_elsewhere(key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_of_rfc_8032_are_good_and_with_any_part_changed_are_not(name: str) -> None:
    key, message, signature = (bytes.fromhex(part) for part in VECTORS[name])
    assert verifier.is_signed(key, signature, message)
    assert not verifier.is_signed(key, signature, message + b"\0")
    for place in (0, 31, 32, 63):
        changed = bytearray(signature)
        changed[place] ^= 1
        assert not verifier.is_signed(key, bytes(changed), message)


def test_what_is_no_canonical_signature_is_refused() -> None:
    key, message, signature = (bytes.fromhex(part) for part in VECTORS["2"])
    larger = int.from_bytes(signature[32:], "little") + verifier.L
    assert not verifier.is_signed(key, signature[:32] + larger.to_bytes(32, "little"), message)
    for wrong in (b"", signature[:-1], signature + b"\0"):
        assert not verifier.is_signed(key, wrong, message)
    for wrong in (b"", key[:-1], key + b"\0"):
        assert not verifier.is_signed(wrong, signature, message)


def test_keys_that_are_no_point_or_not_in_their_one_form_are_refused() -> None:
    # Section 5.1.3: y beyond the field, x = 0 with a sign, and a y without an x.
    wrong = [verifier.P, verifier.P + 1, 2**255 - 1, 1 | 1 << 255, (verifier.P - 1) | 1 << 255, 2]
    assert [verifier.decode_point(number.to_bytes(32, "little")) for number in wrong] == [None] * len(wrong)


def test_random_signatures_are_judged_as_by_another_implementation() -> None:
    rng = random.Random(8032)
    found = {True: 0, False: 0}
    for _ in range(12):
        private = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
        key, message = private.public_key().public_bytes_raw(), rng.randbytes(rng.randrange(200))
        signature = private.sign(message)
        flipped = bytearray(signature)
        flipped[rng.randrange(64)] ^= 1 << rng.randrange(8)
        for one, two, three in (
            (key, signature, message),
            (key, bytes(flipped), message),
            (rng.randbytes(32), signature, message),
            (key, rng.randbytes(64), message),
        ):
            expected = is_signed_elsewhere(one, two, three)
            assert verifier.is_signed(one, two, three) is expected
            found[expected] += 1
    assert found == {True: 12, False: 36}


def test_points_of_small_order_are_judged_as_by_another_implementation() -> None:
    """Keys of order 1, 2, 4 or 8 whose R and s solve the equation or do not; no cofactor."""
    small = [
        (1).to_bytes(32, "little"),
        (verifier.P - 1).to_bytes(32, "little"),
        bytes(32),
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    ]
    judged = set()
    for key in small:
        for first in small:
            for message in (b"", b"a", b"b"):
                signature = first + bytes(32)
                expected = is_signed_elsewhere(key, signature, message)
                assert verifier.is_signed(key, signature, message) is expected
                judged.add(expected)
    assert judged == {True, False}
