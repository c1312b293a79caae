"""The house keeps its order: what lies where, and who may import whom."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import LOADED
from tests.sources import LAYERS, READS_SOURCES, ROOT, list_files, read_source

pytestmark = READS_SOURCES
PICTURE = (ROOT / "docs" / "pictures" / "stages.svg").read_text()


STATEMENT = re.compile(
    r"\s*(select\s.*\bfrom\b|with\s+\w+\s+as\s*\(|insert\s+(or\s+\w+\s+)?into\s|update\s+\w+\s+set\s|delete\s+from\s)",
    re.IGNORECASE | re.DOTALL,
)


def read_imports(path: Path, *, with_types: bool = True) -> set[str]:
    """Top-level names that a module imports, anywhere in it.

    Those under `if TYPE_CHECKING` are included only on demand.
    """
    return {
        name.split(".")[0]
        for one in read_source(path).imports
        if with_types or not one.is_for_types
        for name in ((one.module,) if one.is_from else one.names)
        if name
    }


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_one_way(layer: str) -> None:
    above = set(LAYERS[LAYERS.index(layer) + 1 :])
    wrong = {str(path.relative_to(ROOT)): read_imports(path) & above for path in list_files(layer)}
    assert {path: names for path, names in wrong.items() if names} == {}


def test_collecting_the_tests_imports_nothing_dear(request: pytest.FixtureRequest) -> None:
    """Every worker collects every test: what one test needs is imported in it."""
    dear = {
        *(
            "prefect",
            "torch",
            "transformers",
            "sentence_transformers",
            "great_expectations",
            "pandas",
            "nltk",
        ),
        *("scipy.stats", "scipy.optimize", "schemathesis", "onnxruntime", "cv2", "sympy", "moto"),
    }
    assert request.config.stash[LOADED] & dear == set()


def test_only_deployments_and_one_room_of_tasks_import_prefect() -> None:
    """A flow and its steps are Prefect's by `tasks.running.flow_runs` alone."""
    wrong = [
        str(path.relative_to(ROOT))
        for layer in ("schemas", "warehouse", "tasks", "flows")
        for path in list_files(layer)
        if not path.is_relative_to(ROOT / "tasks/running") and "prefect" in read_imports(path)
    ]
    assert wrong == []


def test_only_the_warehouse_opens_duckdb() -> None:
    wrong = [
        str(path.relative_to(ROOT))
        for layer in ("schemas", "tasks", "flows", "deployments")
        for path in list_files(layer)
        if "duckdb" in read_imports(path)
    ]
    assert wrong == []


def test_only_the_warehouse_speaks_to_a_store() -> None:
    """Neither SQLite nor SQLAlchemy is imported above the warehouse.

    The exception is the types of what the warehouse hands out.
    """
    # The backup copies the embedded ledger as a file.
    excepted = {"deployments/home/whole.py"}
    wrong = {
        name: names
        for layer in ("schemas", "tasks", "flows", "deployments")
        for path in list_files(layer)
        if (name := str(path.relative_to(ROOT))) not in excepted
        and (names := read_imports(path, with_types=False) & {"sqlite3", "sqlalchemy"})
    }
    assert wrong == {}


def test_sql_stands_in_files() -> None:
    """Above the warehouse no string is a statement; those that show one to a person stand here."""
    shown = {"deployments/command_line/lake_shell.py"}
    wrong = [
        f"{path.relative_to(ROOT)}: {text.strip()[:60]!r}"
        for layer in ("schemas", "tasks", "flows", "deployments")
        for path in list_files(layer)
        if str(path.relative_to(ROOT)) not in shown
        for text in read_source(path).strings
        if STATEMENT.match(text)
    ]
    assert wrong == []


def test_every_read_is_read() -> None:
    reads = {path.stem for path in (ROOT / "warehouse" / "sql" / "reads").glob("*.sql")}
    named = {
        text
        for layer in ("tasks", "deployments")
        for path in list_files(layer)
        for text in read_source(path).strings
    }
    assert reads - named == set()


def test_every_stage_in_the_picture_is_a_flow_and_every_folder_exists() -> None:
    stages = re.findall(r'class="t">([a-z_]+)</text>', PICTURE)
    folders = re.findall(r'class="f">([a-z/]+)</text>', PICTURE)
    assert len(stages) >= 10
    assert len(folders) >= 7
    missing = [
        name for name in stages if not ((ROOT / "flows" / f"{name}.py").exists() or (ROOT / name).is_dir())
    ]
    missing += [name for name in folders if not (ROOT / name).is_dir()]
    assert missing == []


def test_every_flow_is_short_and_named_like_its_file() -> None:
    for path in list_files("flows"):
        if path.name == "__init__.py":
            continue
        text = path.read_text()
        assert f"@flow\ndef {path.stem}(" in text, path
        # What Prefect's page says of each parameter stands in the docstring, and is not counted; nor are imports.
        code = ast.parse(re.sub(r'^( *)""".*?"""$', r"\1pass", text, flags=re.DOTALL | re.MULTILINE))
        code.body = [one for one in code.body if not isinstance(one, ast.Import | ast.ImportFrom)]
        assert len(ast.unparse(code).splitlines()) <= 27, path
        assert "class " not in text, path


def test_no_flow_is_named_like_a_package() -> None:
    assert {path.stem for path in list_files("flows")} & {
        "tasks",
        "schemas",
        "warehouse",
        "deployments",
        "tests",
    } == set()


def test_every_package_that_is_declared_is_used() -> None:
    """A dependency that nothing imports is a lie about what Proctor is made of."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {re.split(r"[\[<>=]", requirement)[0].lower() for requirement in project["dependencies"]}
    modules = {
        "great-expectations": "great_expectations",
        "sentence-transformers": "sentence_transformers",
        "rouge-score": "rouge_score",
        "python-calamine": "python_calamine",
        "charset-normalizer": "charset_normalizer",
        "pydantic-settings": "pydantic_settings",
        "pyyaml": "yaml",
        "pyjwt": "jwt",
        "argon2-cffi": "argon2",
        "vl-convert-python": "vl_convert",
        "pillow": "PIL",
    }
    imported = set().union(*(read_imports(path) for layer in LAYERS for path in list_files(layer)))
    # Needed by what we import, and pinned for its sake: DuckDB's extension wheels (loaded by path), pandas under Great
    # Expectations and polars, time zones under DuckDB, torch under sentence-transformers.
    indirect = {name for name in named if name.startswith("duckdb-extension-")} | {"pytz", "pandas", "torch"}
    unused = {name for name in named - indirect if modules.get(name, name.replace("-", "_")) not in imported}
    assert unused == set()


def test_a_docstring_begins_with_a_line_of_at_most_90_characters() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {first[:40]}"
        for layer in (*LAYERS, "tests")
        for path in list_files(layer)
        for first in read_source(path).first_lines
        if len(first) > 90
    ]
    assert found == []
