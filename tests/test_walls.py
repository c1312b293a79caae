"""The stages have walls: which package of tasks/ may use which, each door with its reason.

What is not in the table fails; so does a door in the table that nobody uses. `tasks/faults.py`, `tasks/progress.py` and
`tasks/flow_runs` (a package because it imports Prefect, which only a `task.py` may) are common ground.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

TASKS = Path(__file__).resolve().parents[1] / "tasks"

# Used by the stages; they use none of them, nor each other.
FOUNDATIONS = ("models", "questions", "statistics")
# What every task.py wraps its tasks in.
COMMON_PACKAGES = ("flow_runs",)

DOORS: Mapping[str, Mapping[str, str]] = {
    "flow_runs": {
        "notices": "a run that ends badly is told as it ends",
        "orchestrator": "a process that runs flows waits for a Prefect server that is away",
    },
    "orchestrator": {
        "notices": "what was found to have ended badly is told",
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
    "originals": {
        "ingest": "an original is opened as it was at ingest: its kind, its layout by LibreOffice, its boxes",
    },
    "augment": {
        "models": "a registered model writes variants",
        "questions": "a variant is a question, held to the same format rules",
    },
    "bank_exchange": {
        "questions": "questions leave bare, as they are put, or as records",
    },
    "dedupe": {
        "gscore": "stems are compared by Gscore's embedding model where that is asked for",
        "questions": "duplicates are found by a question's identity and normal form",
    },
    "bank": {
        "dedupe": "a question that is retired leaves with the next version, published at once",
    },
    "exam": {
        "judging": "a reference's sitting serves only as long as the judge's prompt is the same",
        "models": "candidates are called through the one door",
        "questions": "questions are put bare, in the words of their prompt style",
    },
    "judging": {
        "models": "judges are called through the one door",
        "questions": "a judge sees the question, and the reference answer in its form",
        "review": "a workbook that a person filled in is opened by the guard that opens review workbooks",
        "statistics": "how far a model's labels of failures agree with people's: kappa",
    },
    "calibration": {
        "judging": "people see a response as a judge sees it, in the workbook of people who give stars",
        "models": "the registry says which family a judge is of; judges are asked for anchor responses through the one door",
        "questions": "draws that a seed repeats",
        "statistics": "kappa, agreement and bias with their errors; alpha among the raters",
    },
    "contamination": {
        "dedupe": "leaked texts are compared in the normal form in which duplicates are found",
        "imports": "a public set is read as any table that others made",
        "models": "candidates complete questions through the one door",
        "questions": "the draw of questions, and the form of messages",
        "statistics": "shares with their intervals",
    },
    "imports": {
        "questions": "records of questions are read by the form in which they leave",
        "statistics": "rank correlation between benchmarks, with its p-value",
    },
    "editions": {
        "exam": "an edition's files and its entry go to the public folder and log, with the hashes of answers",
        "statistics": "scores, intervals, ranks and the equated scale are computed as an edition is frozen",
    },
    "edition_exchange": {
        "questions": "a question leaves in the words in which it was put",
    },
    "gscore": {
        "models": "candidates write the texts that are scored",
    },
    "league_statistics": {
        "review": "a workbook of scores from outside is opened by the guard that opens review workbooks",
        "statistics": "intervals, tests, overlaps and replays are computed as a league's statistics land",
    },
    "league": {
        "gscore": "questions are compared by Gscore's embedding model, and results by its standard form",
        "models": "candidates are called through the one door",
        "review": "a workbook that a person filled in is opened by the guard that opens review workbooks",
        "statistics": "an entrant's rating: Bradley-Terry of those it meets, and its own with an interval",
    },
    "report": {
        "contamination": "the page of leaks shows the leak watch by the same calculation as the command",
        "gscore": "the page shows agreement with people by the same calculation as the command",
        "statistics": "the fitted curve of score against release date, and rank correlations",
    },
    "validation": {
        "questions": "every original and variant is held to the rules of a question",
    },
    "marking": {
        "calibration": "stars for the responses of a round land as its workbook's do",
        "judging": "a response to be marked, with its question; classes of failures land as their workbook's do",
        "league": "verdicts on a league's questions land as its workbook's do",
        "questions": "what is marked is shown with its question",
    },
    "watching": {
        "exam": "how far the runs under way are, as `proctor runs` shows it",
        "questions": "an answer is shown with its question",
    },
    "erasure": {
        "exam": "an erasure goes to the public log, with the root over the answers of its sessions",
    },
    "repair": {
        "exam": "what the logs and closed sessions say is held against a store that lost commits",
        "reconcile": "what the ledger holds is landed again in a lake that lost it",
        "validation": "rows by month of ledger and lake are compared",
    },
    "reconcile": {
        "erasure": "lands erasures, so that readers know why a text is not there",
        "exam": "lands closed sessions and the audit log",
        "marking": "lands marks that were given on the web",
        "models": "lands paid calls",
        "review": "lands closed batches",
    },
}


def name_packages(module: str, tree: ast.AST, folder: str) -> set[str]:
    """Names below `folder` that a module imports, anywhere in it; relative imports are resolved."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            found |= {f"{source}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in found if name.startswith(f"{folder}.")}


def read_doors(tasks: Path) -> dict[str, set[str]]:
    """Package → packages that it uses, beside its own; modules that lie in no package are not among them."""
    packages = {path.name for path in tasks.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    doors: dict[str, set[str]] = {name: set() for name in packages}
    for path in sorted(tasks.rglob("*.py")):
        owner = path.relative_to(tasks).parts[0]
        if owner not in packages:
            continue
        module = ".".join(path.relative_to(tasks.parent).with_suffix("").parts)
        used = name_packages(module, ast.parse(path.read_text(encoding="utf-8")), tasks.name)
        doors[owner] |= (used & packages) - {owner, *COMMON_PACKAGES}
    return doors


def test_no_stage_reaches_through_a_wall_and_no_door_is_unused() -> None:
    found = {owner: used for owner, used in read_doors(TASKS).items() if used}
    assert found == {owner: set(doors) for owner, doors in DOORS.items()}


def test_every_door_has_a_reason() -> None:
    assert [(owner, name) for owner, doors in DOORS.items() for name, why in doors.items() if not why] == []


def test_foundations_use_no_stage_and_not_each_other() -> None:
    doors = read_doors(TASKS)
    assert {name: doors[name] for name in FOUNDATIONS} == {name: set() for name in FOUNDATIONS}
    assert set(FOUNDATIONS) & set(DOORS) == set()


def test_common_ground_uses_no_package() -> None:
    for path in TASKS.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = {module.stem for module in TASKS.glob("*.py")}
        assert name_packages(f"tasks.{path.stem}", tree, "tasks") - modules == set(), path


def test_no_stage_uses_one_that_uses_it() -> None:
    doors = read_doors(TASKS)
    circles = {(owner, used) for owner, names in doors.items() for used in names if owner in doors[used]}
    assert circles == set()


def test_every_way_to_import_is_seen(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    for name in ("one", "two", "three", "four", "five"):
        (tasks / name).mkdir(parents=True)
        (tasks / name / "__init__.py").write_text("")
    (tasks / "faults.py").write_text("")
    (tasks / "one" / "work.py").write_text(
        "import tasks.two.work\n"
        "from tasks.faults import hide\n"
        "from ..three import work\n"
        "from . import other\n"
        "def later():\n"
        "    from tasks import four\n"
        "    from tasks.five.work import it\n"
    )
    assert read_doors(tasks)["one"] == {"two", "three", "four", "five"}
