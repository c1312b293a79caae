from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.errors import UsageError
from tasks.league.domain import list_domains, parse_domain, read_domain
from tasks.league.wording import PutQuestion, ShownAnswer, render_answering, render_asking, render_judging


def load(name: str = "law") -> dict[str, Any]:
    content: dict[str, Any] = copy.deepcopy(dict(read_domain(name).content))
    return content


def test_three_domains_are_shipped_in_two_languages_and_one_of_them_runs_code() -> None:
    domains = [read_domain(name) for name in list_domains()]
    assert [(one.name, one.aggregation, one.runs_code, one.languages) for one in domains] == [
        ("law", "borda", False, ("en", "zh")),
        ("mathematics", "borda", False, ("en", "zh")),
        ("programming", "score_100", True, ("en", "zh")),
    ]


@pytest.mark.parametrize("name", list_domains())
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_prompt_of_every_domain_can_be_rendered(name: str, language: str) -> None:
    domain = read_domain(name)
    question = PutQuestion("stem", "reference", "principle", "standard")
    prompts = [
        render_asking(domain, language, domain.topics[language][0]),
        render_answering(domain, language, "stem"),
        render_judging(domain, language, question, [ShownAnswer("A", "answer")], with_reference=True),
    ]
    for prompt in prompts:
        text = prompt.messages[-1]["content"]
        assert "{" in text.splitlines()[-1] or "}" in text or "A" in text
        assert prompt.version.endswith(f"/{language}")
    assert len(domain.topics["en"]) == len(domain.topics["zh"])


def test_a_domain_of_ones_own_is_a_file_and_its_benchmarks_lie_beside_it(tmp_path: Path) -> None:
    content = load() | {"name": "chemistry", "originality": ["known.txt"]}
    path = tmp_path / "chemistry.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    domain = read_domain(str(path))
    assert domain.name == "chemistry"
    assert domain.originality == (str(tmp_path / "known.txt"),)
    assert parse_domain(domain.content, "claim").hash == domain.hash
    assert domain.hash != read_domain("law").hash


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"aggregation": "elo"}, "aggregation 'elo' is unknown"),
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"prompts": None}, "`prompts` is missing"),
        ({"prompts": {"fr": {}}}, "by language"),
        ({"prompts": {"en": {"ask": "x", "answer": "y"}}}, "no wording for 'judge'"),
        ({"question": [{"key": "q", "about": {"en": "x", "zh": "x"}, "column": "raw"}]}, "no column 'raw'"),
        (
            {"question": [{"key": "q", "about": {"en": "x", "zh": "x"}, "column": "stem"}]},
            "'reference_answer'",
        ),
        ({"answer": [{"key": "a", "about": {"en": "x"}, "column": "response"}]}, "`about` in each language"),
        ({"topics_per_season": 99}, "topics_per_season"),
        ({"typical_tokens": {"question": -1}}, "typical_tokens"),
        ({"name": "a b"}, "is no name for a domain"),
    ],
)
def test_a_faulty_domain_is_refused_with_its_field(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_domain(load() | change, "mine.yaml")


def test_an_unknown_domain_names_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="law, mathematics, programming"):
        read_domain("alchemy")
    (tmp_path / "x.yaml").write_text("a: [")
    with pytest.raises(UsageError, match="not UTF-8 YAML"):
        read_domain(str(tmp_path / "x.yaml"))
