"""A file that is not what a command reads ends in one sentence, whatever it is."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import invoke
from tests.hunts import some
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user

# Every command that reads a file of somebody's, with the endings that the file may have.
TABLES = (".csv", ".tsv", ".jsonl", ".parquet")
COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "gscore": ("gscore FILE", TABLES),
    "dedupe check": ("dedupe check FILE --text stem", TABLES),
    "agreement": ("agreement FILE --unit item --rater who --rating stars", TABLES),
    "score-marks": ("calibrate marks FILE --columns a,b", TABLES),
    "import scores": ("import scores FILE --benchmark b", TABLES),
    "import responses": ("import responses FILE --benchmark b", TABLES),
    "import ratings": ("import ratings FILE --benchmark b", TABLES),
    "import records": ("import records FILE --benchmark b --model m", (".json", ".jsonl")),
    "import external": ("import external FILE --benchmark b --source s", TABLES),
    "import inspect": ("import inspect FILE", (".eval", ".json")),
    "import lm-eval": ("import lm-eval FILE --model m --benchmark b", (".json", ".jsonl")),
    "import league": ("import league FILE --league l --domain mathematics", (".xlsx", ".csv", ".parquet")),
    "cgeval import": ("cgeval import FILE", (".csv",)),
    "review import": ("review import FILE", (".xlsx",)),
    "review label-studio import": ("review label-studio import FILE --person ann=eve", (".json",)),
    "packages check": ("packages check FILE", (".json", ".zip")),
    "exam receipt": ("exam receipt FILE --public-key KEY", (".json", ".jsonl")),
    "exam verify": ("exam verify HOME/public --receipts FILE --head FILE", (".jsonl",)),
    "exam trace": ("exam trace FILE", (".txt",)),
    "exam trace picture": ("exam trace text --picture FILE", (".png",)),
    "contamination run": ("contamination run --models sim-example --set FILE --no-server", TABLES),
    "league run": (
        "league run l --candidates sim-example,sim-example-2 --benchmark FILE --domain mathematics --no-server",
        (".jsonl", ".csv", ".txt"),
    ),
    "league domain": (
        "league run l --candidates sim-example,sim-example-2 --domain FILE --no-server",
        (".yaml",),
    ),
    "ingest map": ("ingest PAPERS --map FILE --no-server", (".yaml",)),
    "models": ("models list", (".yaml",)),
}


def make_bad(kind: str, path: Path) -> None:
    """The file, or what stands in its place."""
    texts = {
        "empty": "",
        "another header": "colour,size\nred,1\n",
        "no rows": "reference,response\n",
        "ragged": "stem,reference,response\nx,y,z\nx,y,z,more\nx\n",
        "open quote": 'reference,response\n"x,y\n',
        "a JSON list": "[1, 2]",
        "a JSON number": "3",
        "JSON lines of lists": '[1]\n["a"]\n',
        "nested": "[" * 5000 + "]" * 5000,
        "a JSON object": json.dumps({"a": {"b": [1]}, "version": 1}),
        "cut JSON": '{"a": [1,',
    }
    if kind in texts:
        path.write_text(texts[kind], encoding="utf-8")
    elif kind == "UTF-16":
        path.write_text("reference,response\nx,y\n", encoding="utf-16")
    elif kind == "binary":
        path.write_bytes(bytes(range(256)) * 64)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a zip of something else":
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("notes.txt", "none of ours")
        path.write_bytes(held.getvalue())
    elif kind == "a cut zip":
        make_bad("a zip of something else", path)
        path.write_bytes(path.read_bytes()[:-30])


BAD = (
    "empty", "another header", "no rows", "ragged", "open quote", "a JSON list", "a JSON number", "JSON lines of lists",
    "nested", "a JSON object", "cut JSON", "UTF-16", "binary", "a folder", "a zip of something else", "a cut zip", "missing",
)  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad-files") / "home"
    copy_new_home(folder)
    with open_ledger(Settings(home=folder).ledger_address) as ledger, ledger.write() as connection:
        add_user(connection, user_id="eve", role="annotator")
    (folder / "papers").mkdir()
    (folder / "papers" / "paper.txt").write_text("1. A whale is a fish. (F)\n")
    (folder / "public").mkdir(exist_ok=True)
    return folder


@pytest.mark.hunt
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_something_else_ends_in_one_sentence(name: str, home: Path, tmp_path: Path) -> None:
    faults = list(find_faults(name, home, tmp_path))
    assert faults == []


def find_faults(name: str, home: Path, folder: Path) -> Iterator[str]:
    line, endings = COMMANDS[name]
    cases = [(kind, ending) for ending in endings for kind in BAD]
    for kind, ending in some(cases, 6):
        path = folder / f"{kind.replace(' ', '-')}{ending}"
        make_bad(kind, path)
        places = {"FILE": str(path), "PAPERS": str(home / "papers"), "HOME/public": str(home / "public")}
        # Nobody answers there, and nobody is asked: the file is read first.
        variables = {"PROCTOR_SIMULATED_URL": "http://127.0.0.1:9/v1"}
        if "FILE" not in line:
            variables["PROCTOR_REGISTRY"] = str(path)
        done = invoke(
            home, *(places.get(word, word) for word in line.split()), PROCTOR_NO_SERVER="true", **variables
        )
        if path.is_dir():
            shutil.rmtree(path)
        what = f"{name}, {kind}, {ending}: {done.exit_code}"
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            yield f"{what} {type(done.exception).__name__}: {done.exception}"[:300]
        elif "Traceback" in done.output:
            yield f"{what} {done.output[-300:]}"
