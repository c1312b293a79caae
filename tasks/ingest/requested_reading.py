"""A held paper that a registered model reads again, as somebody at the web desk asked.

It is read and landed as `proctor ingest --again --assist` does, from the archived original. A request is a job of the ledger
until it is done; who asked, and what came of it, stands in the audit log.
"""

from __future__ import annotations

import glob
import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

from schemas.errors import DocumentError, RegistryError, StoreAway, StoreError
from schemas.ledger.engine import Job
from schemas.settings import Settings
from tasks.ingest.corrected import PaperAsRead, lay_out_original, open_paper
from tasks.ingest.documents import IngestOptions, ParsedDocument, Source, make_options, parse_sources
from tasks.ingest.landing import IngestSummary, land_sources
from tasks.ingest.removal import HELD
from tasks.ingest.second_reader import (
    AssistanceEstimate,
    Assistant,
    list_readers,
    name_month_budget,
    read_assist_model,
)
from tasks.running import log
from tasks.running.sharing import MOST_TRIES
from warehouse.lake import Lake
from warehouse.ledger.engine.leases.jobs import (
    defer_jobs,
    end_jobs,
    give_back_jobs,
    is_held,
    list_jobs,
    read_job,
    take_jobs,
)
from warehouse.ledger.engine.leases.presence import Presence
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.money.budgets import read_account
from warehouse.ledger.trust import access

if TYPE_CHECKING:
    from tasks.models.registry import RegisteredModel

REQUESTED: Final = "second reading"
ACTION: Final = "second_reading"
_ASKED: Final = "asked"

# Why a paper is not put to a model: nobody needs it, or a person has divided it already.
Obstacle = Literal["not_held", "corrected"]


@dataclass(frozen=True)
class SecondReading:
    """How far a second reading is, or what came of the last one.

    `state` is `waiting` or `running`; then `taken` (the paper is as the model reads it), `kept` (as the rules do, which read it better), `away`
    (the model gave no reply), `budget`, `unread` (its reply could not be read), `no_lines` (nothing could be shown to it), `no_key`,
    `no_model` (it may read no papers any more), `no_budget`, `changed` (somebody else was faster), `deleted` (the original),
    `terms` (the model goes elsewhere or costs another price than was agreed to) or `failed` (the log names the error).
    """

    state: str
    model: str
    person: str


@dataclass(frozen=True)
class MonthMoney:
    """What ingests of this month may spend in USD, and what is left of it."""

    limit_usd: float
    left_usd: float


def find_obstacle(lake: Lake, paper: PaperAsRead | None) -> Obstacle | None:
    """Why this paper is not put to a model, whoever asks; None where it may be."""
    if paper is None or paper.is_released or paper.document["status"] not in (HELD, "no_questions"):
        return "not_held"
    kept = lake.read("corrections_of_document", {"document_id": paper.document["document_id"]})
    return "corrected" if kept.height else None


def read_month_money(ledger: Ledger, settings: Settings) -> MonthMoney | None:
    """The money of this month's ingests; None where nothing limits it."""
    with ledger.read() as connection:
        account = read_account(connection, name_month_budget(now_text()))
    limits = account.limits if account is not None else ()
    limit = limits[-1].limit_usd if limits else settings.budget_usd
    used = 0.0 if account is None else account.spent_usd + account.reserved_usd
    return None if limit is None else MonthMoney(limit, max(0.0, limit - used))


def estimate_reading(
    lake: Lake, ledger: Ledger, settings: Settings, paper: PaperAsRead, name: str
) -> AssistanceEstimate:
    """What it would cost at most to have the model of that name read this paper.

    It is read by the rules for it, which takes as long as an ingest of it; nothing is asked, and nothing lands.

    Raises:
        RegistryError: no such model may read papers.
        DocumentError: the original was deleted.
    """
    model = next((one for one in list_readers(settings) if one.name == name), None)
    if model is None:
        raise RegistryError(f"{settings.registry_path}: no model {name!r} may read papers.")
    options = replace(_make_options(settings, paper.document), shows_lines=True)
    with TemporaryDirectory(prefix="proctor-again-") as folder:
        source = _find_source(lake, settings, paper.document, Path(folder))
        return Assistant(ledger, settings, model, reads_all=True).estimate(
            parse_sources([source], options, 1)
        )


def request_reading(
    ledger: Ledger, document_id: str, model: RegisteredModel, person: str, *, address: str | None = None
) -> bool:
    """Note that somebody asks for a paper to be read; false where it is asked for already.

    It is asked for on the terms under which the model is registered now.
    """
    with ledger.write() as connection:
        if read_job(connection, REQUESTED, document_id) is not None:
            return False
        add_entry(connection, _make_entry(document_id, person, _ASKED, model.name, address))
        details = {"model": model.name, "person": person, "terms": _hash_terms(model)}
        defer_jobs(connection, [Job(kind=REQUESTED, name=document_id, details=details)])
    return True


def find_reading(ledger: Ledger, document_id: str) -> SecondReading | None:
    """The second reading of a paper that is under way, else the last one.

    It may be one by a model that may read no papers any more.
    """
    with ledger.read() as connection:
        job = read_job(connection, REQUESTED, document_id)
        if job is not None:
            return _describe_job(connection, job)
        last = access.read_last_entry(connection, ACTION, [document_id])
    if last is None:
        return None
    outcome, _, model = str(last.code).partition(" ")
    return None if outcome == _ASKED else SecondReading(outcome, model, str(last.user_id))


def list_under_way(ledger: Ledger) -> dict[str, SecondReading]:
    """The second readings that somebody asked for and that are not done, by document."""
    with ledger.read() as connection:
        return {job.name: _describe_job(connection, job) for job in list_jobs(connection, REQUESTED)}


def read_requested(lake: Lake, ledger: Ledger, settings: Settings, document_id: str) -> dict[str, object]:
    """Have the paper read that somebody asked for, or all such papers; counts by outcome.

    What another process reads is left to it. What was paid for is not paid for again, however often this is done. A paper
    that fails ends as such: it keeps no other waiting. Where a store fails, what is left waits to be tried again.
    """
    outcomes: Counter[str] = Counter()
    for name in [document_id] if document_id else list_under_way(ledger):
        with Presence(ledger) as presence:
            job = _take(ledger, name, presence.holder)
            if job is None:
                continue
            details = job.details or {}
            model, person = details["model"], details["person"]
            look = _LastLook(lake, model, person, details.get("terms"))
            _read(lake, ledger, settings, job, look)
            with ledger.write() as connection:
                add_entry(connection, _make_entry(name, person, look.outcome, model))
                end_jobs(connection, REQUESTED, [name], presence.holder)
            outcomes[look.outcome] += 1
    return {"second_readings": dict(outcomes)}


@dataclass
class _LastLook:
    """What came of a second reading, seen right before it lands; only what helps does land."""

    lake: Lake
    model: str
    person: str
    terms: str | None
    outcome: str = "no_lines"

    def __call__(self, parsed: ParsedDocument, summary: IngestSummary) -> ParsedDocument | None:
        paper = open_paper(self.lake, str(parsed.document["document_id"]))
        # The model took its time, in which somebody may have corrected, released or removed the paper.
        if find_obstacle(self.lake, paper) is not None:
            self.outcome = self.find_landed(paper)
            return None
        self.outcome = self._judge(summary)
        if self.outcome not in ("taken", "kept"):
            return None
        warnings = [*parsed.document["warnings"], self._tell(self.outcome)]
        return replace(parsed, document=parsed.document | {"warnings": warnings})

    def find_landed(self, paper: PaperAsRead | None) -> str:
        """What came of it of a paper that needs no reading any more.

        An earlier try may have ended right after it had landed: then the paper itself says so.
        """
        warnings = () if paper is None else paper.document["warnings"]
        return next((one for one in ("taken", "kept") if self._tell(one) in warnings), "changed")

    def _tell(self, outcome: str) -> str:
        sentence = f"{self.person} had the model {self.model} read this paper again, on the web desk."
        if outcome == "kept":
            sentence += " The rules' reading keeps more of what the paper says of itself and was kept."
        return sentence

    def _judge(self, summary: IngestSummary) -> str:
        asked = summary.assistance
        if asked is None or not asked.documents:
            return "no_lines"
        if asked.failed:
            return "unread" if asked.failure is None else "budget" if asked.is_stopped else "away"
        return "taken" if asked.taken else "kept"


def _take(ledger: Ledger, document_id: str, holder: str) -> Job | None:
    """The request, taken; None where there is none, or another process has it."""
    with ledger.write() as connection:
        return next(iter(take_jobs(connection, holder, REQUESTED, 1, names=[document_id])), None)


def _describe_job(connection: Connection, job: Job) -> SecondReading:
    details = job.details or {}
    state = "running" if is_held(connection, job) else "waiting"
    return SecondReading(state, details["model"], details["person"])


def _read(lake: Lake, ledger: Ledger, settings: Settings, job: Job, look: _LastLook) -> None:
    """Read the paper and land what helps; the outcome is in `look`."""
    try:
        _read_held(lake, ledger, settings, job.name, look)
    except StoreAway:
        raise
    except Exception as error:
        if isinstance(error, StoreError) and job.tries + 1 < MOST_TRIES:
            # Of the others that wait none would fare better now.
            with ledger.write() as connection:
                give_back_jobs(connection, REQUESTED, [job.name], job.holder, problem=str(error))
            raise
        # Whatever it is, somebody waits for a word. The message is not logged: it may hold text of the paper.
        log.error("Document %s was not read again: %s", job.name, type(error).__name__)
        look.outcome = "failed"


def _read_held(lake: Lake, ledger: Ledger, settings: Settings, document_id: str, look: _LastLook) -> None:
    paper = open_paper(lake, document_id)
    if paper is None or find_obstacle(lake, paper) is not None:
        look.outcome = look.find_landed(paper)
        return
    if read_month_money(ledger, settings) is None:
        # Nobody who looks after the money sees what is asked here.
        look.outcome = "no_budget"
        return
    try:
        model = read_assist_model(settings, look.model)
        if _hash_terms(model) != look.terms:
            look.outcome = "terms"
            return
        with TemporaryDirectory(prefix="proctor-again-") as folder:
            land_sources(
                lake,
                settings,
                [_find_source(lake, settings, paper.document, Path(folder))],
                again=True,
                options=_make_options(settings, paper.document),
                workers=1,
                assistant=Assistant(ledger, settings, model, reads_all=True),
                last_look=look,
            )
    except RegistryError as error:
        log.warning("A paper was not read again: %s", error)
        may_read = any(one.name == look.model for one in list_readers(settings))
        look.outcome = "no_key" if may_read else "no_model"
    except DocumentError as error:
        look.outcome = error.code


def _hash_terms(model: RegisteredModel) -> str:
    """What a person agrees to: to whom a paper is sent, what of it, and for what price."""
    terms = (
        (model.organisation, model.base_url, sorted(model.replica_urls), model.endpoint_model),
        (model.input_price_usd, model.output_price_usd, model.cached_input_price_usd),
        (model.sees_pictures, model.parameters.get("max_tokens")),
    )
    return hashlib.sha256(json.dumps(terms).encode()).hexdigest()


def _make_options(settings: Settings, document: dict[str, Any]) -> IngestOptions:
    """As the paper was ingested: what was found out of its discipline and kind stays."""
    options = make_options(source_kind=document["source_kind"], settings=settings)
    if document["discipline"] is None:
        return options
    known = "/".join(name for name in (document["discipline"], document["sub_discipline"]) if name)
    own = {glob.escape(_name_source(document)): known}
    return replace(options, discipline_map={**(options.discipline_map or {}), **own})


def _find_source(lake: Lake, settings: Settings, document: dict[str, Any], folder: Path) -> Source:
    return Source(lay_out_original(lake, settings, document, folder), Path(_name_source(document)))


def _name_source(document: dict[str, Any]) -> str:
    return str(document["source_path"] or document["document_name"])


def _make_entry(document_id: str, person: str, outcome: str, model: str, address: str | None = None) -> Entry:
    """The paper alone is the target: what came of it is found whatever became of the model."""
    return Entry(ACTION, user_id=person, code=f"{outcome} {model}", target=document_id, address=address)
