"""A third-party package, installed beside Proctor, that touches nothing of ours.

It brings a reader, a metric, a judge, an analysis and a way to sign in.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import polars as pl
import pytest

from schemas.settings import Settings
from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import PROCTOR, invoke, run
from tests.seams.portal_site import SECRET, serve_portal
from tests.tasks.judging.test_unparsed import QUESTIONS, SOUND, open_room
from tests.tasks.models.simulation import start_server
from warehouse.lake import open_lake

SOURCE = Path(__file__).parent / "third_party"
ROOT = Path(__file__).resolve().parents[2]
PAPER = r"""
\documentclass{exam}
\begin{document}
\begin{enumerate}
\item Which gas do plants take up for photosynthesis?
\choice oxygen
\choice carbon dioxide
\choice nitrogen
% answer: B
\item Which of these metals is liquid at room temperature?
\choice iron
\choice copper
\choice mercury
% answer: C
\end{enumerate}
\end{document}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the package.

    The package is built and installed from its source tree without any network.
    """
    folder = tmp_path_factory.mktemp("third-party")
    # A build leaves folders beside the source.
    shutil.copytree(SOURCE, folder / "source")
    options = ["--quiet", "--offline", "--no-index", "--no-deps", "--no-build-isolation"]
    options += ["--python", sys.executable, "--target", str(folder / "site")]
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", *options, str(folder / "source")], check=True
    )
    return folder / "site"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "biology.tex").write_text(PAPER)
    return tmp_path / "home"


# Commands one after the other in one process, which has imported what they need.
BESIDE = """
import json, sys
from typer.testing import CliRunner
from deployments.cli import app
print(json.dumps([CliRunner().invoke(app, words, catch_exceptions=False).stdout for words in json.load(sys.stdin)]))
"""


def ask_beside(installed: Path, home: Path, *commands: list[str]) -> list[Any]:
    """What commands answer where the package is installed."""
    done = subprocess.run(
        [sys.executable, "-c", BESIDE],
        input=json.dumps(commands),
        env=os.environ | {"PROCTOR_HOME": str(home), "PYTHONPATH": str(installed)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(one) for one in json.loads(done.stdout)]


@pytest.mark.slow
def test_its_reader_reads_papers_that_its_analysis_counts(installed: Path, home: Path) -> None:
    """The conversion server and its children find the reader too."""
    folder = str(home.parent / "papers")
    copy_new_home(home)
    done = run(home, "ingest", folder, "--no-server", "--json", PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stderr
    with open_lake(Settings(home=home), read_only=True) as lake:
        found = lake.query(
            "SELECT document_name, media_type, converter, status, question_count FROM documents"
        ).to_dicts()
        stems = lake.query("SELECT stem, answer FROM questions ORDER BY position").to_dicts()
    assert found == [
        {
            "document_name": "biology.tex",
            "media_type": "text/x-tex",
            "converter": "proctor-tex",
            "status": "parsed",
            "question_count": 2,
        }
    ]
    assert stems == [
        {"stem": "Which gas do plants take up for photosynthesis?", "answer": ["B"]},
        {"stem": "Which of these metals is liquid at room temperature?", "answer": ["C"]},
    ]
    asked, listed, described = ask_beside(
        installed,
        home,
        ["sql", "documents_by_converter", "--param", "least=1", "--json"],
        ["sql", "--json"],
        ["sql", "documents_by_converter", "--describe", "--json"],
    )
    assert asked == [{"converter": "proctor-tex", "document_count": 1, "question_count": 2}]
    assert [one["question"] for one in listed if one["name"] == "documents_by_converter"] == [
        "How many documents, and questions, did each converter read?"
    ]
    assert {row["column"]: row["meaning"] for row in described}["document_count"] == (
        "documents that it read"
    )


@pytest.mark.slow
def test_its_metric_stands_beside_ours(installed: Path, home: Path) -> None:
    pairs = home.parent / "pairs.jsonl"
    rows = [("plants take up carbon dioxide", "plants take up"), ("", "anything"), ("same", "same")]
    pairs.write_text("".join(json.dumps({"reference": a, "response": b}) + "\n" for a, b in rows))
    scores = home.parent / "scores.parquet"
    command = ("gscore", str(pairs), "--model", "none", "--out", str(scores), "--json")
    plain = invoke(home, *command)
    assert plain.exit_code == 0, plain.output
    without = pl.read_parquet(scores)
    done = run(home, *command, "--metric", "lengths", PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stderr
    found = pl.read_parquet(scores)
    assert found["length_ratio"].to_list() == [pytest.approx(14 / 29), None, 1.0]
    assert found.drop("length_ratio").equals(without)


TERSE_REGISTRY = """
providers:
  simulated: {base_url: simulated}
models:
  first-judge: {provider: simulated, organisation: Lab, roles: [judge], judge_kind: KIND}
"""


@pytest.mark.long
def test_its_judge_judges_a_run_beside_ours(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=SOUND) as room:
        assert room.judge().judged == QUESTIONS
    home = tmp_path / "home"
    with start_server(b"", models={"first-judge": SOUND}) as server:

        def judge(kind: str) -> subprocess.CompletedProcess[str]:
            (home / "models.yaml").write_text(TERSE_REGISTRY.replace("KIND", kind))
            return run(
                home,
                *("judge", "--run", "run-1", "--no-server", "--json"),
                PYTHONPATH=str(installed),
                PROCTOR_SIMULATED_URL=server.url,
            )

        refused = judge("blunt")
        assert refused.returncode == 2
        assert json.loads(refused.stdout)["error"] == (
            "Model 'first-judge', field `judge_kind`: There is no kind of judge 'blunt'. There are stars, terse. Correct the name, or "
            "install the package that brings it."
        )
        assert server.state.requests["first-judge"] == 0
        for _ in range(2):  # the second time there is nothing left to judge
            done = judge("terse")
            assert done.returncode == 0, done.stderr
        assert server.state.requests["first-judge"] == QUESTIONS
        ours = judge("stars")
        assert ours.returncode == 0, ours.stderr
        assert server.state.requests["first-judge"] == QUESTIONS, "our own judgements stand as they were"
    rows = "SELECT landing_unit, prompt_version, count(*) AS n FROM judgements GROUP BY ALL ORDER BY ALL"
    assert json.loads(invoke(home, "sql", rows, "--json").stdout) == [
        {"landing_unit": "s1/first-judge/prompt-1", "prompt_version": "1/zh", "n": QUESTIONS},
        {
            "landing_unit": "s1/first-judge/prompt-terse-2026.1",
            "prompt_version": "terse-2026.1/zh",
            "n": QUESTIONS,
        },
    ]


class Browser:
    """What a browser does of itself: cookies, and where it is sent."""

    def __init__(self) -> None:
        self.cookies: dict[str, dict[str, str]] = {}

    def go(self, url: str) -> tuple[HTTPResponse, str]:
        """One call; returns the reply and its body."""
        parts = urlsplit(url)
        kept = self.cookies.setdefault(parts.netloc, {})
        connection = HTTPConnection(parts.netloc, timeout=30)
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in kept.items())} if kept else {}
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        for header in reply.headers.get_all("Set-Cookie") or ():
            for name, morsel in SimpleCookie(header).items():
                kept[name] = morsel.value
        return reply, text

    def follow(self, url: str) -> tuple[list[str], str]:
        """Go on until a page is shown; returns the addresses on the way and the page."""
        way = [url]
        while True:
            reply, text = self.go(way[-1])
            location = reply.headers.get("Location")
            if location is None:
                return way, text
            here = urlsplit(way[-1])
            way.append(location if "://" in location else f"{here.scheme}://{here.netloc}{location}")


@contextmanager
def serve_desk(home: Path, installed: Path, **variables: str) -> Iterator[tuple[str, list[str]]]:
    """`proctor web` with the package beside it; its address, and afterwards all that it wrote."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address, written = f"http://127.0.0.1:{port}", list[str]()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")}
    told = {"PROCTOR_HOME": str(home), "PYTHONPATH": str(installed), "PROCTOR_WEB_URL": address}
    process = subprocess.Popen(
        [PROCTOR, "web", "--port", str(port), "--json"],
        env=kept | told | variables,
        cwd=home.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["address"] == address
        yield address, written
        process.send_signal(signal.SIGTERM)
        written.extend(process.communicate(timeout=60))
    finally:
        process.kill()
        process.wait()


@pytest.mark.long
@pytest.mark.slow
def test_somebody_signs_in_by_its_way_to_another_site(installed: Path, home: Path) -> None:
    assert invoke(home, "init", "--json").exit_code == 0
    with serve_portal() as site:
        options = {
            "PROCTOR_SIGN_IN": '["portal"]',
            "PROCTOR_SIGN_IN_OPTIONS": json.dumps({"portal": {"url": site.url, "secret": SECRET}}),
            "PROCTOR_SIGN_IN_ADMITS": "true",
            "PROCTOR_SIGN_IN_ROLES": '{"watchers": "analyst"}',
        }
        site.name, site.groups = "Ada", ("staff", "watchers")
        with serve_desk(home, installed, **options) as (address, written):
            browser, stranger = Browser(), Browser()
            way, page = browser.follow(f"{address}/sign-in/portal?then=/runs")
            assert [one.partition("?")[0] for one in way] == [
                f"{address}/sign-in/portal",
                f"{site.url}/authorize",
                f"{address}/sign-in/portal/back",
                f"{address}/runs",
            ]
            assert ">ada</a>" in page
            # Its answer is worth nothing in another browser, nor a second time in this one.
            assert stranger.go(way[2])[0].status == 403
            assert stranger.go(f"{address}/runs")[0].status == 303
            codes = list(site.redeemed)
        assert len(codes) == 1
    output, errors = written
    assert "GET /sign-in/portal/back 303" in output
    cookies = filter(None, browser.cookies[urlsplit(address).netloc].values())
    for secret in (*codes, SECRET, way[2].partition("state=")[2], *cookies):
        assert secret not in output + errors
    rows = json.loads(invoke(home, "exam", "user", "list", "--json").stdout)
    assert [(row["user_id"], row["role"]) for row in rows] == [("ada", "analyst")]
