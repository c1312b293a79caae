"""Our own kind of judge: the stars of LLMEval-Fair, asked for and read as ever."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tasks.judging import prompts
from tasks.judging.kinds import ParsedJudgement
from tasks.questions import QuestionContent
from tasks.questions.forms import Messages


class StarJudge:
    """One prompt for each language, JSON or words as the reply."""

    reply_schema: Mapping[str, object] = prompts.REPLY_SCHEMA

    @property
    def version(self) -> str:
        """The version of the wording."""
        return prompts.VERSION

    def write_messages(self, question: QuestionContent, response: str) -> Messages:
        """See prompts.render_judging_prompt."""
        return prompts.render_judging_prompt(question, response)[0]

    def parse_reply(self, text: str) -> ParsedJudgement:
        """See parse_judgement."""
        # It compiles some dozens of patterns, and every plan of an exam asks for the wording.
        from tasks.judging.parsing import parse_judgement

        return parse_judgement(text)


STARS: Final = StarJudge()
