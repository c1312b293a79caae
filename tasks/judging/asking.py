"""Which judges are in use, and by which kind, ours or another package's, each is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from schemas import patterns as re
from schemas.errors import ContractError, UsageError
from schemas.seams import OURS
from schemas.settings import Settings
from tasks.judging import prompts
from tasks.judging.kinds import JUDGES, MOST_STARS, JudgeKind, ParsedJudgement, is_version
from tasks.models.registry import RegisteredModel, Registry
from tasks.questions import QuestionContent
from tasks.questions.forms import Messages

# A wording is part of `prompt_version`, of units and of what an edition names, where `/` divides.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


@dataclass(frozen=True)
class Asking:
    """How one registered judge is asked, and its replies read.

    Attributes:
        wording: version of the prompt, without its language: of our own kind the bare version, else `KIND-VERSION`.
        parameters: what goes into the request beside the messages.
    """

    wording: str
    parameters: Mapping[str, Any]
    _name: str
    _kind: JudgeKind

    def write_messages(self, question: QuestionContent, response: str) -> Messages:
        """The messages that ask for stars."""
        return self._kind.write_messages(question, response)

    def name_version(self, question: QuestionContent) -> str:
        """What `prompt_version` says: the wording and the question's language."""
        return f"{self.wording}/{question.language}"

    def parse_reply(self, text: str) -> ParsedJudgement:
        """Stars and reason of a reply; raises ContractError for stars that are none."""
        found = self._kind.parse_reply(text)
        # True is no count of stars, although it equals 1.
        if found.stars is not None and (type(found.stars) is not int or not 0 <= found.stars <= MOST_STARS):
            # A text may be the judge's own words, and those quote question and answer.
            read = found.stars if isinstance(found.stars, int | float) else type(found.stars).__name__
            raise ContractError(
                f"The kind of judge {self._name!r} read {read} as stars; they are whole numbers from 0 to {MOST_STARS}, or "
                "None where they cannot be read. Mend the package that brings it."
            )
        return found


def find_asking(judge: RegisteredModel) -> Asking:
    """How the judge is asked; UsageError where no package brings its kind as it can be recorded."""
    name = judge.judge_kind
    try:
        kind = JUDGES.find(name)
    except UsageError as error:
        raise UsageError(f"Model {judge.name!r}, field `judge_kind`: {error}") from error
    parameters = (
        {"response_format": kind.reply_schema}
        if judge.offers_schema and kind.reply_schema is not None
        else {}
    )
    return Asking(_name_wording(name, kind), parameters, name, kind)


def _name_wording(name: str, kind: JudgeKind) -> str:
    entry = JUDGES.find_entry(name)
    if entry.package == OURS:
        return kind.version
    version = kind.version
    if not _NAME.fullmatch(name) or not is_version(version):
        raise UsageError(
            f"The kind of judge {name!r} of {entry.package} has the version {version!r}, and both are recorded with every judgement: a "
            "name has at most 32 Latin letters, digits, dots, underscores and hyphens, a version at most 16 and no hyphen. Mend the package, or "
            "uninstall it."
        )
    return f"{name}-{version}"


def list_judges(registry: Registry, settings: Settings, *, is_simulated: bool) -> list[RegisteredModel]:
    """The judges in use for runs of a kind, the primary one first.

    There are none where the registry has no such judge. Raises UsageError as `find_asking`, and for a judge that sits the exam,
    before anything is asked.
    """
    if not settings.judges and not any("judge" in model.roles for model in registry.models.values()):
        return []
    judges = [judge for judge in registry.judges(settings.judges) if judge.is_simulated is is_simulated]
    for judge in judges:
        if judge.sitting_role is not None:
            raise UsageError(
                f"{judge.name} is a {judge.sitting_role} and would judge its own answers. Name another judge: PROCTOR_JUDGES, or the role `judge` in the "
                "registry."
            )
        find_asking(judge)
    return judges


def describe_judging(registry: Registry, settings: Settings, *, is_simulated: bool) -> dict[str, str]:
    """What judging runs of a kind rests on: the wordings in use, and of each judge its identity.

    Of judges each for itself: one more, or one less, makes no other of those that have judged. Our own wording where there are none yet.
    """
    judges = list_judges(registry, settings, is_simulated=is_simulated)
    wordings = "+".join(sorted({find_asking(judge).wording for judge in judges})) or prompts.VERSION
    return {"judge_prompt": wordings} | {f"judge {judge.name}": _hash(judge) for judge in judges}


def _hash(judge: RegisteredModel) -> str:
    """What makes a judge judge otherwise; its address does not: a server may move."""
    identity = json.dumps([judge.endpoint_model, judge.mode, judge.parameters], sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:16]
