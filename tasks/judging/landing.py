"""From landed responses to landed judgements; each session of each judge is a job."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from functools import partial

import polars as pl

from schemas.errors import RegistryError, UsageError
from schemas.ledger.engine import Job
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.judging.asking import find_asking, list_judges
from tasks.judging.controls import RunControls, find_begun_controls, is_controls, name_controls
from tasks.judging.judge import (
    FIRST_OCCASION,
    JudgementRow,
    JudgingIncomplete,
    PutResponse,
    join_questions,
    judge_responses,
    name_call,
    name_unit,
    name_unit_of,
)
from tasks.judging.summary import JudgingSummary, add_calls
from tasks.models import ModelClient, read_call_frames
from tasks.models.batches import BatchClient
from tasks.models.budget import open_budget
from tasks.models.registry import RegisteredModel, Registry, read_registry
from tasks.questions.pictures import tell_pictures
from tasks.running import Progress
from tasks.running.archives import bring_back
from tasks.running.claiming import POLL_S, claim_work, hold_if_free
from tasks.running.sharing import IN_BATCHES, JobQueue, conduct
from tasks.texts import refuse_erased
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.leases.presence import Presence
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.money.calls import find_call, read_call_rows

# Landing costs about 0.1 CPU seconds whatever it holds; a kill repeats no paid call, only the landing.
ROWS_PER_LANDING = 20_000
SESSIONS_PER_READ = 50
# At most one of so many parts is claimed at once, so that something is left for other processes.
SHARES = 8

# Kind of the jobs: a unit (a session and a judge), or a run whose unread judgements go from judge to judge.
JOB = "judge"

# A response: its session and its position there.
Place = tuple[str, int]


async def judge_landed(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    run_id: str | None,
    progress: Progress,
    *,
    only_unparsed: bool = False,
    in_batches: bool = False,
) -> JudgingSummary:
    """Judge every landed response of the run that a judge has not judged.

    The judgements are landed.

    Judged means by the present version of the prompt: a new one makes new rows next to the old, which stay as they are.
    Without a run, all runs are looked at, and those that a judge has judged whole, by whichever version, are left, and published ones of
    which it has judged nothing: neither a changed prompt nor a new judge pays for the whole history because nobody named a run. Runs of a kind that no judge of the
    registry may judge are then left, too.

    A response of which no judgement can be read goes to the next judge of the registry that has not been asked for it.
    `only_unparsed` judges nothing else, and asks all judges again, in order, until one can be read.
    `in_batches` submits the calls of judges that take batches together, instead of sending them; what is known is landed.

    Simulated judges judge simulated runs only, real ones real runs only: one value per run. Raises RegistryError when a run
    is named that no judge of the registry may judge.
    """
    registry = read_registry(settings.registry_path)
    summary = JudgingSummary()
    is_something_left = False
    for kind in (False, True):
        judges = list_judges(registry, settings, is_simulated=kind)
        begun = find_begun_controls(ledger, lake, judges, is_simulated=kind)
        sessions = _read_sessions(lake, judges, run_id, is_simulated=kind, only_unparsed=only_unparsed)
        if run_id is None and not only_unparsed:
            sessions = _add_runs(lake, sessions, begun, is_simulated=kind)
        if sessions.is_empty():
            continue
        is_something_left = True
        if not judges:
            raise RegistryError(_describe_missing_judge(run_id, settings, is_simulated=kind))
        summary.judges += [judge.name for judge in judges]
        chain = _list_chain(registry, judges, is_simulated=kind)
        for run in sessions["run_id"].unique(maintain_order=True):
            of_run = sessions.filter(pl.col("run_id") == run)
            sat = set(of_run["model"])
            if run_id is not None and (own := sorted(sat & {judge.name for judge in judges})):
                raise UsageError(
                    f"{', '.join(own)} sat run {run}, and would judge its own answers. Name another judge: PROCTOR_JUDGES."
                )
            # Who has become a judge since it sat judges the other runs.
            asked = [judge for judge in chain if judge.name not in sat]
            # What was paid for is looked for among the ledger's calls alone.
            bring_back(ledger, lake, run)
            budget = open_budget(ledger, settings.budget_usd, run)
            kind_of_client = BatchClient if in_batches else ModelClient
            async with kind_of_client(ledger, settings, budget=budget) as client:
                controls = RunControls(ledger, lake, run, settings.judge_controls, is_begun=run in begun)
                judging = RunJudging(ledger, lake, client, of_run, controls, summary, progress)
                is_whole, left_before = False, (summary.unresolved, summary.failed)
                while not is_whole:
                    # What an earlier round left open is the next one's to settle.
                    summary.unresolved, summary.failed = left_before
                    if only_unparsed:
                        # Who asks again pays again: a second process would do so for the same replies.
                        with claim_work(ledger, JOB, run, what=f"judging run {run}"):
                            await judging.resolve(asked, is_simulated=kind, asks_again=True)
                    else:
                        for judge in judges:
                            if judge in asked:
                                await judging.judge_all(judge, is_named=run_id is not None)
                        await judging.resolve_alone(asked, is_simulated=kind)
                    # What is too little for a batch is asked for again at once, singly.
                    is_whole = not (isinstance(client, BatchClient) and await client.submit())
                add_calls(summary, client)
    if run_id is not None and not is_something_left:
        refuse_erased(lake, run_id=run_id)
    return summary


class RunJudging:
    """The judging of one run.

    Args:
        sessions: the run's sessions (session_id, run_id, month), in order.
        controls: the run's control answers.
    """

    def __init__(
        self,
        ledger: Ledger,
        lake: Lake,
        client: ModelClient,
        sessions: pl.DataFrame,
        controls: RunControls,
        summary: JudgingSummary,
        progress: Progress,
    ) -> None:
        self._ledger = ledger
        self._lake = lake
        self._client = client
        self._run_id = str(sessions["run_id"][0])
        self._controls = controls
        self._months: dict[str, str] = dict(sessions.select("session_id", "month").iter_rows())
        self._summary = summary
        self._progress = progress

    async def judge_all(self, judge: RegisteredModel, *, is_named: bool) -> None:
        """Judge every session that the judge has not judged, a few at a time.

        Other processes may take some of them meanwhile, and are waited for: what they leave is judged here. The run's control
        answers are judged and landed as a session is, among the first few.
        """
        waiting = self._list_unjudged(judge, list(self._months), is_named=is_named)
        if waiting:
            self._keep_to_entry(judge, [name for name in self._months if name not in set(waiting)])
        if self._controls.is_planned and (waiting or is_named or self._controls.is_begun):
            waiting = [*self._list_unjudged(judge, [name_controls(self._run_id)], is_named=True), *waiting]
        if not waiting:
            return
        lane = name_lane(judge)
        if isinstance(self._client, BatchClient):
            lane = IN_BATCHES + lane
        units = {_name_unit(name, judge): name for name in waiting}
        # What could not be judged is reported, and not tried again here.
        failed = set[str]()

        def list_left() -> dict[str, str]:
            unjudged = set(self._list_unjudged(judge, waiting, is_named=True))
            return {unit: lane for unit, name in units.items() if name in unjudged and unit not in failed}

        with JobQueue(self._ledger, JOB, self._run_id, is_conducting=True) as jobs:
            await conduct(jobs, list_left, partial(self._judge_jobs, jobs, judge, lane, units, failed))

    def _keep_to_entry(self, judge: RegisteredModel, judged: Sequence[str]) -> None:
        """Let a judge judge all of a run by one entry, as a candidate answers by one.

        By the key of a call it is known whether the judge would be asked the same now. Raises RegistryError where it would not.
        """
        for name in judged:
            try:
                rows = self._read_responses([name]).iter_rows(named=True)
            except UsageError:
                # Of erased texts nothing can be asked.
                continue
            # What a picture shows may have been told since.
            put = [
                one
                for one in map(PutResponse.from_row, rows)
                if one.answer_status == "answered" and one.response.strip() and not one.question.bare.pictures
            ]
            keys = (name_call(judge, one, FIRST_OCCASION, 1, self._client.archive) for one in put)
            with self._ledger.read() as connection:
                # Of equal answers one session's call serves all.
                if any(find_call(connection, key) for key in keys):
                    return
                if put and read_call_rows(connection, [_name_unit(name, judge)]):
                    raise RegistryError(
                        f"{judge.name} has judged {len(judged)} sessions of run {self._run_id} by another entry of the registry (its provider, "
                        "endpoint_model or parameters changed since). One run is judged in one way: put the entry back and run the command "
                        "again, or register the changed judge under another name. Nothing was asked."
                    )

    async def help(self, judge: RegisteredModel) -> None:
        """Judge what waits for the judge; what could not be is left to the process that conducts."""
        units = {_name_unit(name, judge): name for name in [name_controls(self._run_id), *self._months]}
        with JobQueue(self._ledger, JOB, self._run_id) as jobs:
            await self._judge_jobs(jobs, judge, name_lane(judge), units, None)

    async def _judge_jobs(
        self,
        jobs: JobQueue,
        judge: RegisteredModel,
        lane: str,
        units: Mapping[str, str],
        failed: set[str] | None,
    ) -> None:
        """Judge what waits, a few at a time; what could not be judged is noted, or waits again."""
        most = max(1, min(SESSIONS_PER_READ, -(-len(units) // SHARES)))
        while taken := await jobs.take(most, lane):
            known = {job.name: units[job.name] for job in taken if job.name in units}
            await self._judge_named(judge, list(known.values()))
            left = set(self._list_unjudged(judge, list(known.values()), is_named=True))
            done = {unit for unit, name in known.items() if name not in left}
            rest = {job.name for job in taken} - done
            if failed is None:
                await jobs.give_back(rest, "Not every response of it could be judged.")
            else:
                failed |= rest
                done |= rest
            await jobs.end(done)

    async def _judge_named(self, judge: RegisteredModel, names: Sequence[str]) -> None:
        """Judge those that have not landed: another process may have, before the job was taken."""
        names = self._list_unjudged(judge, names, is_named=True)
        if not names:
            return
        sessions = [name for name in names if not is_controls(name)]
        mixed_in = self._controls.put() if len(sessions) < len(names) else []
        responses = self._read_responses(sessions)
        await self._land_judged(judge_responses(self._client, [judge], responses, mixed_in=mixed_in))
        judged = responses.filter(pl.col("answer_status") != "error")["session_id"]
        self._land_empty(judge, sorted(set(sessions) - set(judged)))

    async def resolve_alone(self, chain: Sequence[RegisteredModel], *, is_simulated: bool) -> None:
        """The same as `resolve` without asking a judge again; another process that asks is awaited."""
        while True:
            with hold_if_free(self._ledger, Job(kind=JOB, name=self._run_id)) as held:
                if isinstance(held, Presence):
                    await self.resolve(chain, is_simulated=is_simulated, asks_again=False)
                    return
            await asyncio.sleep(POLL_S)

    async def resolve(
        self, chain: Sequence[RegisteredModel], *, is_simulated: bool, asks_again: bool
    ) -> None:
        """Pass unread responses on from judge to judge, until one can be read or all were asked.

        A response is unread where no judge's reply on it could be read. Without `asks_again` a judge that was
        asked for a response is left out.
        """
        unread = self._read_unparsed(is_simulated)
        first = len(unread)
        for judge in chain:
            asked = [place for place, names in unread.items() if asks_again or judge.name not in names]
            if not asked:
                continue
            pending = len(self._client.pending)
            for occasion, places in name_occasions(
                self._lake, asked, judge.name, find_asking(judge).wording
            ).items():
                names = sorted({session_id for session_id, _ in places})
                for start in range(0, len(names), SESSIONS_PER_READ):
                    some = names[start : start + SESSIONS_PER_READ]
                    wanted = pl.DataFrame(
                        [place for place in places if place[0] in set(some)],
                        schema={"session_id": pl.String, "seq": pl.Int64},
                        orient="row",
                    )
                    responses = self._read_responses(some).join(wanted, on=["session_id", "seq"], how="semi")
                    await self._land_judged(
                        judge_responses(self._client, [judge], responses, occasion=occasion)
                    )
            unread = self._read_unparsed(is_simulated)
            if len(self._client.pending) > pending:
                break  # the next judge is asked when this one's batch has ended, and only for what is still unread
        self._summary.resolved += first - len(unread)
        self._summary.unresolved += len(unread)

    async def _land_judged(self, judged: AsyncGenerator[list[JudgementRow], None]) -> None:
        pending: list[list[JudgementRow]] = []
        try:
            async with aclosing(judged):
                async for rows in judged:
                    pending.append(rows)
                    self._progress.advance(len(rows))
                    if sum(map(len, pending)) >= ROWS_PER_LANDING:
                        self._land(pending)
                        pending = []
        except JudgingIncomplete as error:
            self._summary.failed += error.failed_count
            self._summary.failure = str(error)
        finally:
            # What was judged before a budget ran out is paid for, and stays.
            if pending:
                self._land(pending)

    def _land(self, units: list[list[JudgementRow]]) -> None:
        for rows in units:
            if is_controls(str(rows[0]["session_id"])):
                self._controls.land(rows)
                self._summary.controls += len(rows)
        units = [rows for rows in units if not is_controls(str(rows[0]["session_id"]))]
        if not units:
            return
        frames = land_judgements(self._ledger, self._lake, units)
        self._summary.judged += sum(frame["stars"].drop_nulls().len() for frame in frames)
        self._summary.unparsed += sum(frame["stars"].null_count() for frame in frames)

    def _land_empty(self, judge: RegisteredModel, names: Sequence[str]) -> None:
        """Sessions in which nothing was answered are judged: they must not wait for ever."""
        if names:
            empty = get_table("judgements").frame([])
            self._lake.land_together(
                [Batch("judgements", _name_unit(name, judge), empty) for name in names], stage="judge"
            )

    def _list_unjudged(self, judge: RegisteredModel, names: Sequence[str], *, is_named: bool) -> list[str]:
        """Those of the sessions that wait for the judge, in order; unnamed runs are judged whole."""
        if not names:
            return []
        if not is_named:
            found = self._lake.read("judged_sessions", {"judge": judge.name, "session_ids": list(names)})
            if found.height == len(names):
                return []
            if found.is_empty() and not self._lake.read("run_revisions", {"run_id": self._run_id}).is_empty():
                return []
        units = {_name_unit(name, judge): name for name in names}
        landed = self._lake.landed("judgements", units)
        if any(is_controls(name) for name in names):
            landed |= self._lake.landed("judge_controls", units)
        done = {units[unit] for unit in landed}
        return [name for name in names if name not in done]

    def _read_responses(self, names: Sequence[str]) -> pl.DataFrame:
        """These sessions' responses with their questions, each table scanned once for their months."""
        return read_put_responses(self._lake, names, sorted({self._months[name] for name in names}))

    def _read_unparsed(self, is_simulated: bool) -> dict[Place, set[str]]:
        """Where nobody could be read (session and position), and who was asked."""
        return read_unparsed(
            self._lake, sorted(set(self._months.values())), run_id=self._run_id, is_simulated=is_simulated
        )


def name_occasions(
    lake: Lake, places: Sequence[Place], judge: str, wording: str | None = None
) -> dict[str, list[Place]]:
    """The places by the next occasion on which the judge is asked in their session.

    A place is a session and a position. The occasions are `again-1` and so on. An occasion is used up when it
    has landed: after a kill the same one is asked again, and its replies are replayed.
    """
    left = {session_id for session_id, _ in places}
    occasions: dict[str, list[Place]] = {}
    while left:
        occasion = f"again-{len(occasions) + 1}"
        units = {name_unit(name, judge, wording, occasion): name for name in left}
        free = left - {units[unit] for unit in lake.landed("judgements", units)}
        occasions[occasion] = [place for place in places if place[0] in free]
        left -= free
    return {occasion: found for occasion, found in occasions.items() if found}


def read_put_responses(lake: Lake, session_ids: Sequence[str], months: Sequence[str]) -> pl.DataFrame:
    """These sessions' responses joined with their questions; UsageError for erased texts."""
    refuse_erased(lake, session_ids)
    named = {"session_ids": list(session_ids), "months": list(months)}
    responses, bank = lake.read("responses_of_sessions", named), lake.read("questions_of_sessions", named)
    pictures = tell_pictures(lake, bank["pictures"].to_list())
    return join_questions(responses, bank if pictures is None else bank.with_columns(pictures))


def read_unparsed(
    lake: Lake, months: Sequence[str], *, run_id: str | None, is_simulated: bool
) -> dict[Place, set[str]]:
    """Judged responses without a reply that can be read, by session and position: who was asked."""
    rows = lake.read(
        "unparsed_responses", {"months": list(months), "run_id": run_id, "is_simulated": is_simulated}
    )
    found: dict[Place, set[str]] = {}
    for session_id, seq, judge in rows.select("session_id", "seq", "judge").iter_rows():
        found.setdefault((session_id, seq), set()).add(judge)
    return found


def land_judgements(
    ledger: Ledger, lake: Lake, units: Sequence[Sequence[JudgementRow]]
) -> list[pl.DataFrame]:
    """Land judgements with the calls they cost, each list a unit; returns them as frames."""
    table = get_table("judgements")
    frames = {name_unit_of(rows[0]): table.frame(list(rows)) for rows in units}
    calls = read_call_frames(ledger, {unit: frame["month"][0] for unit, frame in frames.items()})
    batches = [Batch("judgements", unit, frame) for unit, frame in frames.items()]
    batches += [Batch("llm_calls", unit, frame) for unit, frame in calls.items()]
    lake.land_together(batches, stage="judge")
    return list(frames.values())


def name_lane(judge: RegisteredModel) -> str:
    """The lane of what the judge is asked now: another version of the prompt has another."""
    return name_unit("", judge.name, find_asking(judge).wording)


def _name_unit(session_id: str, judge: RegisteredModel) -> str:
    """The unit of a session that the judge judges as it is asked now."""
    return name_unit(session_id, judge.name, find_asking(judge).wording)


def _read_sessions(
    lake: Lake,
    judges: Sequence[RegisteredModel],
    run_id: str | None,
    *,
    is_simulated: bool,
    only_unparsed: bool,
) -> pl.DataFrame:
    """session_id, run_id, model and month of what there is to judge."""
    if only_unparsed and run_id is None:
        months = lake.read("months_of_runs", {"is_simulated": is_simulated})["month"].to_list()
        unread = read_unparsed(lake, months, run_id=None, is_simulated=is_simulated)
        return lake.read("sessions_named", {"session_ids": sorted({name for name, _ in unread})})
    return lake.read(
        "sessions_to_judge",
        {"is_simulated": is_simulated, "run_id": run_id, "judges": [judge.name for judge in judges]},
    )


def _add_runs(
    lake: Lake, sessions: pl.DataFrame, runs: Collection[str], *, is_simulated: bool
) -> pl.DataFrame:
    """The sessions, and those of further runs."""
    more = [
        lake.read("sessions_to_judge", {"is_simulated": is_simulated, "run_id": run, "judges": []})
        for run in sorted(set(runs) - set(sessions["run_id"]))
    ]
    return pl.concat([sessions, *more]).sort("month", "session_id") if more else sessions


def _list_chain(
    registry: Registry, judges: Sequence[RegisteredModel], *, is_simulated: bool
) -> list[RegisteredModel]:
    """The judges to be asked in turn: the run's, then the registry's others, known to be such."""
    named = {judge.name for judge in judges}
    others = [
        model
        for model in registry.models.values()
        if "judge" in model.roles and model.is_simulated is is_simulated and model.name not in named
    ]
    for judge in others:
        find_asking(judge)
    return [*judges, *others]


def _describe_missing_judge(run_id: str | None, settings: Settings, *, is_simulated: bool) -> str:
    kind = "simulated" if is_simulated else "real"
    where = "PROCTOR_JUDGES names none" if settings.judges else f"{settings.registry_path} has none"
    return (
        f"Run {run_id or 'to be judged'} is {kind}, and only a {kind} judge may judge it: {where}. Give the role `judge` to a {kind} model, "
        "then judge again."
    )
