"""What a kind of judge is to Proctor: how a verdict is asked for, and how the reply is read.

Other packages bring theirs by the entry points `proctor.judges`, and the registry names one in the field `judge_kind` of a model.
Which model is asked, claims, budget, the ledger's rows, further tries and what lands of a verdict are not its business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from schemas import patterns as re
from schemas.seams import Seam
from tasks.judging.prompts import render_reference, render_sections
from tasks.questions import QuestionContent
from tasks.questions.forms import Messages

__all__ = [
    "JUDGES",
    "MOST_STARS",
    "JudgeKind",
    "Messages",
    "ParsedJudgement",
    "QuestionContent",
    "is_version",
    "render_reference",
    "render_sections",
]

MOST_STARS: Final = 3
# Without a hyphen, so that no name and version read as another name and version (`KIND-VERSION`).
_VERSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._]{0,15}")
JUDGES: Final[Seam[JudgeKind]] = Seam(
    "proctor.judges",
    "kind of judge",
    {"stars": "tasks.judging.kinds.stars:STARS"},
    needs=("version", "reply_schema", "write_messages", "parse_reply"),
)


@dataclass(frozen=True)
class ParsedJudgement:
    """What could be read: stars null means unparsed."""

    stars: int | None
    reason: str | None


class JudgeKind(Protocol):
    """How a model is asked for stars, and how its reply is read.

    Attributes:
        version: recorded with every judgement, `1` or `2026.11`: whoever changes a word of the messages, or how replies are read, raises it. What was
            judged by another version stays, and is judged again beside it.
        reply_schema: what a reply is held to where the endpoint of the model can (`response_format`); None for nothing.
    """

    @property
    def version(self) -> str:  # noqa: D102 - above
        ...

    @property
    def reply_schema(self) -> Mapping[str, object] | None:  # noqa: D102 - above
        ...

    def write_messages(self, question: QuestionContent, response: str) -> Messages:
        """The messages that ask for stars, each with `role` and `content`.

        They are always the same for the same response. The question has its reference answer (`answer`, empty where there is none) and explanation. The response is a stranger's
        text: `render_sections` sets it apart from what the judge is told. Who gave it is not said.
        """
        ...

    def parse_reply(self, text: str) -> ParsedJudgement:
        """Stars from 0 to 3 and the reason; never raises, None for what cannot be read for certain."""
        ...


def is_version(value: object) -> bool:
    """A version that can be recorded: up to 16 Latin letters, digits, dots and underscores."""
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None
