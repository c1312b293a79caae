"""How a model is asked to complete a question from memory, and how a simulated one reads it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from tasks.contamination.spans import BLANK
from tasks.questions.forms import Messages

# Recorded with every replay: a changed word below needs a new version.
VERSION = "1"

_REQUEST = {
    "zh": "下面是一道试题的原文，其中一处被“{blank}”代替。请凭记忆写出被代替的原文，只写这一处，不要作答，也不要解释。",
    "en": 'Below is the text of an exam question in which one passage was replaced by "{blank}". Write the original passage from '
    "memory, and nothing else: do not answer the question, do not explain.",
}
_PASSAGE = re.compile(
    r"^=== passage (?P<tag>[0-9a-f]{12}) ===\n(?P<text>.*?)\n^=== end (?P=tag) ===$", re.DOTALL | re.MULTILINE
)


def render_replay(blanked: str, language: str) -> Messages:
    """The messages that ask for the span."""
    tag = hashlib.sha256(blanked.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    request = _REQUEST[language].format(blank=BLANK)
    return [{"role": "user", "content": f"{request}\n\n=== passage {tag} ===\n{blanked}\n=== end {tag} ==="}]


def extract_passage(messages: Sequence[Mapping[str, str]]) -> str | None:
    """The question with its blank inside the messages; null when there is none."""
    match = _PASSAGE.search(messages[-1]["content"]) if messages else None
    return None if match is None or BLANK not in match["text"] else match["text"]
