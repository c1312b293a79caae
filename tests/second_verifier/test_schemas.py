import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.second_verifier.sample import make_folder

DOCS = Path(__file__).parents[2] / "docs"
SCHEMAS = {path.stem: json.loads(path.read_bytes()) for path in sorted((DOCS / "schemas").glob("*.json"))}
REGISTRY = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
# Which schema describes which files; a name of lines describes each line of them.
FILES = {
    "log.jsonl": "log-entry",
    "heads.jsonl": "head",
    "witnesses.jsonl": "witness-line",
    "grades.json": "grades",
    "banks/*.jsonl": "bank-line",
    "runs/*/plan.json": "plan",
    "runs/*/exclusions.json": "exclusions",
    "runs/*/sets.jsonl": "set-line",
    "runs/*/orders.jsonl": "order-line",
    "runs/*/seed.json": "seed",
    "editions/*/edition.json": "edition",
    "editions/*/sessions.jsonl": "session-line",
    "questions/*.json": "question",
}


def make_validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(SCHEMAS[name], registry=REGISTRY)


def list_misfits(folder: Path) -> list[str]:
    """The places where a public folder does not match the schemas.

    Each is given as the file, its line and the reason. Files that no schema describes are listed as well.
    """
    misfits, seen = [], set()
    for pattern, name in FILES.items():
        validator = make_validator(name)
        for path in sorted(folder.glob(pattern)):
            seen.add(path)
            raw = path.read_bytes()
            values = (
                [json.loads(line) for line in raw.splitlines()]
                if path.suffix == ".jsonl"
                else [json.loads(raw)]
            )
            for number, value in enumerate(values, 1):
                misfits += [f"{pattern}, {number}: {error.message}" for error in validator.iter_errors(value)]
    return misfits + [
        f"{path.name}: no schema"
        for path in folder.rglob("*")
        if path.is_file() and path not in seen and path.suffix != ".picture"
    ]


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _walk(part)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_and_all_that_it_refers_to_is_there(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    resolver = REGISTRY.resolver(base_uri=SCHEMAS[name]["$id"])
    for part in _walk(SCHEMAS[name]):
        if "$ref" in part:
            assert resolver.lookup(part["$ref"]).contents


def test_the_schemas_describe_every_file_of_a_public_folder_and_its_receipts(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    assert list_misfits(tmp_path) == []
    assert {name for name in FILES if not list(tmp_path.glob(name))} == set()
    for receipt in folder.receipts:
        make_validator("receipt").validate(receipt)


def test_every_kind_of_entry_of_the_page_has_a_schema_with_its_fields() -> None:
    page = (DOCS / "verify.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, flags=re.MULTILINE))
    kinds = SCHEMAS["log-entry"]["$defs"]
    assert rows.keys() == kinds.keys()
    for kind, row in rows.items():
        for name in kinds[kind]["properties"]:
            assert f"`{name}`" in row, (kind, name)


def test_the_page_links_every_schema() -> None:
    page = (DOCS / "verify.md").read_text()
    assert set(re.findall(r"\]\(schemas/([\w-]+)\.json\)", page)) == set(SCHEMAS)


def _drop_a_field(value: dict[str, Any]) -> None:
    value.pop(next(iter(value)))


def _add_a_field(value: dict[str, Any]) -> None:
    value["name_of_a_person"] = "Mei"


def _spoil_a_hash(value: dict[str, Any]) -> None:
    for name, part in value.items():
        if isinstance(part, str) and re.fullmatch("[0-9a-f]{64}", part):
            value[name] = part.upper().replace("0", "G")


@pytest.mark.parametrize("damage", [_drop_a_field, _add_a_field, _spoil_a_hash])
def test_a_value_that_is_not_of_the_page_does_not_pass(
    damage: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    make_folder(tmp_path)
    for line in (tmp_path / "log.jsonl").read_bytes().splitlines():
        entry = json.loads(line)
        has_hash = any(re.fullmatch("[0-9a-f]{64}", str(part)) for part in entry["body"].values())
        if damage is _spoil_a_hash and not has_hash:
            continue
        damage(entry["body"])
        assert list(make_validator("log-entry").iter_errors(entry)), (entry["kind"], damage.__name__)
    edition = json.loads(next((tmp_path / "editions").glob("*/edition.json")).read_bytes())
    if damage is not _spoil_a_hash:
        damage(edition["scores"][0])
        assert list(make_validator("edition").iter_errors(edition))
