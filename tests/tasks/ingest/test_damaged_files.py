"""Damaged files: whatever the bytes, every file becomes a row and the batch goes on."""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path

import pytest

from schemas.documents import DOCUMENT_STATUSES
from tasks.ingest.documents import IngestOptions, parse_documents
from tests.tasks.ingest.builders import make_docx, make_pdf, make_xlsx, write

LINES = ["一、选择题", "1. 甲是（ A ）", "A. 1 B. 2 C. 3 D. 4", "2. 乙是（ B ）", "A. 1 B. 2 C. 3 D. 4"]


@cache
def make_good_files() -> dict[str, bytes]:
    return {
        ".docx": make_docx(LINES),
        ".xlsx": make_xlsx({"S": [["题目", "A", "B", "答案"], ["甲是什么", "1", "2", "A"]]}),
        ".pdf": make_pdf([[(50, 800 - 20 * index, line) for index, line in enumerate(LINES)]]),
        ".txt": "\n".join(LINES).encode("gb18030"),
        ".json": '[{"question": "甲是什么", "answer": "乙"}]'.encode(),
    }


def damage(data: bytes, chance: random.Random) -> bytes:
    """Cut, flip, blank, or insert."""
    changed = bytearray(data)
    way = chance.choice(["cut", "flip", "blank", "insert"])
    place = chance.randrange(len(changed))
    if way == "cut":
        return bytes(changed[:place])
    if way == "flip":
        for _ in range(chance.choice([1, 8, 64])):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    elif way == "blank":
        changed[place : place + 200] = bytes(len(changed[place : place + 200]))
    else:
        changed[place:place] = chance.randbytes(20)
    return bytes(changed)


def run_damaged_files(folder: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(count):
        suffix = chance.choice(list(make_good_files()))
        named = chance.choice(list(make_good_files())) if chance.random() < 0.2 else suffix
        write(folder, f"{number:04d}{named}", damage(make_good_files()[suffix], chance))
    write(folder, "good.docx", make_good_files()[".docx"])
    results = list(parse_documents([folder], IngestOptions(time_limit_s=30, use_ocr=False), workers=2))
    assert len(results) == count + 1
    for parsed in results:
        assert parsed.document["status"] in DOCUMENT_STATUSES, parsed.path.name
        assert bool(parsed.questions) == (parsed.document["status"] in ("parsed", "held")), parsed.path.name
        assert bool(parsed.document["error"]) == (parsed.document["status"] != "parsed"), parsed.path.name
    assert len(results[-1].questions) == 2


def test_damaged_files_never_stop_a_batch(tmp_path: Path) -> None:
    seed = int(os.environ.get("PROCTOR_SEED", random.SystemRandom().randrange(1 << 30)))
    print(f"seed {seed}: repeat with PROCTOR_SEED={seed}")
    run_damaged_files(tmp_path, 100, seed)


@pytest.mark.long
def test_a_thousand_damaged_files_never_stop_a_batch(tmp_path: Path) -> None:
    seed = int(os.environ.get("PROCTOR_SEED", random.SystemRandom().randrange(1 << 30)))
    print(f"seed {seed}: repeat with PROCTOR_SEED={seed}")
    run_damaged_files(tmp_path, 1000, seed)


def test_what_the_next_papers_need_is_loaded_once_and_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child is forked all the same where OCR cannot be loaded: a text may name it."""
    from tasks.ingest.guard import conversion_server

    loaded: list[str] = []

    def load(name: str) -> None:
        loaded.append(name)
        raise ImportError(name)

    monkeypatch.setattr(conversion_server, "import_module", load)
    children: list[int] = []
    monkeypatch.setattr(conversion_server, "Child", children.append)
    monkeypatch.setattr(conversion_server, "_preload", lambda: None)
    conversion_server._wanted.add("rapidocr")
    conversion_server._fork(500)
    conversion_server._fork(500)
    assert children == [500, 500]
    assert loaded == ["rapidocr"]
