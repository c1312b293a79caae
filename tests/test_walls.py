"""The house has walls.

There are rooms with a face each, and a table of which stage may use which, with its reason.

A room is a package with a face: `__init__.pyi` names what others may use, each name with a sentence, and `__init__.py` loads a name
when it is asked for. Who is outside a room imports from its face alone. What is not in the tables fails; so does an entry that
nothing needs any more.
"""

from __future__ import annotations

import ast
import importlib
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.sources import LAYERS, READS_SOURCES, ROOT, list_files, read_source

pytestmark = READS_SOURCES
FACE = "__init__.pyi"

# Used by the stages; they use none of them.
FOUNDATIONS = ("questions", "running", "statistics", "texts")

# Which room of tasks/ uses which, beside those that all may use (running and texts).
DOORS: Mapping[str, Mapping[str, str]] = {
    "models": {
        "questions": "the pictures of a question go with a request, each read by the hash that the question has",
    },
    "ingest": {
        "models": "a registered model reads the papers that the rules cannot split",
        "questions": "what is split out of a paper becomes a question with its identity",
    },
    "review": {
        "ingest": "a workbook from outside is opened by the guard that also opens papers",
        "questions": "an edited question gets its identity and must keep the format rules",
        "statistics": "agreement between annotators: kappa and alpha",
    },
    "bank": {
        "gscore": "stems are compared by Gscore's embedding model where that is asked for",
        "models": "a registered model writes variants",
        "questions": "variants are held to the rules of a question; duplicates are found by its identity and normal form",
    },
    "exam": {
        "judging": "a reference's sitting serves only as long as the judge's prompt is the same",
        "models": "candidates are called through the one door",
        "questions": "questions are put bare, in the words of their prompt style",
        "statistics": "a plan forecasts the error of the equated score",
    },
    "judging": {
        "gscore": "results are compared with their keys in the standard form of calculations",
        "league": "verdicts on a league's questions, given on the web, land as its workbook's do",
        "models": "judges are called through the one door; the registry says which family a judge is of",
        "questions": "a judge sees the question, and the reference answer in its form; draws that a seed repeats",
        "review": "a workbook that a person filled in is written and read as all of them are, opened by the guard",
        "statistics": "kappa, agreement and bias with their errors; alpha among the raters",
    },
    "contamination": {
        "bank": "leaked texts are compared in the normal form in which duplicates are found",
        "exchange": "a public set is read as any table that others made",
        "models": "candidates complete questions through the one door",
        "questions": "the draw of questions, and the form of messages",
        "statistics": "shares with their intervals",
    },
    "exchange": {
        "questions": "records of questions are read by the form in which they leave",
        "statistics": "rank correlation between benchmarks, with its p-value",
    },
    "editions": {
        "questions": "the chance level of a set follows from its keys",
        "exam": "an edition's files and its entry go to the public folder and log, with the hashes of answers",
        "statistics": "scores, intervals, ranks and the equated scale are computed as an edition is frozen",
    },
    "gscore": {
        "models": "candidates write the texts that are scored",
        "review": "a workbook that a person filled in is written and read as all of them are, opened by the guard",
    },
    "league": {
        "gscore": "questions are compared by Gscore's embedding model, and results by its standard form",
        "models": "candidates are called through the one door",
        "review": "a workbook that a person filled in is written and read as all of them are, opened by the guard",
        "statistics": "ratings with intervals, tests, overlaps and replays",
    },
    "proof": {
        "exam": "the closed sessions of both stores are compared, and findings are those of the audit log",
        "ingest": "originals are found in the archive, where they lie by their hash",
        "judging": "the call behind a judgement is named again from what the judge was asked",
        "models": "the registry's file as a unit of a stage",
        "questions": "the pictures of questions are held to their names",
    },
    "report": {
        "models": "the registry says which models a team owns, for whose members a report is made",
        "proof": "the report's files are closed as they were written",
        "contamination": "the page of leaks shows the leak watch by the same calculation as the command",
        "gscore": "the page shows agreement with people by the same calculation as the command",
        "statistics": "the fitted curve of score against release date, and rank correlations",
    },
    "watching": {
        "exam": "how far the runs under way are, as `proctor runs` shows it",
        "models": "the registry says which models a team owns, whose members see no others",
        "questions": "an answer is shown with its question",
    },
    "operations": {
        "exam": "closed sessions, the audit log, and an erasure's entry in the public log with the root over its answers",
        "judging": "lands marks that were given on the web",
        "models": "lands paid calls",
        "questions": "every original and variant is held to the rules of a question",
        "review": "lands closed batches",
    },
}

# What other packages build on (docs/extending.md): shown as it is, without a face.
CONTRACTS = frozenset(
    {
        "deployments.auth.kinds",
        "deployments.auth.kinds.conformance",
        "tasks.gscore.metrics",
        "tasks.gscore.metrics.conformance",
        "tasks.ingest.readers",
        "tasks.ingest.readers.conformance",
        "tasks.judging.kinds",
        "tasks.judging.kinds.conformance",
        "tasks.models.providers",
        "tasks.models.providers.conformance",
        "warehouse.lake.conformance",
    }
)

# How many imports of the tests of other rooms still reach into a room. These numbers only fall.
REACHED_BY_TESTS: Mapping[str, int] = {
    "deployments.auth": 4,
    "deployments.command_line": 1,
    "deployments.guide": 1,
    "deployments.flow_runs": 4,
    "deployments.http": 7,
    "deployments.model_server": 13,
    "deployments.web": 1,
    "tasks.bank.augment": 7,
    "tasks.bank.dedupe": 1,
    "tasks.contamination": 4,
    "tasks.editions": 3,
    "tasks.exam.log.signing": 1,
    "tasks.exam.public.bank": 2,
    "tasks.gscore": 1,
    "tasks.ingest": 32,
    "tasks.judging": 1,
    "tasks.judging.calibration": 4,
    "tasks.judging.marking": 1,
    "tasks.league": 2,
    "tasks.models.budget": 2,
    "tasks.models.registry": 2,
    "tasks.operations.validation": 2,
    "tasks.questions.identity": 1,
    "tasks.review.decisions": 1,
    "tasks.running": 2,
    "tasks.running.flow_runs.record": 1,
    "tasks.statistics": 2,
    "tasks.watching.answers": 1,
    "warehouse.lake": 4,
    "warehouse.lake.reading": 1,
    "warehouse.lake.suite": 2,
    "warehouse.lake.upkeep": 2,
    "warehouse.ledger.engine": 1,
}


class Import(NamedTuple):
    """An import of one of our modules.

    It has who imports, the module, and the name taken from it (empty: the module itself).
    """

    importer: str
    module: str
    name: str


@cache
def list_modules(root: Path = ROOT) -> Mapping[str, Path]:
    """Module → its file, of all layers and the tests."""
    found: dict[str, Path] = {}
    for layer in (*LAYERS, "tests"):
        for path in list_files(layer, root):
            found[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


@cache
def read_imports(root: Path = ROOT) -> tuple[Import, ...]:
    """Every import of our own modules, anywhere in a module; relative ones are resolved."""
    modules = list_modules(root)
    return tuple(one for importer, path in modules.items() for one in _read_imports(importer, path, modules))


def _read_imports(importer: str, path: Path, modules: Mapping[str, Path]) -> Iterator[Import]:
    package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
    for one in read_source(path).imports:
        if not one.is_from:
            yield from (Import(importer, name, "") for name in one.names if name in modules)
            continue
        above = package.split(".")[: len(package.split(".")) - one.level + 1] if one.level else []
        source = ".".join([*above, *([one.module] if one.module else [])])
        for name in one.names:
            whole = f"{source}.{name}"
            if whole in modules:
                yield Import(importer, whole, "")
            elif source in modules:
                yield Import(importer, source, name)


@cache
def read_faces(root: Path = ROOT) -> Mapping[str, Mapping[str, str]]:
    """Room → the names on its face, each with its sentence."""
    return {
        ".".join(path.parent.relative_to(root).parts): _read_face(path)
        for layer in LAYERS
        for path in sorted((root / layer).rglob(FACE))
    }


def _read_face(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    nodes = [node for node in ast.parse("\n".join(lines)).body if isinstance(node, ast.ImportFrom)]
    return {node.names[0].name: lines[node.lineno - 2].removeprefix("# ") for node in nodes}


def find_room(module: str, rooms: Mapping[str, Mapping[str, str]]) -> str | None:
    """The innermost room that a module lies in."""
    parts = module.split(".")
    names = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((name for name in names if name in rooms), None)


def is_at_home(importer: str, room: str) -> bool:
    """Whether a module belongs to a room, is a test of it, or a test of the room around it."""
    own = importer.removeprefix("tests.")
    if own == room or own.startswith(f"{room}."):
        return True
    around = own.rpartition(".")[0]
    return own != importer and around.count(".") >= 1 and room.startswith(f"{around}.")


def find_intrusions(root: Path = ROOT) -> list[Import]:
    """Imports of a room's own modules by who is outside."""
    faces = read_faces(root)
    found = []
    for one in read_imports(root):
        room = find_room(one.module, faces)
        if room is None or one.module in {room, *CONTRACTS} or is_at_home(one.importer, room):
            continue
        # A module that stands on the face is used whole.
        if one.module.rpartition(".")[0] == room and one.module.rpartition(".")[2] in faces[room]:
            continue
        found.append(one)
    return found


def read_doors(root: Path = ROOT) -> dict[str, set[str]]:
    """Room of tasks/ → rooms of tasks/ that it uses."""
    doors: dict[str, set[str]] = {}
    for one in read_imports(root):
        owner, used = one.importer.split("."), one.module.split(".")
        if owner[0] == used[0] == "tasks" and len(owner) > 1 and len(used) > 1:
            doors.setdefault(owner[1], set()).update({used[1]} - {owner[1]})
    return doors


def test_who_is_outside_a_room_uses_its_face() -> None:
    assert [one for one in find_intrusions() if not one.importer.startswith("tests.")] == []


def test_tests_of_other_rooms_reach_into_a_room_no_more_than_before() -> None:
    faces = read_faces()
    reached = Counter(
        find_room(one.module, faces) for one in find_intrusions() if one.importer.startswith("tests.")
    )
    assert dict(sorted((str(room), count) for room, count in reached.items())) == dict(REACHED_BY_TESTS)


def test_every_package_of_tasks_is_a_room_or_inside_one() -> None:
    faces = read_faces()
    packages = {".".join(name.split(".")[:2]) for name in list_modules() if name.startswith("tasks.")}
    assert {
        name for name in packages if not any(f"{room}.".startswith(f"{name}.") for room in faces)
    } == set()


@pytest.mark.parametrize("room", sorted(read_faces()))
def test_a_face_names_what_is_there_with_a_sentence_and_nothing_that_nobody_uses(room: str) -> None:
    face, module = read_faces()[room], importlib.import_module(room)
    assert sorted(face) == sorted(module.__all__)
    assert [
        name for name, sentence in face.items() if not sentence or sentence.startswith(("from ", "TODO"))
    ] == []
    assert (module.__doc__ or "").strip()
    for name in face:
        found = getattr(module, name)
        # A module of the same name would stand in the way of what the face means.
        is_module = isinstance(found, types.ModuleType)
        assert is_module == (f"{room}.{name}" in list_modules()), name
    asked = [one for one in read_imports() if room in (one.module, one.module.rpartition(".")[0])]
    outside = [one for one in asked if not is_at_home(one.importer, room)]
    used = {one.name if one.module == room else one.module.rpartition(".")[2] for one in outside}
    assert set(face) - used == set()


def test_no_stage_reaches_through_a_wall_and_no_door_is_unused() -> None:
    everybodys = {"running", "texts"}
    found = {owner: used - everybodys for owner, used in read_doors().items() if owner not in FOUNDATIONS}
    assert found == {owner: set(doors) for owner, doors in DOORS.items()}


def test_every_door_has_a_reason() -> None:
    assert [(owner, name) for owner, doors in DOORS.items() for name, why in doors.items() if not why] == []


def test_foundations_use_no_stage_and_not_each_other() -> None:
    assert {name: read_doors().get(name, set()) for name in FOUNDATIONS} == {
        name: set() for name in FOUNDATIONS
    }


def test_no_stage_uses_one_that_uses_it() -> None:
    doors = read_doors()
    reached = {owner: set(used) for owner, used in doors.items()}
    for _ in doors:
        for used in reached.values():
            used |= {further for one in used for further in reached.get(one, set())}
    assert [owner for owner, used in reached.items() if owner in used] == []


def test_every_way_to_import_is_seen(tmp_path: Path) -> None:
    for name in ("one", "two", "three", "four", "five"):
        room = tmp_path / "tasks" / name
        room.mkdir(parents=True)
        (room / "__init__.py").write_text("")
        (room / "work.py").write_text("it = 1\n")
        (room / FACE).write_text("# It.\nfrom .work import it as it\n")
    (tmp_path / "tasks" / "one" / "work.py").write_text(
        "import tasks.two.work\n"
        "from ..three import work\n"
        "from . import other\n"
        "def later():\n"
        "    from tasks import four\n"
        "    from tasks.five.work import it\n"
        "    from tasks.five import it\n"
    )
    assert read_doors(tmp_path)["one"] == {"two", "three", "four", "five"}
    assert [one.module for one in find_intrusions(tmp_path)] == [
        "tasks.two.work",
        "tasks.three.work",
        "tasks.five.work",
    ]
    assert read_faces(tmp_path)["tasks.one"] == {"it": "It."}
