"""Conversion, near-duplicates and scoring on a Dask cluster.

The results are the same as without one, whatever happens to its workers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from deployments.doctor.services import examine_cluster
from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from tasks.gscore.metrics import batch
from tasks.ingest import list_sources, make_options
from tasks.ingest.documents import parse_sources
from tasks.running.cluster import spreading
from tasks.running.cluster.spreading import find_cluster, open_cluster, spread
from tests.benchmarks.large_bank import SHARED, make_large_bank
from tests.dask_cluster import DaskCluster, end, start_dask_cluster
from tests.tasks.bank.kit import compute_signatures, list_near_pairs

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PAPERS = ROOT / "deployments/demo/papers"
MARKER = "the secret of the seventh question"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with start_dask_cluster(tmp_path_factory.mktemp("dask")) as started:
        yield started


@contextmanager
def on_cluster(cluster: DaskCluster, *, patience_s: float = 60) -> Iterator[None]:
    with open_cluster(Settings(home=Path("unused"), dask=cluster.address), patience_s=patience_s):
        yield


def double(number: int) -> tuple[int, int]:
    """A piece of work; also says which process did it."""
    return 2 * number, os.getpid()


def idle(number: int) -> int:
    """A piece that takes a while."""
    time.sleep(0.3)
    return number


def fail(text: str) -> None:
    """A piece that raises one of our errors, or one whose words are content."""
    raise UsageError("The piece was wrong.") if text == "ours" else KeyError(text)


def test_without_the_setting_pieces_are_computed_here_and_one_by_one(tmp_path: Path) -> None:
    asked: list[int] = []
    with open_cluster(Settings(home=tmp_path)):
        assert find_cluster() is None
        results = spread(double, ((asked.append(number) or number,) for number in range(5)))  # type: ignore[func-returns-value]
        assert next(results) == (0, os.getpid())
        assert asked == [0]
        assert [value for value, _ in results] == [2, 4, 6, 8]


def test_pieces_come_back_in_order_from_several_workers(cluster: DaskCluster) -> None:
    with on_cluster(cluster):
        found = list(spread(double, ((number,) for number in range(40))))
    assert [value for value, _ in found] == [2 * number for number in range(40)]
    processes = {process for _, process in found}
    assert len(processes) == 2
    assert os.getpid() not in processes


@pytest.mark.skipif(
    not SHARED.is_dir(),
    reason="needs ../shared/data/bank (or PROCTOR_SHARED_DATA), which is not part of the project",
)
def test_papers_near_duplicates_and_scores_are_the_same_as_without(
    cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit; small pieces, so that there are many of them."""
    monkeypatch.setattr("tasks.bank.dedupe.index._ROWS_AT_ONCE", 100)
    monkeypatch.setattr("tasks.bank.dedupe.verify._PAIRS_AT_ONCE", 50)
    monkeypatch.setattr(batch, "_PIECE_CHARACTERS", 5_000)
    sources = [
        source for source in list_sources([PAPERS]) if source.path.suffix in (".txt", ".docx", ".xlsx")
    ]
    assert len(sources) >= 3
    bank = make_large_bank(1_000).decisions.with_columns(method=pl.lit("original"))
    references, responses = bank["stem"].to_list(), bank["stem"].reverse().to_list()
    options = make_options()

    def do_all() -> tuple[list[object], object, list[tuple[int, int, float]], object]:
        papers = [
            (paper.document, paper.text, paper.questions) for paper in parse_sources(sources, options, 2)
        ]
        signatures = compute_signatures(bank)
        pairs = list(list_near_pairs(signatures, np.arange(bank.height), 0.5))
        return [papers], signatures, pairs, batch.score_surface(references, responses, "cgeval-paper")

    papers, signatures, pairs, scores = do_all()
    with on_cluster(cluster):
        computed: list[str] = []
        compute = spreading.Cluster._submit

        def note(self: spreading.Cluster, function: object, values: object) -> object:
            computed.append(function.__name__)  # type: ignore[attr-defined]
            return compute(self, function, values)  # type: ignore[arg-type]

        monkeypatch.setattr(spreading.Cluster, "_submit", note)
        there = do_all()
    assert papers == there[0]
    assert signatures.forms.equals(there[1].forms)  # type: ignore[attr-defined]
    for name in ("bands", "bytes"):
        one, other = (getattr(found.sketches, name) for found in (signatures, there[1]))  # type: ignore[attr-defined]
        assert np.array_equal(one, other)
    assert pairs == there[2]
    assert len(pairs) > 100
    assert all(np.array_equal(one, other) for one, other in zip(scores, there[3], strict=True))  # type: ignore[call-overload]
    # Each of the three was computed there, in pieces.
    counted = {name: computed.count(name) for name in computed}
    assert counted["convert_there"] == len(sources)
    assert counted["_compute_some"] == 10
    assert counted["_verify_some"] > 2
    assert counted["_score_some"] > 10


def test_what_fails_there_is_raised_here_and_no_content_is_in_a_log_of_dask(cluster: DaskCluster) -> None:
    with on_cluster(cluster):
        with pytest.raises(UsageError, match="The piece was wrong"):
            list(spread(fail, [("ours",)]))
        with pytest.raises(KeyError):
            list(spread(fail, [(MARKER,)]))
        assert [value for value, _ in spread(double, [(21,)])] == [42]
    assert cluster.read_logs()
    assert MARKER not in cluster.read_logs()


def test_workers_of_other_code_are_refused_by_name(
    cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with on_cluster(cluster):
        monkeypatch.setattr(spreading, "describe_code", lambda: "0123456789ab")
        with pytest.raises(UsageError, match="runs other code"):
            list(spread(double, [(1,)]))


def test_the_doctor_counts_the_workers_and_names_what_is_wrong_with_them(
    cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def examine(address: str) -> list[tuple[object, ...]]:
        found: list[tuple[object, ...]] = []
        examine_cluster(Settings(home=Path("unused"), dask=address), lambda *note: found.append(note))
        return found

    assert examine("") == []
    ((what, said, is_fine, _),) = examine(cluster.address)
    assert (what, is_fine) == ("Dask", True)
    assert str(said).startswith("2 workers with 2 threads")
    ((_, said, is_fine, fix),) = examine("tcp://127.0.0.1:1")
    assert ("No Dask scheduler answers" in str(said), is_fine) == (True, False)
    assert "dask scheduler" in str(fix)
    # Not remembered, on the room's face either.
    plain = spreading.describe_code.__wrapped__
    monkeypatch.setattr(spreading, "describe_code", plain)
    monkeypatch.setattr("tasks.running.cluster.describe_code", plain)
    monkeypatch.setattr(spreading, "_PACKAGES", ("schemas",))
    ((_, said, is_fine, _),) = examine(cluster.address)
    assert ("2 of them run other code" in str(said), is_fine) == (True, False)


def test_no_scheduler_is_one_clear_error(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, dask="tcp://127.0.0.1:1")
    with (
        pytest.raises(StoreError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:1"),
        open_cluster(settings, patience_s=1),
    ):
        raise AssertionError("a cluster was found")


def test_a_killed_worker_loses_nothing_and_none_left_is_told(cluster: DaskCluster) -> None:
    """The last of this module: it ends the workers."""
    with on_cluster(cluster, patience_s=3):
        results = spread(idle, ((number,) for number in range(14)))
        assert next(results) == 0
        end(cluster.workers[0], at_once=True)
        assert list(results) == list(range(1, 14))
        more = spread(idle, ((number,) for number in range(14)))
        assert next(more) == 0
        end(cluster.workers[1], at_once=True)
        with pytest.raises(StoreError, match="has had no worker for 3 s"):
            list(more)
