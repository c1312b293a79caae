"""A model reads papers that the rules may have read wrongly: a second reader.

It is held to the same contracts. The model may only point at what the paper says, never add a word (pointed.py). Off by default. Texts leave the house with
every call, so the model should run where the papers may be read.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.errors import BudgetError
from tasks.ingest.answer_files import find_answered
from tasks.ingest.documents import IngestOptions, ParsedDocument, parse_as_said, parse_document
from tasks.ingest.intake import close_spool, open_spool
from tasks.ingest.second_reader.choice import choose_reading, is_doubtful
from tasks.ingest.second_reader.requests import (
    LEAST_WINDOW,
    WINDOW,
    Window,
    count_put,
    end_window,
    join_replies,
    list_windows,
    make_messages,
    make_window,
    name_page,
)
from tasks.ingest.second_reader.shown import ShownPaper, name_picture
from warehouse.ledger.engine.moments import now_text

if TYPE_CHECKING:
    from schemas.settings import Settings
    from tasks.models import ModelClient, SentPicture
    from tasks.models.budget import Budget
    from tasks.models.registry import RegisteredModel
    from warehouse.ledger.engine.ledger import Ledger

# Every call is known by its text and this name, whatever the month: a text is never paid for twice.
CALL_RUN = "ingest"
TRIES = 2
# So many calls for each window that a paper has at first: a reply that is cut makes smaller ones, and windows overlap.
MOST_CALLS = 8
# After so many documents in a row without a reply (each after all its attempts) the others are not put to the model.
MOST_UNANSWERED = 3
# Pages, and pictures of the paper, that go with one window where the model sees them.
MOST_PAGES, MOST_SMALL = 12, 50
# So many windows beyond those whose calls may be out are drawn, so that no call waits for its pages.
_DRAWN_AHEAD = 4


@dataclass
class AssistanceSummary:
    """What the model's help came to.

    `documents` were put to the model, `taken` of them are as it reads them and `kept` as the rules do; `questions` were made of its
    replies, `refused` of its questions are not in the text; `failed` documents got no help. `is_stopped`: the budget is used up or
    the model does not answer, and nothing more is asked.
    """

    documents: int = 0
    taken: int = 0
    kept: int = 0
    questions: int = 0
    refused: int = 0
    failed: int = 0
    failure: str | None = None
    unanswered: int = 0
    is_stopped: bool = False
    budget: Budget | None = None
    calls: Counter[str] = field(default_factory=Counter)

    def as_counts(self) -> dict[str, object]:
        """Plain values for Prefect and for `--json`."""
        return {
            "assisted_documents": self.documents,
            "taken_readings": self.taken,
            "kept_readings": self.kept,
            "assisted_questions": self.questions,
            "refused_questions": self.refused,
            "failed_documents": self.failed,
            "failure": self.failure,
            "assist_calls": dict(self.calls),
        }


@dataclass(frozen=True)
class AssistanceEstimate:
    """How many of `papers` a model would read, and what that costs, if known.

    `calls` of `characters` cost `usd` at most if each reply can be read; with all that is asked again it is never more than `most_usd`.
    """

    papers: int
    documents: int
    calls: int
    characters: int
    usd: float | None
    most_usd: float | None
    unknown: str | None = None


def name_month_budget(now: str) -> str:
    """Under which name a month's money is kept: papers belong to no run of the exam."""
    return f"{CALL_RUN}-{now[:7]}"


class _Unusable(Exception):
    """No reply of the model to a window could be read."""


@dataclass(frozen=True)
class Assistant:
    """Who may be asked, and with what: the ledger keeps every call.

    `reads_all`: every paper is put to the model, not only those whose reading is doubtful.
    """

    ledger: Ledger
    settings: Settings
    model: RegisteredModel
    simulated_url: str | None = None
    reads_all: bool = False

    def new_summary(self) -> AssistanceSummary:
        """What is counted while a command runs."""
        return AssistanceSummary()

    def is_asked(self, parsed: ParsedDocument) -> bool:
        """Whether a paper is put to the model."""
        is_shown = parsed.shown is not None and parsed.shown.own > 0 and find_answered(parsed.path) is None
        return is_shown and (self.reads_all or is_doubtful(parsed))

    def estimate(self, parsed: Iterable[ParsedDocument]) -> AssistanceEstimate:
        """What it would cost at most to put these papers to the model; nothing is asked."""
        from tasks.models import MOST_PICTURE_TOKENS
        from tasks.models.budget import compute_worst_cost

        papers = documents = calls = characters = 0
        once = most = 0.0
        unknown: str | None = None
        for one in parsed:
            papers += 1
            if one.shown is None or not self.is_asked(one):
                continue
            documents += 1
            costs = []
            for window in list_windows(one.shown, WINDOW, self.model.sees_pictures):
                calls += 1
                characters += len(window.text)
                try:
                    cost = compute_worst_cost(self.model, make_messages(window.text), self.model.parameters)
                except BudgetError as error:
                    unknown = str(error)
                    continue
                if self.model.sees_pictures and self.model.input_price_usd is not None:
                    # what the client reserves for each, however small
                    sent = min(len(window.pages), MOST_PAGES) + min(len(window.pictures), MOST_SMALL)
                    cost += sent * MOST_PICTURE_TOKENS * self.model.input_price_usd / 1e6
                costs.append(cost)
            once += sum(costs)
            most += MOST_CALLS * len(costs) * max(costs, default=0.0)
        usd, most_usd = (once, most) if unknown is None else (None, None)
        return AssistanceEstimate(papers, documents, calls, characters, usd, most_usd, unknown)

    def read_twice(self, path: Path, options: IngestOptions, summary: AssistanceSummary) -> ParsedDocument:
        """One paper as the rules or as the model reads it; nothing is kept of it."""
        spool = open_spool(self.settings.archive_dir)
        options = replace(options.shown_to(sees_pictures=self.model.sees_pictures), spool=spool)
        try:
            (found,) = self.help_with([parse_document(path, options)], options, summary)
        finally:
            close_spool(spool)
        return replace(found, copy=None)

    def help_with(
        self, parsed: Sequence[ParsedDocument], options: IngestOptions, summary: AssistanceSummary
    ) -> list[ParsedDocument]:
        """The documents, each as the rules or as the model reads it, whichever reading is better.

        They must have been read with `shows_lines`. A document whose call fails stays as the rules read it, with a warning; nothing is
        lost. Counts go to `summary`.

        Raises:
            RegistryError: the model cannot be called at all (no key, no address).
        """
        from tasks.models import ModelClient
        from tasks.models.budget import open_budget

        # how a person divided a paper is not put to a model
        asked = [
            self.is_asked(one) and one.document["document_id"] not in options.corrections for one in parsed
        ]
        places = [place for place, is_asked in enumerate(asked) if is_asked]
        if not places:
            return list(parsed)
        if summary.budget is None:
            summary.budget = open_budget(self.ledger, self.settings.budget_usd, name_month_budget(now_text()))

        async def run() -> dict[int, ParsedDocument]:
            async with ModelClient(
                self.ledger, self.settings, budget=summary.budget, simulated_url=self.simulated_url
            ) as client:
                width = (self.model.max_concurrency or client.breadth) + _DRAWN_AHEAD
                reader = _Reader(client, self.model, options, summary, asyncio.Semaphore(width))
                async with asyncio.TaskGroup() as group:
                    tasks = {place: group.create_task(reader.read(parsed[place])) for place in places}
                summary.calls.update(client.counts)
            return {place: task.result() for place, task in tasks.items()}

        try:
            found = asyncio.run(run())
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return [found.get(place, one) for place, one in enumerate(parsed)]


@dataclass(frozen=True)
class _Reader:
    """A model that reads papers through one client; no more than have `turns` are drawn at once."""

    client: ModelClient
    model: RegisteredModel
    options: IngestOptions
    summary: AssistanceSummary
    turns: asyncio.Semaphore

    async def read(self, parsed: ParsedDocument) -> ParsedDocument:
        """One document, as the rules or as the model reads it."""
        from tasks.models import CallFailed

        assert parsed.shown is not None
        summary = self.summary
        if summary.is_stopped:
            return self._fail(parsed, "it was not asked any more")
        summary.documents += 1
        try:
            said = json.dumps(await self._ask_all(parsed, parsed.shown))
        except (_Unusable, RecursionError):
            return self._fail(parsed, "its reply could not be read")
        except (CallFailed, BudgetError) as error:
            summary.failure = str(error)
            summary.unanswered += 1
            summary.is_stopped = isinstance(error, BudgetError) or summary.unanswered >= MOST_UNANSWERED
            problem = "it gave no reply" if isinstance(error, CallFailed) else "the budget is used up"
            return self._fail(parsed, problem)
        summary.unanswered = 0
        second = await asyncio.to_thread(parse_as_said, parsed, said, self.options)
        if second is None:
            return self._fail(parsed, "the file is another one by now")
        if second.text is None:
            status = second.document["status"]
            return self._fail(parsed, f"reading the paper by its reply ended as `{status}`")
        summary.refused += len(second.refused)
        chosen, is_taken = choose_reading(parsed, second, self.options)
        if not is_taken:
            summary.kept += 1
            return chosen
        summary.taken += 1
        summary.questions += len(chosen.questions)
        return _warn(chosen, f"This paper was read by the model {self.model.name}.")

    def _fail(self, parsed: ParsedDocument, problem: str) -> ParsedDocument:
        self.summary.failed += 1
        words = f"The model {self.model.name} did not help: {problem}. The rules' reading was kept."
        return _warn(parsed, words)

    async def _ask_all(self, parsed: ParsedDocument, shown: ShownPaper) -> dict[str, Any]:
        """What the model says of a paper; the last question of a window is asked for again."""
        said: list[Mapping[str, Any]] = []
        line, size = 0, WINDOW
        left = iter(range(MOST_CALLS * len([*list_windows(shown, WINDOW)])))
        while line < count_put(shown, size):
            window = make_window(shown, line, size, self.model.sees_pictures)
            async with self.turns:
                reply = await self._ask(parsed, window, left)
            if reply is None:
                if size <= LEAST_WINDOW:
                    raise _Unusable
                size //= 2  # the reply was cut: ask for less
                continue
            line, kept = end_window(reply, window)
            said.append(kept)
        return join_replies(said)

    async def _ask(
        self, parsed: ParsedDocument, window: Window, left: Iterator[int]
    ) -> dict[str, Any] | None:
        """The reply to a window, for one of the calls that are `left`; None where it was cut.

        Raises:
            _Unusable: no reply could be read.
        """
        from tasks.models import CallRequest
        from tasks.models.reading import parse_json_object

        pictures = await asyncio.to_thread(self._draw, parsed, window) if self.model.sees_pictures else ()
        for attempt, _ in zip(range(TRIES), left, strict=False):
            reply = await self.client.complete(
                self.model,
                CallRequest(
                    purpose="ingest",
                    messages=make_messages(window.text),
                    run_id=CALL_RUN,
                    unit=str(parsed.document["document_id"]),
                    salt=f"try {attempt}" if attempt else "",
                    pictures=pictures,
                ),
            )
            if reply.status == "truncated":
                return None
            for name in ("questions", "keys") if reply.status == "answered" else ():
                value = parse_json_object(reply.text, name)
                if value is not None and isinstance(value[name], list):
                    return dict(value)
        raise _Unusable

    def _draw(self, parsed: ParsedDocument, window: Window) -> tuple[SentPicture, ...]:
        """The pages of a window, where they can be drawn, and the pictures in its lines."""
        from tasks.ingest.originals import draw_file_page
        from tasks.models import SentPicture

        found = []
        for page in window.pages[:MOST_PAGES]:
            data = draw_file_page(parsed.copy or parsed.path, str(parsed.document["media_type"]), page)
            if data is None:
                break
            digest = hashlib.sha256(data).hexdigest()
            found.append(SentPicture(name_page(page), digest, "image/png", data))
        shown = parsed.shown.pictures if parsed.shown is not None else {}
        for number in [number for number in window.pictures if str(number) in shown][:MOST_SMALL]:
            data = base64.b64decode(shown[str(number)])
            digest = hashlib.sha256(data).hexdigest()
            found.append(SentPicture(name_picture(number), digest, "image/png", data))
        return tuple(found)


def _warn(parsed: ParsedDocument, sentence: str) -> ParsedDocument:
    document = parsed.document | {"warnings": [*parsed.document["warnings"], sentence]}
    return replace(parsed, document=document)


def list_readers(settings: Settings) -> list[RegisteredModel]:
    """The registered models that papers may be sent to: those with the role `generator`.

    Raises:
        RegistryError: the registry cannot be read.
    """
    from tasks.models.registry import read_registry

    return [model for model in read_registry(settings.registry_path).models.values() if model.is_generator]


def read_assist_model(settings: Settings, name: str) -> RegisteredModel:
    """The registered model that may help, checked before anything is read.

    Raises:
        RegistryError: no such model, it is not registered as a `generator`, it sits the exam, or its key is missing.
    """
    from tasks.models.registry import SIMULATED_URL, read_api_key, read_registry

    model = read_registry(settings.registry_path).generator(name)
    if model.base_url != SIMULATED_URL:
        read_api_key(model)
    return model
