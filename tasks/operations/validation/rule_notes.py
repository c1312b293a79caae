"""What each rule says in words, what to do where it is broken, and an example.

The source is `schemas/data/question_rules.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class RuleNote:
    """One rule in words.

    Attributes:
        name: as quarantine names it.
        about: `question` (of any question), or `variant` (between what a model wrote and what it was made from).
        refuses: whether what breaks it is refused; else it is a doubt for an editor.
        texts: (Chinese, English) what must hold.
        advice: (Chinese, English) what to do.
        example: what breaks it.
    """

    name: str
    about: str
    refuses: bool
    texts: tuple[str, str]
    advice: tuple[str, str]
    example: Mapping[str, Any]


@lru_cache(maxsize=1)
def read_rule_notes() -> Mapping[str, RuleNote]:
    """Every rule by name, in the order of the file."""
    import yaml

    text = resources.files("schemas").joinpath("data/question_rules.yaml").read_text(encoding="utf-8")
    return {
        entry["rule"]: RuleNote(
            entry["rule"],
            entry["about"],
            entry["refuses"],
            (entry["zh"], entry["en"]),
            (entry["zh_do"], entry["do"]),
            entry["example"],
        )
        for entry in yaml.load(text, Loader=yaml.CSafeLoader)
    }
