"""A run's control answers, drawn by its seed, judged among its responses, landed apart."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.tables import get_table
from tasks.judging.asking import find_asking
from tasks.judging.controls.drawing import Control, ControlQuestion, draw_controls
from tasks.judging.judge import JudgementRow, PutResponse, name_unit
from tasks.models import read_call_frames
from tasks.models.registry import RegisteredModel
from tasks.questions import QuestionContent
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam.closed import list_run_sets
from warehouse.ledger.exam.sittings import read_run
from warehouse.ledger.money.calls import count_unit_calls

_PREFIX = "controls/"


def name_controls(run_id: str) -> str:
    """What stands for a run's control answers where a session's name would stand."""
    return f"{_PREFIX}{run_id}"


def is_controls(name: str) -> bool:
    """Whether a name stands for control answers."""
    return name.startswith(_PREFIX)


def find_begun_controls(
    ledger: Ledger, lake: Lake, judges: Sequence[RegisteredModel], *, is_simulated: bool
) -> set[str]:
    """Unpublished runs of which some judge was asked for control answers that have not landed."""
    runs = lake.read("runs_without_edition", {"is_simulated": is_simulated})["run_id"].to_list()
    units = {
        name_unit(name_controls(run), judge.name, find_asking(judge).wording): run
        for run in runs
        for judge in judges
    }
    waiting = sorted(set(units) - lake.landed("judge_controls", units)) if units else []
    with ledger.read() as connection:
        return {units[unit] for unit in count_unit_calls(connection, waiting)}


class RunControls:
    """The control answers of one run; they are drawn when they are first asked for.

    There are none of a run that the ledger did not plan: it has no seed.

    Attributes:
        is_begun: whether some judge was asked for them before, and they have not landed.
    """

    def __init__(self, ledger: Ledger, lake: Lake, run_id: str, size: int, *, is_begun: bool = False) -> None:
        self._ledger, self._lake = ledger, lake
        self.is_begun = is_begun
        self._run_id, self._size = run_id, size
        self._name = name_controls(run_id)
        with ledger.read() as connection:
            self._run = read_run(connection, run_id) if size else None
            self._set_ids = list_run_sets(connection, run_id) if self._run else []
        self._drawn: dict[int, Control] | None = None

    @property
    def is_planned(self) -> bool:
        """Whether the run has control answers at all."""
        return self._run is not None

    def put(self) -> list[PutResponse]:
        """The control answers in the form in which responses are judged."""
        assert self._run is not None, "nobody asks for control answers of a run without a plan"
        return [
            PutResponse(
                run_id=self._run_id,
                session_id=self._name,
                seq=control.number,
                question_uuid=control.question.question_uuid,
                model="",
                prompt_style="",
                month=self._run.month,
                response=control.response,
                answer=None,
                answer_status="answered" if control.response else "empty",
                is_simulated=self._run.is_simulated,
                question=control.question.content,
            )
            for control in self._draw().values()
        ]

    def land(self, judgements: list[JudgementRow]) -> None:
        """Land what a judge gave them, with the calls that they cost."""
        drawn = self._draw()
        rows = [_describe(drawn[int(str(row["seq"]))], row) for row in judgements]
        first = judgements[0]
        wording = str(first["prompt_version"]).partition("/")[0]
        unit = name_unit(self._name, str(first["judge"]), wording)
        calls = read_call_frames(self._ledger, {unit: str(first["month"])})
        self._lake.land_together(
            [
                Batch("judge_controls", unit, get_table("judge_controls").frame(rows)),
                *(Batch("llm_calls", of, frame) for of, frame in calls.items()),
            ],
            stage="judge",
        )

    def _draw(self) -> dict[int, Control]:
        if self._drawn is None:
            assert self._run is not None, "a run without a plan has no seed"
            pool = [
                ControlQuestion(
                    question_uuid=str(row["question_uuid"]),
                    cluster=str(row["cluster"]),
                    discipline=str(row["discipline"]),
                    content=QuestionContent.from_row(row),
                )
                for row in self._lake.read("control_pool", {"set_ids": self._set_ids}).iter_rows(named=True)
            ]
            controls = draw_controls(pool, self._size, f"{self._run.seed}/{self._run_id}")
            self._drawn = {control.number: control for control in controls}
        return self._drawn


def _describe(control: Control, row: JudgementRow) -> dict[str, object]:
    copied = (
        "run_id",
        "month",
        "judge",
        "prompt_version",
        "question_uuid",
        "stars",
        "reason",
        "raw",
        "parse_status",
        "judged_at",
        "cost_usd",
        "attempt",
        "is_simulated",
    )
    return {name: row[name] for name in copied} | {
        "kind": control.kind,
        "cluster": control.question.cluster,
        "discipline": control.question.discipline,
        "other_question_uuid": control.other_uuid,
    }
