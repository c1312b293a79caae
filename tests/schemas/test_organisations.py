"""An organisation is recognised however its name is written."""

from __future__ import annotations

import pytest

from schemas.organisations import name_families, normalise_organisation


@pytest.mark.parametrize(
    "name",
    ["Org0", "org0", "ＯＲＧ０", "Org 0", " org\u00a00 ", "Org\u200b0", "Org-0", "org_0", "Org.0", "ORG\t0"],
)
def test_ways_to_write_one_name_are_one(name: str) -> None:
    assert normalise_organisation(name) == "org0"


def test_other_names_stay_apart_and_a_name_without_letters_is_none() -> None:
    names = ("Org0", "Org1", "Orgo", "实验室", "实验", "Straße", "C+")
    assert len({normalise_organisation(name) for name in names}) == len(names)
    assert normalise_organisation("Straße") == normalise_organisation("STRASSE")
    assert [normalise_organisation(name) for name in ("", " ", "...", "—")] == ["", "", "", ""]


def test_families_of_one_name_in_two_organisations_are_called_apart() -> None:
    shared = [("North", "chat"), ("Org 0", "chat"), ("org0", "chat")]
    alone = [("North", "base"), ("North", None), (None, "chat")]

    assert list(name_families(shared + alone).values()) == [
        "chat (North)", "chat (Org 0)", "chat (org0)", "base", None, "chat",
    ]  # fmt: skip
    assert list(name_families(shared[1:]).values()) == ["chat", "chat"]
    # Whose organisation bears the name keeps it.
    assert list(name_families([("North", "North"), ("South", "North")]).values()) == [
        "North",
        "North (South)",
    ]
