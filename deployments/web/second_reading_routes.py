"""Held papers that a model reads: what it costs and where the text goes, then a button."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from deployments.flow_runs import is_worked
from deployments.web.lake import Kept, LakeDoor, open_asked, read_lake
from deployments.web.show import choose_language, say
from deployments.web.visitor import Body, Config, Coordinator, Store
from schemas.errors import ProctorError, RegistryError
from schemas.settings import Settings
from tasks.ingest import (
    AssistanceEstimate,
    PaperAsRead,
    SecondReading,
    estimate_reading,
    find_obstacle,
    find_reading,
    list_readers,
    list_under_way,
    read_month_money,
    request_reading,
)
from tasks.models.registry import RegisteredModel
from tasks.review import Language
from warehouse.ledger.engine.ledger import Ledger

_LOG: Final = logging.getLogger("proctor.web")
# Papers that are chosen at once; an estimate of each is kept.
MOST_PAPERS: Final = 30
_MOST_ESTIMATES: Final = 8 * MOST_PAPERS
# Papers of the list of which it is looked up what came of a second reading.
_MOST_TOLD: Final = 200
# What a person is told of each state of a second reading.
_STATES: Final[Mapping[str, str]] = {
    "waiting": "second_waiting",
    "running": "second_running",
    "taken": "second_taken",
    "kept": "second_kept",
    "away": "second_away",
    "budget": "second_budget",
    "unread": "second_unread",
    "no_lines": "second_no_lines",
    "no_key": "second_no_key",
    "no_model": "second_no_model",
    "no_budget": "second_no_budget",
    "changed": "second_changed",
    "deleted": "second_deleted",
    "terms": "second_other_terms",
    "failed": "second_failed",
}
_UNDER_WAY: Final = ("waiting", "running")


def add_second_reading_routes(app: FastAPI) -> None:
    """Add what the pages of held papers ask for; for coordinators alone it exists."""

    @app.get("/papers/{document_id}/second-reading")
    def tell_state(request: Request, document_id: str, visitor: Coordinator, ledger: Store) -> Response:
        return JSONResponse(describe_state(request, ledger, open_asked(request, document_id)))

    @app.post("/papers/estimate")
    def estimate(
        request: Request, visitor: Coordinator, ledger: Store, settings: Config, body: Body
    ) -> Response:
        """What the model would be sent and what that costs at most; asked again until it is ready."""
        papers, model = _open_chosen(request, body), _find_model(settings, body)
        if len(papers) > MOST_PAPERS:
            return JSONResponse(_Offer(_refuse_many(request)).describe())
        return JSONResponse(_make_offer(request, ledger, settings, papers, model).describe())

    @app.post("/papers/second-reading")
    def begin(
        request: Request, visitor: Coordinator, ledger: Store, settings: Config, body: Body
    ) -> Response:
        """Have the model read papers, for a cost that was shown; twice changes nothing."""
        papers = _open_chosen(request, body)
        if len(papers) > MOST_PAPERS:
            return JSONResponse({"code": "refused", "message": _refuse_many(request)}, 409)
        names = [str(paper.document["document_id"]) for paper in papers]
        asked = list_under_way(ledger)
        new = [paper for paper, name in zip(papers, names, strict=True) if name not in asked]
        if new:
            model = _find_model(settings, body)
            offer = _make_offer(request, ledger, settings, new, model, begins=False)
            if not offer.may:
                return JSONResponse({"code": "refused", "message": offer.message}, 409)
            address = request.client.host[:64] if request.client else None
            for paper in offer.papers:
                name = str(paper.document["document_id"])
                request_reading(ledger, name, model, visitor.user_id, address=address)
        if new or any(asked[name].state == "waiting" for name in names):
            # One process reads whatever waits, however many were chosen.
            request.app.state.begin_reading(names[0] if len(names) == 1 else "")
        return JSONResponse(describe_state(request, ledger, papers[0]))


def describe_state(request: Request, ledger: Ledger, paper: PaperAsRead) -> dict[str, Any]:
    """How far a second reading of a paper is, in words; empty words where there was none."""
    found = find_reading(ledger, str(paper.document["document_id"]))
    if found is None:
        return {"state": "", "message": "", "is_under_way": False, "is_good": False, "model": ""}
    is_held = paper.document["status"] != "parsed" and not paper.is_released
    return {
        "state": found.state,
        "message": _describe_reading(
            found, choose_language(request), is_held=is_held, count=len(paper.questions)
        ),
        "is_under_way": found.state in _UNDER_WAY,
        "is_good": found.state == "taken",
        "model": found.model,
    }


def describe_held(
    request: Request, ledger: Ledger, held: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """What came of second readings of held papers, by document; none beyond the first ones."""
    language = choose_language(request)
    told: dict[str, dict[str, Any]] = {}
    for one in held[:_MOST_TOLD]:
        found = find_reading(ledger, str(one["document_id"]))
        if found is not None:
            message = _describe_reading(found, language, is_held=True, count=int(one["question_count"]))
            told[one["document_id"]] = {"message": message, "is_under_way": found.state in _UNDER_WAY}
    return told


def _describe_reading(found: SecondReading, language: Language, *, is_held: bool, count: int) -> str:
    """What a person is told; of one that was taken it matters whether the paper is held."""
    word = (
        "second_taken_held"
        if found.state == "taken" and is_held
        else _STATES.get(found.state, "second_failed")
    )
    return say(word, language, model=found.model, person=found.person, count=count)


def find_refusal(
    request: Request, settings: Settings, paper: PaperAsRead | None, model: RegisteredModel | None = None
) -> str:
    """Why this paper (null for any) is not read by this model, or by any; empty where it may be."""
    language = choose_language(request)
    obstacle = None if paper is None else find_obstacle(read_lake(request), paper)
    if obstacle is not None:
        return say({"not_held": "second_not_held", "corrected": "second_corrected"}[obstacle], language)
    if settings.budget_usd is None:
        return say("second_no_budget", language)
    if model is not None and not model.has_key and not is_worked(settings):
        return say("second_no_worker", language, model=model.name)
    return ""


def list_allowed(settings: Settings) -> Sequence[RegisteredModel]:
    """The models that may be sent papers; none, and a log line, for an unreadable registry."""
    if not settings.registry_path.exists():
        return []
    try:
        return list_readers(settings)
    except RegistryError as error:
        _LOG.error("No model is offered for held papers until the registry can be read: %s", error)
        return []


@dataclass
class ReadingEstimates:
    """What second readings would cost, computed on a thread that no request waits for.

    They are computed one at a time. Each is kept for a while, until the paper stands otherwise.
    """

    settings: Settings
    ledger: Ledger
    door: LakeDoor
    _found: Kept[tuple[str, str, str], AssistanceEstimate | ProctorError] = field(
        default_factory=lambda: Kept(_MOST_ESTIMATES)
    )
    _begun: set[tuple[str, str, str]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def find(
        self, paper: PaperAsRead, model: RegisteredModel, *, begins: bool = True
    ) -> AssistanceEstimate | ProctorError | None:
        """What it costs, or why nobody can say; None while it is computed, which this `begins`."""
        key = (str(paper.document["document_id"]), paper.state, repr(model))
        found = self._found.get(key)
        if found is not None or not begins:
            return found
        with self._lock:
            is_new = key not in self._begun
            self._begun.add(key)
        if is_new:
            # One that is ended with the server: nothing is lost by it.
            threading.Thread(target=self._compute, args=(key, paper, model.name), daemon=True).start()
        return None

    def _compute(self, key: tuple[str, str, str], paper: PaperAsRead, name: str) -> None:
        with self._turn:
            try:
                lake = self.door.read(sight=None)
                self._found.put(key, estimate_reading(lake, self.ledger, self.settings, paper, name))
            except ProctorError as error:
                self._found.put(key, error)
            except Exception as error:
                # Kept too: what fails so would be computed again with every look. Its message may hold text of the paper.
                kind = type(error).__name__
                _LOG.error("What a second reading of document %s would cost is not known: %s", key[0], kind)
                self._found.put(key, ProctorError(f"This paper could not be read ({kind})."))
            finally:
                with self._lock:
                    self._begun.discard(key)


class _Offer(NamedTuple):
    """What a person is told before a model reads, and of the chosen papers those it would read."""

    message: str
    is_ready: bool = True
    may: bool = False
    papers: Sequence[PaperAsRead] = ()

    def describe(self) -> dict[str, Any]:
        return {"ready": self.is_ready, "may": self.may, "message": self.message}


def _make_offer(
    request: Request,
    ledger: Ledger,
    settings: Settings,
    papers: Sequence[PaperAsRead],
    model: RegisteredModel,
    *,
    begins: bool = True,
) -> _Offer:
    """What the model would be sent of these papers, and whether that may be paid."""
    language, estimates = choose_language(request), request.app.state.estimates
    refusal = ""
    counted: list[tuple[PaperAsRead, AssistanceEstimate]] = []
    missing = 0
    for paper in papers:
        problem = find_refusal(request, settings, paper, model)
        found = None if problem else estimates.find(paper, model, begins=begins)
        if isinstance(found, ProctorError):
            problem = str(found)
        elif found is not None and not found.documents:
            problem = say("second_no_lines", language)
        elif found is not None:
            counted.append((paper, found))
        missing += not problem and found is None
        refusal = refusal or problem
    if missing:
        done = {"done": len(papers) - missing, "count": len(papers)}
        return _Offer(say("second_counting" if begins else "second_not_counted", language, **done), False)
    if not counted:
        return _Offer(refusal)
    message, may = _describe_costs([one for _, one in counted], model, ledger, settings, language)
    if len(papers) > 1:
        parts = (say("second_of_several", language, count=len(counted), chosen=len(papers)), message)
        message = _join(parts, language)
    return _Offer(message, True, may, [paper for paper, _ in counted])


def _describe_costs(
    found: Sequence[AssistanceEstimate],
    model: RegisteredModel,
    ledger: Ledger,
    settings: Settings,
    language: Language,
) -> tuple[str, bool]:
    """Estimates in words, and whether all of it may be spent."""
    unknown = next((one.unknown for one in found if one.usd is None), None)
    if unknown is not None:
        return f"{say('second_cost_unknown', language)} {unknown}", False
    money = read_month_money(ledger, settings)
    if money is None:
        return say("second_no_budget", language), False
    once = sum(one.usd or 0.0 for one in found)
    most = sum(one.most_usd or 0.0 for one in found)
    sent = say(
        "second_sends",
        language,
        model=model.name,
        organisation=model.organisation,
        host=urlsplit(model.base_url).hostname or model.base_url,
        characters=f"{sum(one.characters for one in found):,}",
        calls=sum(one.calls for one in found),
    )
    pictures = say("second_sends_pictures", language) if model.sees_pictures else ""
    amounts = {"left": f"{money.left_usd:.2f}", "limit": f"{money.limit_usd:.2f}"}
    costs = say("second_costs", language, cost=f"{once:.4f}", most=f"{most:.4f}", **amounts)
    # what is asked again stops where the money does
    is_enough = once <= money.left_usd
    more = "" if is_enough else say("second_too_much", language)
    return _join((sent, pictures, costs, more), language), is_enough


def _join(sentences: Sequence[str], language: Language) -> str:
    return ("" if language == "zh" else " ").join(one for one in sentences if one)


def _find_model(settings: Settings, body: Mapping[str, Any]) -> RegisteredModel:
    """The model of the request; to nobody is one there that may read no papers."""
    name = str(body.get("model", ""))
    found = next((model for model in list_allowed(settings) if model.name == name), None)
    if found is None:
        raise HTTPException(404)
    return found


def _open_chosen(request: Request, body: Mapping[str, Any]) -> list[PaperAsRead]:
    """The papers of the request, each once, one more than are read at once at most.

    400 for none, 404 for one that is not there.
    """
    names = body.get("documents")
    if not isinstance(names, list) or not names:
        raise HTTPException(400)
    return [open_asked(request, name) for name in list(dict.fromkeys(map(str, names)))[: MOST_PAPERS + 1]]


def _refuse_many(request: Request) -> str:
    return say("second_too_many", choose_language(request), most=MOST_PAPERS)
