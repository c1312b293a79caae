from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tasks.texts import read_bilingual


def write_package(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of its own with the text in `words.yaml`; returns its name."""
    name = f"bilingual_{folder.name}"
    (folder / name).mkdir()
    (folder / name / "__init__.py").touch()
    (folder / name / "words.yaml").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def test_a_pair_of_texts_is_chinese_first_at_any_depth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "rank: {en: Rank, zh: 名次}\npanels:\n  - {title: {zh: 费用, en: Cost}, digits: 2}\n"
    assert read_bilingual(write_package(tmp_path, text, monkeypatch), "words.yaml") == {
        "rank": ("名次", "Rank"),
        "panels": [{"title": ("费用", "Cost"), "digits": 2}],
    }


@pytest.mark.parametrize(
    "text",
    [
        "panels: {cost: {zh: 费用}}",
        "panels: {cost: {zh: 费用, en: ''}}",
        "panels: {cost: {zh: 费用, en: }}",
        "panels: {cost: {zh: 费用, en: Cost, fr: Coût}}",
    ],
)
def test_a_pair_without_exactly_both_languages_is_named_and_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write_package(tmp_path, text, monkeypatch)
    with pytest.raises(
        ValueError, match=r"words\.yaml: panels: cost has .* Give it one text as zh and one as en"
    ):
        read_bilingual(name, "words.yaml")


def test_a_key_that_is_given_twice_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = write_package(tmp_path, "score: {zh: 一, en: a}\nscore: {zh: 二, en: b}\n", monkeypatch)
    with pytest.raises(ValueError, match="'score' is given twice"):
        read_bilingual(name, "words.yaml")
