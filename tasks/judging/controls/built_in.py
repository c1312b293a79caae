"""Questions of our own to try a judge with; they are in no bank."""

from __future__ import annotations

from pathlib import Path

import yaml

from tasks.judging.controls.answers import ControlQuestion
from tasks.questions import QuestionContent

_FILE = Path(__file__).with_name("questions.yaml")


def list_built_in(language: str) -> list[ControlQuestion]:
    """The built-in questions of a language."""
    found = []
    for row in yaml.safe_load(_FILE.read_text(encoding="utf-8"))[language]:
        content = QuestionContent.from_row({"language": language, "options": [], **row})
        found.append(ControlQuestion(content.stem, content.stem, str(content.discipline), content))
    return found
