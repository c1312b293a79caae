"""The seams, where our own kinds and those of others are found.

What is ours costs nothing to find; what others bring is named with its package when it is wrong.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.errors import UsageError
from schemas.seams import Seam, SeamEntry

ROOT = Path(__file__).resolve().parents[2]
Bring = Callable[..., None]


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bring:
    """Install a package for this test: its name, and its entry points by name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "seam_trial.py").write_text("def one():\n    return 1\n\nfew = 3\n")
    (tmp_path / "seam_broken.py").write_text("import nothing_of_that_name\n")

    def bring(package: str, **points: str) -> None:
        folder = tmp_path / f"{package.replace('-', '_')}-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        (folder / "entry_points.txt").write_text(f"[proctor.trials]\n{lines}")

    return bring


def make_seam() -> Seam[Callable[..., object]]:
    return Seam("proctor.trials", "trial", {"ours": "schemas.seams:Seam"}, needs=("__call__",))


def test_one_of_ours_is_found_without_a_look_at_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: pytest.fail("looked"))
    assert make_seam().find("ours") is Seam
    assert make_seam().has("ours")


def test_what_another_package_brings_is_found_by_its_name_and_listed_after_ours(bring: Bring) -> None:
    bring("some-package", one="seam_trial:one")
    seam = make_seam()
    assert seam.find("one")() == 1
    assert seam.list_entries() == [
        SeamEntry("ours", "schemas.seams:Seam", "proctor"),
        SeamEntry("one", "seam_trial:one", "some-package 1.2"),
    ]
    assert [entry.name for entry, _ in seam.load_all()] == ["ours", "one"]


def test_an_unknown_name_is_answered_with_those_that_there_are(bring: Bring) -> None:
    bring("some-package", one="seam_trial:one")
    with pytest.raises(UsageError, match=r"There is no trial 'tow'\. There are one, ours"):
        make_seam().find("tow")


def test_two_packages_with_one_name_are_both_named(bring: Bring) -> None:
    bring("some-package", one="seam_trial:one")
    bring("other-package", one="seam_trial:one")
    with pytest.raises(
        UsageError, match=r"a trial 'one': other-package 1\.2 and some-package 1\.2\. Uninstall all but one"
    ):
        make_seam().find("one")


def test_a_package_that_takes_a_name_of_ours_does_not_get_it_and_is_named(bring: Bring) -> None:
    bring("some-package", ours="seam_trial:one")
    assert make_seam().find("ours") is Seam
    with pytest.raises(
        UsageError, match=r"some-package 1\.2 brings a trial 'ours', which is a name of Proctor's own"
    ):
        make_seam().list_entries()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("seam_broken:one", "cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("seam_trial:two", "cannot be loaded: AttributeError"),
        ("seam_trial:few", "is none: it has no __call__"),
    ],
)
def test_a_broken_one_is_named_with_its_package_and_what_is_wrong(
    bring: Bring, value: str, said: str
) -> None:
    bring("some-package", one=value)
    with pytest.raises(UsageError) as caught:
        make_seam().find("one")
    assert f"The trial 'one' of some-package 1.2 ({value}) {said}" in str(caught.value)


def test_a_class_in_the_place_of_its_object_is_named_before_it_is_used(bring: Bring) -> None:
    bring("some-package", one="schemas.seams:SeamEntry")
    seam: Seam[object] = Seam("proctor.trials", "trial", {}, needs=("__init__",))
    with pytest.raises(UsageError, match="is a class, and an object of it is wanted"):
        seam.find("one")


def list_seams() -> list[Seam[object]]:
    from deployments.auth.kinds import SIGN_INS
    from tasks.gscore.metrics import METRICS
    from tasks.ingest.readers import READERS
    from tasks.judging.kinds import JUDGES
    from tasks.models.providers import PROVIDERS
    from warehouse.lake.reading.analyses import ANALYSES

    return [PROVIDERS, READERS, METRICS, JUDGES, SIGN_INS, ANALYSES]  # type: ignore[list-item]


def test_our_own_are_declared_as_entry_points_as_they_are_found_and_can_all_be_loaded() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    assert declared == {seam.group: seam.own for seam in list_seams()}
    for seam in list_seams():
        assert all(seam.find(name) is not None for name in seam.own)


def test_a_command_that_needs_nothing_of_others_reads_no_metadata() -> None:
    """Reading the metadata of 200 packages takes longer than many a command."""
    code = (
        "import sys, importlib.metadata as metadata\n"
        "read = metadata.entry_points\n"
        "is_ours = lambda group='', **_: group.startswith('proctor.')\n"
        "metadata.entry_points = lambda **asked: sys.exit('read') if is_ours(**asked) else read(**asked)\n"
        "from warehouse.lake.reading.analyses import find_query\n"
        "from tasks.models.registry.models import RegisteredModel\n"
        "from tasks.ingest.readers.formats import find_reader\n"
        "find_query('leaderboard')\n"
        "assert find_reader('text', 'paper.txt').media_type == 'text/plain'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
