"""A held paper that a model reads: what it costs and where the text goes, then a button."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from deployments.flow_runs import is_worked
from deployments.web.lake import Kept, LakeDoor
from deployments.web.show import choose_language, say
from deployments.web.visitor import Body, Config, Coordinator, Store
from schemas.errors import ProctorError, RegistryError, StoreError
from schemas.settings import Settings
from tasks.ingest import (
    AssistanceEstimate,
    PaperAsRead,
    SecondReading,
    estimate_reading,
    find_obstacle,
    find_reading,
    list_readers,
    open_paper,
    read_month_money,
    request_reading,
)
from tasks.models.registry import RegisteredModel
from tasks.review import Language
from warehouse.ledger.engine.ledger import Ledger

_LOG: Final = logging.getLogger("proctor.web")
_MOST_ESTIMATES: Final = 64
# What a person is told of each state of a second reading; of one that was taken it matters whether the paper is held still.
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
}
UNDER_WAY: Final = ("waiting", "running")
_GOOD: Final = ("taken",)


def add_second_reading_routes(app: FastAPI) -> None:
    """Add what the page of a held paper asks for; for coordinators alone it exists."""

    @app.get("/papers/{document_id}/second-reading")
    def tell_state(
        request: Request, document_id: str, visitor: Coordinator, ledger: Store, settings: Config
    ) -> Response:
        paper = _open(request, document_id)
        return JSONResponse(describe_state(request, ledger, settings, paper))

    @app.post("/papers/{document_id}/estimate")
    def estimate(
        request: Request, document_id: str, visitor: Coordinator, ledger: Store, settings: Config, body: Body
    ) -> Response:
        """What the model would be sent and what that costs at most; asked again until it is ready."""
        paper, model = _open(request, document_id), _find_model(settings, body)
        language = choose_language(request)
        refusal = find_refusal(request, settings, paper, model)
        if refusal:
            return JSONResponse({"ready": True, "may": False, "message": refusal})
        found = _estimates(request).find(paper, model)
        if found is None:
            return JSONResponse({"ready": False, "may": False, "message": say("second_counting", language)})
        message, may = _describe_estimate(found, model, ledger, settings, language)
        return JSONResponse({"ready": True, "may": may, "message": message})

    @app.post("/papers/{document_id}/second-reading")
    def begin(
        request: Request, document_id: str, visitor: Coordinator, ledger: Store, settings: Config, body: Body
    ) -> Response:
        """Have the model read the paper, whose costs were shown; twice changes nothing."""
        paper = _open(request, document_id)
        found = find_reading(ledger, document_id, ())
        if found is None:
            model = _find_model(settings, body)
            refusal = find_refusal(request, settings, paper, model) or _find_unknown_cost(
                request, ledger, settings, paper, model
            )
            if refusal:
                return JSONResponse({"code": "refused", "message": refusal}, 409)
            address = request.client.host[:64] if request.client else None
            request_reading(ledger, document_id, model.name, visitor.user_id, address=address)
        if found is None or found.state == "waiting":
            request.app.state.begin_reading(document_id)
        return JSONResponse(describe_state(request, ledger, settings, paper))


def describe_state(
    request: Request, ledger: Ledger, settings: Settings, paper: PaperAsRead
) -> dict[str, Any]:
    """How far a second reading of a paper is, in words; empty words where there was none."""
    names = [model.name for model in list_allowed(settings)]
    found = find_reading(ledger, str(paper.document["document_id"]), names)
    if found is None:
        return {"state": "", "message": "", "is_under_way": False, "is_good": False, "model": ""}
    return {
        "state": found.state,
        "message": _describe_reading(found, paper, choose_language(request)),
        "is_under_way": found.state in UNDER_WAY,
        "is_good": found.state in _GOOD,
        "model": found.model,
    }


def find_refusal(
    request: Request, settings: Settings, paper: PaperAsRead, model: RegisteredModel | None
) -> str:
    """Why this paper is not read by this model, or by any; empty where it may be."""
    language = choose_language(request)
    obstacle = find_obstacle(_read(request), paper)
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
            finally:
                with self._lock:
                    self._begun.discard(key)


def _find_unknown_cost(
    request: Request, ledger: Ledger, settings: Settings, paper: PaperAsRead, model: RegisteredModel
) -> str:
    """Why nothing is begun: its cost was not shown, or is too high; empty where it may be."""
    found = _estimates(request).find(paper, model, begins=False)
    language = choose_language(request)
    if found is None:
        return say("second_not_counted", language)
    message, may = _describe_estimate(found, model, ledger, settings, language)
    return "" if may else message


def _describe_estimate(
    found: AssistanceEstimate | ProctorError,
    model: RegisteredModel,
    ledger: Ledger,
    settings: Settings,
    language: Language,
) -> tuple[str, bool]:
    """The estimate in words, and whether it may be spent."""
    if isinstance(found, ProctorError):
        return str(found), False
    if not found.documents:
        return say("second_no_lines", language, model=model.name), False
    if found.most_usd is None:
        return f"{say('second_cost_unknown', language)} {found.unknown}", False
    money = read_month_money(ledger, settings)
    if money is None:
        return say("second_no_budget", language), False
    sent = say(
        "second_sends",
        language,
        model=model.name,
        organisation=model.organisation,
        host=urlsplit(model.base_url).hostname or model.base_url,
        characters=f"{found.characters:,}",
        calls=found.calls,
    )
    pictures = say("second_sends_pictures", language) if model.sees_pictures else ""
    amounts = {
        "cost": f"{found.most_usd:.4f}",
        "left": f"{money.left_usd:.2f}",
        "limit": f"{money.limit_usd:.2f}",
    }
    costs = say("second_costs", language, **amounts)
    is_enough = found.most_usd <= money.left_usd
    more = "" if is_enough else say("second_too_much", language)
    between = "" if language == "zh" else " "
    return between.join(part for part in (sent, pictures, costs, more) if part), is_enough


def _describe_reading(found: SecondReading, paper: PaperAsRead, language: Language) -> str:
    is_held = paper.document["status"] != "parsed" and not paper.is_released
    word = "second_taken_held" if found.state == "taken" and is_held else _STATES[found.state]
    return say(word, language, model=found.model, person=found.person, count=len(paper.questions))


def _find_model(settings: Settings, body: Mapping[str, Any]) -> RegisteredModel:
    """The model of the request; to nobody is one there that may read no papers."""
    name = str(body.get("model", ""))
    found = next((model for model in list_allowed(settings) if model.name == name), None)
    if found is None:
        raise HTTPException(404)
    return found


def _estimates(request: Request) -> ReadingEstimates:
    estimates: ReadingEstimates = request.app.state.estimates
    return estimates


def _read(request: Request) -> Any:
    door: LakeDoor = request.app.state.lake
    return door.read(sight=None)


def _open(request: Request, document_id: str) -> PaperAsRead:
    try:
        paper = open_paper(_read(request), document_id)
    except StoreError:
        paper = None
    if paper is None:
        raise HTTPException(404)
    return paper
