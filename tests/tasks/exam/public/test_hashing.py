"""Digests and trees, pinned to the test vectors of Certificate Transparency."""

from __future__ import annotations

import hashlib

import pytest

from tasks.exam.public.hashing import compute_root, digest, follow_path, make_path

# The inputs of the reference test of RFC 6962's trees, and the roots of the first n of them.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


@pytest.mark.parametrize("count", ROOTS)
def test_roots_are_those_of_the_reference_vectors(count: int) -> None:
    assert compute_root(LEAVES[:count]).hex() == ROOTS[count]


@pytest.mark.parametrize("count", range(1, 20))
def test_every_path_leads_to_the_root_and_a_wrong_leaf_does_not(count: int) -> None:
    leaves = [hashlib.sha256(bytes([number])).digest() for number in range(count)]
    for place, leaf in enumerate(leaves):
        path = make_path(leaves, place)
        assert follow_path(leaf, place, count, path) == compute_root(leaves)
        assert follow_path(hashlib.sha256(b"other").digest(), place, count, path) != compute_root(leaves)
        with pytest.raises(ValueError, match="zip"):
            follow_path(leaf, place, count, [*path, leaf])


def test_parts_cannot_be_moved_from_one_to_the_next() -> None:
    expected = b"\0\0\0\3tag" + b"\0\0\0\2ab" + b"\0\0\0\2" + b"12"
    assert digest("tag", "ab", 12) == hashlib.sha256(expected).digest()
    assert digest("tag", "a", "b") != digest("tag", "ab", "")


@pytest.mark.parametrize("count", [1023, 1024, 1025, 2048, 3077, 4096 + 1024])
def test_the_root_of_many_leaves_is_that_of_two_halves(count: int) -> None:
    def split(leaves: list[bytes]) -> bytes:
        if len(leaves) == 1:
            return hashlib.sha256(b"\x00" + leaves[0]).digest()
        half = 1 << (len(leaves) - 1).bit_length() - 1
        return hashlib.sha256(b"\x01" + split(leaves[:half]) + split(leaves[half:])).digest()

    leaves = [hashlib.sha256(b"%d" % number).digest() for number in range(count)]
    assert compute_root(iter(leaves)) == split(leaves)
