"""What is installed is listed, given to others as a bill, and compared with advisories."""

from __future__ import annotations

import json
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from schemas.errors import StoreError, UsageError
from tasks.operations.packages import describe_materials, find_advisories, list_packages, read_advisories
from tasks.operations.packages.installed import Package

TORCH = Package("torch", "2.13.0+cpu", "BSD-3-Clause", True, ("sympy",), "Tensors", "")
SYMPY = Package("sympy", "1.14.0", "BSD", False, (), "Algebra", "https://sympy.example/a page")


def advise(name: str, *events: dict[str, str], **fields: Any) -> dict[str, Any]:
    """An advisory about a package, with a range of these events."""
    affected = {
        "package": {"ecosystem": "PyPI", "name": name},
        "ranges": [{"type": "ECOSYSTEM", "events": list(events)}],
    }
    return {"id": "PYSEC-2026-1", "summary": "It may be stopped.", "affected": [affected]} | fields


def is_found(one: Package, record: dict[str, Any]) -> bool:
    return bool(find_advisories([one], [record]))


@pytest.fixture(scope="module")
def installed() -> list[Package]:
    return list_packages()


def test_what_is_installed_is_listed_with_what_it_needs_and_its_licence(installed: list[Package]) -> None:
    own, *needed = installed
    assert (own.name, own.licence) == ("proctor", "Apache-2.0")
    by_name = {one.name: one for one in needed}
    assert list(by_name) == sorted(by_name)
    # By an extra of a need (`openai[aiohttp]`), and by the need of a need.
    assert "aiohttp" in by_name["openai"].needs
    assert {"torch", "transformers"} <= set(by_name["sentence-transformers"].needs)
    assert by_name["torch"].version == version("torch")
    assert [one.name for one in needed if not one.licence] == []


def test_no_licence_is_affero(installed: list[Package]) -> None:
    # CONTRIBUTING.md: what is published by a server would have to be given away with it.
    licences = {one.name: one.licence.lower() for one in installed}
    assert {name for name, text in licences.items() if "affero" in text or "agpl" in text} == set()


def test_a_root_that_is_not_installed_is_an_error() -> None:
    with pytest.raises(StoreError, match="no-such-package is not installed"):
        list_packages("no-such-package")


def test_the_bill_of_what_is_installed_is_valid(installed: list[Package]) -> None:
    bill = describe_materials(installed)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
    assert [one["name"] for one in bill["components"]] == [one.name for one in installed[1:]]


def test_a_bill_names_packages_by_their_address_and_what_they_need() -> None:
    bill = describe_materials([TORCH, SYMPY])
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
    assert bill["dependencies"] == [
        {"ref": "pkg:pypi/torch@2.13.0%2Bcpu", "dependsOn": ["pkg:pypi/sympy@1.14.0"]},
        {"ref": "pkg:pypi/sympy@1.14.0", "dependsOn": []},
    ]
    assert bill["metadata"]["component"]["licenses"] == [{"expression": "BSD-3-Clause"}]
    assert bill["components"][0]["licenses"] == [{"license": {"name": "BSD"}}]
    assert bill["components"][0]["externalReferences"][0]["url"] == "https://sympy.example/a%20page"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([{"introduced": "0"}], True),
        ([{"introduced": "0"}, {"fixed": "1.14.0"}], False),
        ([{"introduced": "0"}, {"fixed": "1.14.1"}], True),
        # A candidate for a release comes before it.
        ([{"introduced": "0"}, {"fixed": "1.14.0rc1"}], False),
        ([{"introduced": "1.14.0rc1"}, {"fixed": "1.15"}], True),
        ([{"introduced": "0"}, {"last_affected": "1.14.0"}], True),
        ([{"introduced": "0"}, {"last_affected": "1.9"}], False),
        # Mended, and broken again; in no order, as the form allows.
        ([{"introduced": "1.14"}, {"fixed": "1.2"}, {"introduced": "0"}], True),
        ([{"introduced": "1.13"}, {"fixed": "1.14"}, {"introduced": "0"}, {"fixed": "1.2"}], False),
        ([{"introduced": "0"}, {"limit": "1.14"}], False),
        ([{"introduced": "0"}, {"limit": "*"}], True),
        # Nobody can tell: somebody is to look.
        ([{"introduced": "0"}, {"fixed": "a nightly of May"}], True),
    ],
)
def test_a_version_is_affected_as_the_form_says(events: list[dict[str, str]], expected: bool) -> None:
    assert is_found(SYMPY, advise("SymPy", *events)) is expected


def test_a_build_of_our_own_has_the_faults_of_its_version() -> None:
    assert is_found(TORCH, advise("torch", {"introduced": "0"}, {"last_affected": "2.13.0"}))
    listed = advise("torch")
    listed["affected"][0]["versions"] = ["2.12.0", "2.13.0"]
    assert is_found(TORCH, listed)


def test_what_is_withdrawn_or_about_others_is_passed_over() -> None:
    assert not is_found(SYMPY, advise("sympy", {"introduced": "0"}, withdrawn="2026-01-01T00:00:00Z"))
    assert not is_found(TORCH, advise("sympy", {"introduced": "0"}))
    commits = advise("sympy")
    commits["affected"][0]["ranges"] = [{"type": "GIT", "events": [{"introduced": "0"}]}]
    assert not is_found(SYMPY, commits)
    elsewhere = advise("sympy", {"introduced": "0"})
    elsewhere["affected"][0]["package"]["ecosystem"] = "npm"
    assert not is_found(SYMPY, elsewhere)


def test_a_fault_with_two_names_is_one_finding() -> None:
    ours = advise("sympy", {"introduced": "0"}, {"fixed": "1.20"}, aliases=["CVE-2026-5"])
    theirs = advise(
        "sympy", {"introduced": "0"}, {"fixed": "1.14.1"}, id="GHSA-1", aliases=["CVE-2026-5"], summary=""
    )
    (found,) = find_advisories([SYMPY, TORCH], [ours, theirs])
    assert found._asdict() == {
        "package": "sympy",
        "version": "1.14.0",
        "advisory": "GHSA-1",
        "aliases": ("CVE-2026-5", "PYSEC-2026-1"),
        "fixed": ("1.14.1", "1.20"),
        "summary": "It may be stopped.",
    }


def test_advisories_are_read_from_a_file_a_zip_and_a_folder(tmp_path: Path) -> None:
    first, second = advise("sympy"), advise("torch", id="PYSEC-2026-2")
    other = advise("left-pad")
    other["affected"][0]["package"]["ecosystem"] = "npm"
    (tmp_path / "one.json").write_text(json.dumps({"vulns": [first, other]}))
    assert read_advisories(tmp_path / "one.json") == [first]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("PYSEC-2026-2.json", json.dumps(second))
    assert read_advisories(tmp_path / "all.zip") == [second]
    (tmp_path / "one.json").write_text(json.dumps([first]))
    assert read_advisories(tmp_path) == [second, first]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "holds no advisory"),
        ('[{"id": "X"}]', r"holds no advisory about a package of PyPI \(of 1 records\)"),
        ("{", "is no JSON"),
        ('{"name": "x"}', "each has an `id`"),
    ],
)
def test_what_holds_no_advisory_is_never_a_pass(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "advisories.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=message):
        read_advisories(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_advisories(tmp_path / "missing.json")
