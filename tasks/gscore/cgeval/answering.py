"""Put CG-Eval's questions to a model, each with its own prompt as it is, zero-shot.

Nothing that was answered is paid for twice.

Answers live in the ledger of calls and nowhere else, so that a kill at any moment leaves nothing half done.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

from schemas import patterns as re
from schemas.errors import ProctorError, UsageError
from schemas.settings import Settings
from tasks.models import CallFailed, CallRequest, ModelClient, compute_call_key
from tasks.models.registry import RegisteredModel, read_registry
from tasks.running.claiming import hold_work
from tasks.running.flow_runs.record import compute_patience
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.money.calls import read_replies

DEFAULT_RUN = "cgeval"
PURPOSE = "cgeval"

# So many failures without one reply in between mean that the endpoint is down: the rest would only wait for it, too.
MOST_FAILURES_IN_A_ROW = 16

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@dataclass
class AnswerReport:
    """What came of asking one model.

    Attributes:
        model: the candidate.
        question_count: questions of the imported file.
        resumed_count: those that were answered before.
        answered_count: those that are answered now.
        failed_count: calls of this time that failed after all attempts.
        statuses: answers by status: answered, empty, refused, truncated.
        calls: what the client did (sent, retried, repeated, failed).
        cost_usd: cost of all answers, those of earlier times included; null where no price is known.
        failure: why the first question that stayed open did, or why it was stopped.
    """

    model: str
    question_count: int
    resumed_count: int = 0
    answered_count: int = 0
    failed_count: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    cost_usd: float | None = None
    failure: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every question has an answer; otherwise the same command continues."""
        return self.answered_count == self.question_count


async def answer_questions(
    ledger: Ledger,
    settings: Settings,
    client: ModelClient,
    model: RegisteredModel,
    questions: pl.DataFrame,
    run_id: str = DEFAULT_RUN,
    progress: Callable[[int, int], None] | None = None,
) -> AnswerReport:
    """Ask the model every question that it has not answered in this run.

    What was answered is not sent again.

    `questions` is what `question_set.read_questions` gives. `progress` is told how many are answered, and of how many.
    A question whose call fails stays open and the others continue, until the endpoint seems to be down. Raises BudgetError
    when the next call could exceed the budget (what was answered is kept), RegistryError for a missing key or address,
    StoreError while another process asks the same model.
    """
    unit = name_session(run_id, model.name)
    requests = _build_requests(model, questions, run_id)
    with hold_work(settings, "cgeval", unit, what=f"asking for {unit}", wait_s=compute_patience()):
        report = AnswerReport(model.name, len(requests))
        waiting = _list_waiting(ledger, unit, requests)
        report.resumed_count = len(requests) - len(waiting)
        if progress is not None:
            progress(report.resumed_count, len(requests))
        try:
            await _ask_all(client, model, waiting, client.breadth, report, progress)
        finally:
            report.calls = client.counts
    answers = read_answers(ledger, model, questions, run_id)
    report.answered_count = answers.height - answers["response"].null_count()
    report.statuses = dict(answers["answer_status"].drop_nulls().value_counts().sort("answer_status").rows())
    costs = answers["cost_usd"].drop_nulls()
    report.cost_usd = float(costs.sum()) if len(costs) else None
    return report


def read_answers(
    ledger: Ledger, model: RegisteredModel, questions: pl.DataFrame, run_id: str = DEFAULT_RUN
) -> pl.DataFrame:
    """What the model answered in a run, one row per question in their order; nothing is called.

    Adds `model`, `run_id`, `session_id`, `call_key`, `response`, `answer_status`, `cost_usd` to the questions; the last
    three are null for a question without an answer. An answer belongs to the model as it is registered now: another
    endpoint model or other parameters are another candidate.
    """
    unit = name_session(run_id, model.name)
    with ledger.read() as connection:
        replies = read_replies(connection, unit)
    keys = list(_build_requests(model, questions, run_id))
    found = [replies.get(key) for key in keys]
    return questions.with_columns(
        model=pl.lit(model.name),
        run_id=pl.lit(run_id),
        session_id=pl.lit(unit),
        call_key=pl.Series(keys, dtype=pl.String),
        response=pl.Series(
            [None if reply is None else _clean(reply.get("text")) for reply in found], dtype=pl.String
        ),
        answer_status=pl.Series(
            [None if reply is None else reply.get("status", "answered") for reply in found], dtype=pl.String
        ),
        cost_usd=pl.Series(
            [None if reply is None else reply["cost_usd"] for reply in found], dtype=pl.Float64
        ),
    )


def list_answering_models(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame, run_id: str, names: Sequence[str] = ()
) -> list[pl.DataFrame]:
    """Answers of every registered candidate that has any in the run (of those named, all must)."""
    registry = read_registry(settings.registry_path)
    models: list[RegisteredModel] = [registry.get(name) for name in names] or registry.callable_candidates()
    found = []
    for model in models:
        answers = read_answers(ledger, model, questions, run_id).filter(pl.col("response").is_not_null())
        if answers.height:
            found.append(answers)
        elif names:
            raise UsageError(
                f"{model.name} has answered none of the questions in run {run_id!r}. "
                f"Run `proctor cgeval answer --model {model.name}` first."
            )
    return found


def name_session(run_id: str, model: str) -> str:
    """The name under which one model's answers of one run stand in ledger and lake.

    Raises UsageError for a bad run.
    """
    if not _RUN_NAME.fullmatch(run_id):
        raise UsageError(
            f"{run_id!r} is not a name for a run: use up to 40 letters, digits, dots, hyphens and underscores."
        )
    return f"cgeval/{run_id}/{model}"


def _build_requests(model: RegisteredModel, questions: pl.DataFrame, run_id: str) -> dict[str, CallRequest]:
    """Call key → request, in the order of the questions."""
    unit = name_session(run_id, model.name)
    requests: dict[str, CallRequest] = {}
    for cgeval_id, prompt in questions.select("cgeval_id", "prompt").iter_rows():
        request = CallRequest(
            purpose=PURPOSE,
            messages=[{"role": "user", "content": prompt}],
            run_id=run_id,
            unit=unit,
            # Some prompts stand under several numbers: each question has an answer of its own.
            salt=cgeval_id,
        )
        requests[compute_call_key(model, request, model.parameters)] = request
    return requests


def _list_waiting(ledger: Ledger, unit: str, requests: dict[str, CallRequest]) -> list[CallRequest]:
    with ledger.read() as connection:
        done = read_replies(connection, unit)
    return [request for key, request in requests.items() if key not in done]


async def _ask_all(
    client: ModelClient,
    model: RegisteredModel,
    waiting: list[CallRequest],
    width: int,
    report: AnswerReport,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Call with so many at once; the first error that is not one question's own stops all."""
    done = report.resumed_count
    failures_in_a_row = 0
    queue = iter(waiting)
    stop = asyncio.Event()

    async def work() -> None:
        nonlocal done, failures_in_a_row
        for request in queue:
            if stop.is_set():
                return
            try:
                await client.complete(model, request)
            except CallFailed as error:
                report.failed_count += 1
                report.failure = report.failure or str(error)
                failures_in_a_row += 1
                if failures_in_a_row >= MOST_FAILURES_IN_A_ROW:
                    stop.set()
                continue
            except ProctorError:
                stop.set()
                raise
            failures_in_a_row = 0
            done += 1
            if progress is not None:
                progress(done, report.question_count)

    outcomes = await asyncio.gather(
        *(work() for _ in range(min(width, len(waiting)))), return_exceptions=True
    )
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


def _clean(text: object) -> str:
    """A reply as text that every file can hold: half a surrogate pair is replaced."""
    return str(text or "").encode("utf-8", "replace").decode()
