"""Files of the archive are read when new or changed, in their turn, and with `--all`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployments.doctor import contents, examine_home, looks
from schemas.settings import Settings
from tasks.ingest.originals import find_archived
from tasks.questions.pictures import name_picture
from tests.deployments.conftest import copy_new_home
from tests.tasks.ingest.kit import land_documents
from tests.tasks.ingest.test_pictures import CHOICES, PICTURES, write_word
from warehouse.lake import open_lake, share_lake
from warehouse.lake.upkeep import Looked
from warehouse.ledger.engine.opening import open_ledger
from warehouse.stores.whole_files import hash_file

pytestmark = pytest.mark.slow
# Most of a look, and nothing here asks for what they find.
OTHERS = (
    "examine_rows", "examine_checks", "examine_months", "examine_editions", "examine_retention", "examine_disclosure",
)  # fmt: skip
# An original, the text that was read of it, and its pictures.
COUNT = 8


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed home with a paper with pictures; copied."""
    folder = tmp_path_factory.mktemp("archive")
    copy_new_home(folder / "home")
    settings = Settings(home=folder / "home")
    write_word(folder / "paper.docx", CHOICES, PICTURES)
    with open_lake(settings) as lake, open_ledger(settings.ledger_address):
        land_documents(lake, settings, [folder / "paper.docx"])
    return settings.home


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """A copy of it, looked at once and attached once; a third is read again in each look."""
    monkeypatch.setattr(looks, "LOOKS", 3)
    for name in OTHERS:
        monkeypatch.setattr(contents, name, lambda *_: None)
    settings = Settings(home=Path(shutil.copytree(made, tmp_path / "home")))
    with share_lake():
        assert "wrong" not in look(settings)
        yield settings


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files of the archive that are read."""
    names: list[str] = []

    def note(path: Path) -> str:
        names.append(path.name)
        return hash_file(path)

    monkeypatch.setattr("tasks.proof.stages.hash_file", note)
    return names


def look(settings: Settings, *, is_all_read: bool = False) -> str:
    """Severity and words of the look at the stages."""
    (found,) = (one for one in examine_home(settings, is_all_read=is_all_read) if one.what == "stages")
    return f"{found.severity}: {found.found}"


def find_files(settings: Settings) -> list[Path]:
    """The original, its text and a picture."""
    with open_lake(settings, read_only=True) as lake:
        picture = lake.query("SELECT min(sha256) FROM pictures").item()
        original = find_archived(settings.archive_dir, lake.query("SELECT sha256 FROM documents").item())
    assert original is not None
    return [original, original.with_suffix(".txt"), name_picture(settings.archive_dir, picture)]


CHANGED = ("original_changed", "picture_changed", "text_changed")


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def take_as_read(settings: Settings) -> None:
    """Let files be known as they are, as those that their disk changed past every moment."""
    with open_lake(settings, read_only=True) as lake:
        looked = Looked(lake)
        kept = looked.find_saved(looks._NAME, looks._FORM)
        assert kept is not None
        looked.keep(looks._NAME, looks._FORM, {**kept, "began_ns": time.time_ns(), "is_fine": True})
        looked.save(is_part=True)


def test_all_files_are_read_once_within_as_many_looks_and_with_all(home: Settings, read: list[str]) -> None:
    counts = []
    for _ in range(looks.LOOKS):
        before = len(read)
        said = look(home)
        counts.append(COUNT - (len(read) - before))
        assert (f"; {counts[-1]} files of the archive not read again (--all reads all)" in said) is (
            counts[-1] > 0
        )
    # Each in its turn, and in no other look.
    assert (len(read), len(set(read))) == (COUNT, COUNT)
    read.clear()
    assert "files of the archive not read again" not in look(home, is_all_read=True)
    assert len(read) == COUNT


def test_files_in_a_folder_that_was_put_in_place_of_another_are_read(home: Settings, read: list[str]) -> None:
    look(home)
    read.clear()
    archive = home.archive_dir
    shutil.copytree(archive, archive.with_name("copy"))
    take_as_read(home)
    shutil.rmtree(archive)
    archive.with_name("copy").rename(archive)
    look(home)
    assert len(read) == COUNT


def test_what_is_kept_of_the_archive_does_not_grow_with_it(home: Settings) -> None:
    with open_lake(home, read_only=True) as lake:
        kept = Looked(lake).find_saved(looks._NAME, looks._FORM)
    assert kept is not None
    folders = {path.parent.name for path in home.archive_dir.glob("*/*.*")}
    assert set(kept) == {"look", "is_fine", "end", "again_after", "sessions", "began_ns", "folders"}
    assert kept["folders"].keys() <= folders


def test_changed_files_are_found_by_the_next_look_and_again(home: Settings) -> None:
    for path in find_files(home):
        damage(path)
    assert [[name in look(home) for name in CHANGED] for _ in range(2)] == [[True] * 3] * 2


def test_missing_files_are_found_by_the_next_look(home: Settings) -> None:
    original, text, picture = find_files(home)
    text.unlink()
    picture.unlink()
    assert look(home).startswith("wrong: 2 findings: picture_missing, text_changed")
    original.unlink()
    assert "original_missing" in look(home)


def test_files_that_their_disk_has_changed_are_found_in_their_turn_and_with_all(home: Settings) -> None:
    for path in find_files(home):
        damage(path)
    take_as_read(home)
    found = [look(home) for _ in range(looks.LOOKS + 1)][-1]
    assert [name in found for name in CHANGED] == [True] * 3
    take_as_read(home)
    found = look(home, is_all_read=True)
    assert [name in found for name in CHANGED] == [True] * 3


def test_a_new_paper_is_read_at_once(home: Settings, read: list[str], tmp_path: Path) -> None:
    write_word(tmp_path / "another.docx", CHOICES[:-3], PICTURES)
    with open_lake(home) as lake, open_ledger(home.ledger_address):
        land_documents(lake, home, [tmp_path / "another.docx"])
        name = lake.query("SELECT sha256 FROM documents WHERE document_name = 'another.docx'").item()
    look(home)
    assert {f"{name}.docx", f"{name}.txt"} <= set(read)
