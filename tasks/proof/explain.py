"""The walk from a star back to the page, each step with what proves it.

A step names ids, counts and hashes, never a text: neither question nor answer is in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from schemas.errors import UsageError, suggest
from schemas.settings import Settings
from tasks.exam.log.signing import describe_head, is_signed
from tasks.exam.public.draws import compute_set_root
from tasks.ingest.originals import find_archived
from tasks.judging import CallFinder
from tasks.running.archives import read_entry_before, read_whole
from warehouse.lake import Lake, hash_rows
from warehouse.lake.upkeep import read_unit
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs import digests, stages
from warehouse.ledger.engine.logs.public_log import list_public_entries, read_public_entries
from warehouse.ledger.exam import sittings
from warehouse.ledger.trust import access, walks
from warehouse.ledger.trust.walks import PaidReply, WalkedQuestion, WalkedSession
from warehouse.stores.whole_files import hash_file

# A landing of more rows is held to the log by the hash that the lake keeps of it; the check of all stages hashes its rows.
MOST_ROWS: Final = 20_000
_ANSWERS: Final = ("submit", "submit_and_next")
_COMPARED: Final = ("stem", "material", "options")
_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class WalkStep:
    """One step of the walk.

    Attributes:
        step: what is looked at: star, reply, response, question, bank, decision, parsed, text or original.
        what: what is there, by ids and counts.
        proof: what proves that it is as it was, or what does not hold.
        is_proven: whether it holds.
    """

    step: str
    what: str
    proof: str
    is_proven: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """The walk of one answer.

    Attributes:
        run_id, session_id, seq, model, prompt_style, repeat: which answer.
        steps: from the star to the original; what is not there yet is left out.
    """

    run_id: str
    session_id: str
    seq: int
    model: str
    prompt_style: str
    repeat: int
    steps: tuple[WalkStep, ...]

    @property
    def is_proven(self) -> bool:
        """Whether every step holds."""
        return all(step.is_proven for step in self.steps)


def find_sitting(
    ledger: Ledger, run_id: str, model: str = "", prompt_style: str = "", repeat: int | None = None
) -> WalkedSession:
    """The one session of a run (or of that id) that is meant; UsageError for none or several."""
    with ledger.read() as connection:
        known = walks.list_sittings(connection, run_id)
        runs = () if known else sittings.list_run_ids(connection)
    if not known:
        raise UsageError(
            f"There is no run or session {run_id!r}.{suggest(run_id, runs)} `proctor exam sessions` lists them."
        )
    found = [
        one
        for one in known
        if model in ("", one.model)
        and prompt_style in ("", one.prompt_style)
        and repeat in (None, one.repeat)
    ]
    if len(found) == 1:
        return found[0]
    shown = "; ".join(
        f"--model {one.model} --style {one.prompt_style} --repeat {one.repeat}"
        for one in (found or known)[:_SHOWN]
    )
    count = f"{len(found)} sessions" if found else "no session"
    raise UsageError(f"Run {run_id} has {count} for what was said. Name one: {shown}.")


def explain_answer(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    sitting: WalkedSession,
    seq: int,
    *,
    language: str = "en",
) -> Walk:
    """Walk from an answer's stars to the page of its question; UsageError for no such one."""
    with read_whole(ledger, settings, session_ids=[sitting.session_id]) as connection:
        put = walks.read_put_question(connection, sitting, seq)
        if put is None:
            raise UsageError(f"Session {sitting.session_id} has no question {seq}.")
        walker = _Walker(connection, lake, settings, sitting, seq, put, language)
        return Walk(
            sitting.run_id,
            sitting.session_id,
            seq,
            sitting.model,
            sitting.prompt_style,
            sitting.repeat,
            tuple(walker.walk()),
        )


class _Walker:
    """One walk, on one state of the ledger."""

    def __init__(
        self,
        connection: Connection,
        lake: Lake,
        settings: Settings,
        sitting: WalkedSession,
        seq: int,
        put: WalkedQuestion,
        language: str,
    ) -> None:
        self._connection = connection
        self._lake = lake
        self._settings = settings
        self._sitting = sitting
        self._seq = seq
        self._put = put
        self._language = language
        self._calls = CallFinder(lake, settings, sitting.session_id, sitting.month)
        self._landings: dict[str, tuple[str, bool]] = {}
        self._keys = {key.key_id: key.public_key for key in access.list_log_keys(connection)}

    def walk(self) -> Iterator[WalkStep]:
        """Every step, from the star on."""
        place = {"session_id": self._sitting.session_id, "seq": self._seq, "month": self._sitting.month}
        for row in self._lake.read("walk_judgements", place).iter_rows(named=True):
            yield self._prove_star(row)
            yield from self._prove_reply(row)
        yield from self._prove_response(self._lake.read("walk_response", place).to_dicts())
        yield self._prove_question()
        asked = {"question_uuid": self._put.question_uuid, "lineage_uuid": self._put.lineage_uuid}
        banked = self._lake.read("walk_bank", asked | {"bank_version": self._sitting.bank_version}).to_dicts()
        if not banked:
            what = self._say(f"question {self._put.question_uuid}", f"题目 {self._put.question_uuid}")
            nowhere = self._say("no bank version of the lake has it", "数据湖中没有哪个题库版本有此题")
            yield WalkStep("bank", what, nowhere, False)
            return
        yield self._prove_bank(banked[0])
        yield from self._prove_decision(self._lake.read("walk_decision", asked).to_dicts())
        if banked[0]["document_id"] is not None:
            source = {"document_id": banked[0]["document_id"], "lineage_uuid": self._put.lineage_uuid}
            yield from self._prove_source(self._lake.read("walk_source", source).to_dicts())

    def _prove_star(self, row: Mapping[str, Any]) -> WalkStep:
        stars = (
            self._say("unparsed", "未能解析")
            if row["stars"] is None
            else self._say(f"{row['stars']} stars", f"{row['stars']} 星")
        )
        version = f"{row['prompt_version']}, {row['occasion']}"
        what = self._say(
            f"{stars} of {row['judge']} ({version})", f"{row['judge']} 给出：{stars}（{version}）"
        )
        proof, holds = self._prove_landing("judgements", row["unit"], self._sitting.month)
        editions = read_public_entries(self._connection, self._sitting.run_id, ("edition",))
        if editions:
            number, edition = editions[-1].number, editions[-1].body["edition"]
            proof += self._say(
                f"; public log, line {number}: edition {edition}",
                f"；公开日志第 {number} 行：发布版本 {edition}",
            )
        return WalkStep("star", what, proof, holds)

    def _prove_reply(self, row: Mapping[str, Any]) -> Iterator[WalkStep]:
        if row["attempt"] == 0:
            what = self._say("none: there was nothing to judge", "无：没有可评判的内容")
            yield WalkStep("reply", what, self._say("0 stars by rule", "按规则得 0 星"), row["stars"] == 0)
            return
        if str(row["judge"]).startswith("person:"):
            what = self._say("none: a person gave them", "无：由人给出")
            yield WalkStep("reply", what, self._say("with the landing above", "见上一步的写入"), True)
            return
        calls = walks.list_paid_replies(self._connection, row["unit"])
        asked = self._calls.find(self._seq, row["judge"], row["occasion"], row["attempt"])
        if (
            row["raw"] is None
            and row["stars"] is None
            and asked
            and walks.has_failed(self._connection, asked)
        ):
            what = self._say(
                "none: the judge's endpoint did not take what it was asked", "无：裁判的接口没有接受请求"
            )
            call = asked[:_SHOWN]
            proof = self._say(
                f"call {call}… failed; with the landing above", f"调用 {call}… 失败；见上一步的写入"
            )
            yield WalkStep("reply", what, proof, True)
            return
        # The same answer to the same question is paid for once: its call may belong to another session.
        if asked is not None and (own := walks.read_paid_reply(self._connection, asked)) is not None:
            calls = [own]
        found = next((call for call in calls if call.text is not None and call.text == row["raw"]), None)
        if found is None and row["raw"] is None and any(call.text is None for call in calls):
            proof, holds = self._prove_unit("calls", row["unit"])
            yield WalkStep("reply", self._say("erased with the answer", "已随作答一并清除"), proof, holds)
            return
        if found is None:
            yield WalkStep(
                "reply",
                self._say(f"{len(calls)} calls of {row['unit']}", f"{row['unit']} 的 {len(calls)} 次调用"),
                self._say(
                    "none of them has the reply that the judgement was read from", "其中没有得出该评判的回复"
                ),
                False,
            )
            return
        proof, holds = self._prove_unit("calls", found.unit)
        if self._calls.read_stars(str(row["judge"]), str(found.text)) != row["stars"]:
            proof, holds = (
                self._say(
                    f"its reply does not say {row['stars']} stars; {proof}",
                    f"其回复不是 {row['stars']} 星；{proof}",
                ),
                False,
            )
        yield WalkStep(
            "reply",
            self._say(f"call {found.call_key[:_SHOWN]}…", f"调用 {found.call_key[:_SHOWN]}…"),
            self._say(f"read again it says the same; {proof}", f"重新解析结果相同；{proof}")
            if holds
            else proof,
            holds,
        )

    def _prove_response(self, landed: list[dict[str, Any]]) -> Iterator[WalkStep]:
        given = walks.read_given(self._connection, self._sitting.session_id, self._seq)
        entry = walks.find_last_entry(
            self._connection, _ANSWERS, session_id=self._sitting.session_id, seq=self._seq
        )
        if given is None or entry is None:
            yield WalkStep(
                "response",
                self._say("no answer was given", "没有作答"),
                self._say("neither ledger nor audit log has one", "账本与审计日志中都没有"),
                given is None and entry is None,
            )
            return
        erased = walks.read_erased_hash(self._connection, self._sitting.session_id, self._seq)
        answer_hash = digests.digest_text(given.response) if erased is None else erased
        faults = []
        if answer_hash != entry.answer_hash:
            faults.append(
                self._say(
                    f"the ledger's text is not that of entry {entry.number}",
                    f"账本中的文本与条目 {entry.number} 不符",
                )
            )
        if erased is None and digests.digest_response(given._asdict()) != entry.digest:
            faults.append(
                self._say(
                    f"its account is not that of entry {entry.number}", f"其记录与条目 {entry.number} 不符"
                )
            )
        if erased is None and landed and landed[0]["answer_hash"] != answer_hash:
            faults.append(self._say("the lake has another text", "数据湖中是另一文本"))
        entry_proof, is_whole = self._prove_entry(int(entry.number))
        call: PaidReply | None = None
        if given.call_key is not None:
            call = walks.read_paid_reply(self._connection, given.call_key)
            if call is None or (erased is None and call.text != given.response):
                faults.append(self._say("the reply of its call is another", "其调用的回复与之不同"))
        parts = [self._say(f"the text's hash is in {entry_proof}", f"文本的哈希见{entry_proof}")]
        if landed:
            part, holds = self._prove_landing("responses", landed[0]["unit"], self._sitting.month)
            parts.append(part)
            is_whole = is_whole and holds
        if call is not None:
            part, holds = self._prove_unit("calls", call.unit)
            shown = call.call_key[:_SHOWN]
            parts.append(self._say(f"call {shown}…: {part}", f"调用 {shown}…：{part}"))
            is_whole = is_whole and holds
        what = self._say(f"answer {answer_hash[:_SHOWN]}…", f"作答 {answer_hash[:_SHOWN]}…")
        if erased is not None:
            what += self._say(" (its text was erased)", "（文本已清除）")
        yield WalkStep("response", what, self._join(faults or parts), is_whole and not faults)

    def _prove_question(self) -> WalkStep:
        sitting = self._sitting
        faults, parts = [], []
        order = walks.find_last_entry(self._connection, ("plan_session",), session_id=sitting.session_id)
        if order is None or digests.read_order_digest(self._connection, sitting.session_id) != order.digest:
            faults.append(self._say("the session's order is not the planned one", "考试的题目顺序与计划不符"))
        else:
            parts.append(self._say(f"place by entry {order.number}", f"题位由条目 {order.number} 固定"))
        drawn = walks.find_last_entry(self._connection, ("draw_set",), target=sitting.set_id)
        if drawn is None or digests.read_set_digest(self._connection, sitting.set_id) != drawn.digest:
            faults.append(self._say("the set is not as it was drawn", "套题与抽取时不符"))
        else:
            parts.append(self._say(f"content by entry {drawn.number}", f"内容由条目 {drawn.number} 固定"))
        items = walks.read_set_items(self._connection, sitting.set_id)
        if items is not None:
            part, holds = self._prove_unit("set_proofs", sitting.set_id)
            roots = [
                (entry.number, one["root"])
                for entry in list_public_entries(self._connection, ("draw",))
                for one in entry.body["sets"]
                if one["set"] == sitting.set_id
            ]
            if roots and compute_set_root(items).hex() != roots[-1][1]:
                line = roots[-1][0]
                faults.append(
                    self._say(
                        f"its commitments are not those of line {line} of the public log",
                        f"其承诺与公开日志第 {line} 行不符",
                    )
                )
            elif roots:
                parts.append(self._say(f"public log, line {roots[-1][0]}", f"公开日志第 {roots[-1][0]} 行"))
            if not holds:
                faults.append(part)
        uuid = self._put.question_uuid
        what = self._say(f"question {uuid} of set {sitting.set_id}", f"套题 {sitting.set_id} 的题目 {uuid}")
        return WalkStep("question", what, self._join(faults or parts), not faults)

    def _prove_bank(self, row: Mapping[str, Any]) -> WalkStep:
        proof, holds = self._prove_landing("bank_contents", row["unit"])
        content = (
            self._put.content if isinstance(self._put.content, Mapping) else json.loads(self._put.content)
        )
        if any((content.get(name) or None) != (row[name] or None) for name in _COMPARED if name in content):
            other = self._say("what was put is not what the bank has", "所出的题与题库中的不同")
            proof, holds = self._join([other, proof]), False
        version, since = self._sitting.bank_version, row["from_version"]
        what = self._say(
            f"bank version {version}, in it since {since}, {row['method']}",
            f"题库版本 {version}，自版本 {since} 起收录，{row['method']}",
        )
        return WalkStep("bank", what, proof, holds)

    def _prove_decision(self, found: list[dict[str, Any]]) -> Iterator[WalkStep]:
        if not found:
            no_gate = self._say(
                "no gate of a review accepted any question of it", "没有任何一次审核放行通过该谱系的题目"
            )
            yield WalkStep("decision", self._say("of the lineage", "该谱系"), no_gate, False)
            return
        row = found[0]
        proof, holds = self._prove_landing("review_decisions", row["unit"])
        asked = {"batch_id": row["batch_id"], "question_uuid": row["question_uuid"]}
        given = self._lake.read("walk_reviews", asked).to_dicts()
        part, is_closed = self._prove_unit("reviews", f"{row['batch_id']}/{row['question_uuid']}")
        decided = stages.read_decisions(self._connection, row["batch_id"], row["question_uuid"])
        held = {person: decision for (_, _, person), decision in decided.items()}
        faults = []
        if held != {one["annotator"]: one["decision"] for one in given}:
            faults.append(self._say("ledger and lake name other decisions", "账本与数据湖中的结论不同"))
        text, is_text_closed = self._prove_unit("review_texts", row["batch_id"])
        people = ", ".join(f"{one['annotator']}: {one['decision']}" for one in given)
        batch, accepts, rejects = row["batch_id"], row["accept_count"], row["reject_count"]
        yield WalkStep(
            "decision",
            self._say(
                f"batch {batch}: {accepts} accepts, {rejects} rejects ({people})",
                f"批次 {batch}：{accepts} 票通过，{rejects} 票退回（{people}）",
            ),
            self._join(
                faults
                or [
                    proof,
                    self._say(f"decisions: {part}", f"结论：{part}"),
                    self._say(f"what was shown: {text}", f"所展示的内容：{text}"),
                ]
            ),
            holds and is_closed and is_text_closed and not faults,
        )

    def _prove_source(self, found: list[dict[str, Any]]) -> Iterator[WalkStep]:
        if not found:
            what = self._say(f"lineage {self._put.lineage_uuid}", f"谱系 {self._put.lineage_uuid}")
            nowhere = self._say("no document of the lake has it", "数据湖中没有哪份文档有它")
            yield WalkStep("parsed", what, nowhere, False)
            return
        row = found[0]
        proof, holds = self._prove_landing("questions", row["unit"])
        name, place = row["document_name"], row["position"]
        yield WalkStep(
            "parsed", self._say(f"question {place} of {name}", f"{name} 的第 {place} 题"), proof, holds
        )
        proof, holds = self._prove_landing("document_texts", row["text_unit"])
        path = find_archived(self._settings.archive_dir, row["sha256"])
        text = None if path is None else path.parent / f"{row['sha256']}.txt"
        if text is not None and (not text.exists() or hash_file(text) != row["text_sha256"]):
            other = self._say(
                f"{text.name} in the archive is another text", f"存档中的 {text.name} 是另一文本"
            )
            proof, holds = self._join([other, proof]), False
        first, last, count = row["text_start"], row["text_end"], row["char_count"]
        span = self._say(
            f"characters {first} to {last} of {count}", f"全文 {count} 字中的第 {first} 至 {last} 字"
        )
        yield WalkStep("text", span, proof, holds)
        proof, holds = self._prove_landing("documents", row["document_unit"])
        what = f"{row['document_name']}, {row['sha256'][:_SHOWN]}…"
        if path is None:
            missing = self._say("the archive has no file of that hash", "存档中没有该哈希的文件")
            yield WalkStep("original", what, missing, False)
        elif hash_file(path) != row["sha256"]:
            other = self._say(
                "the file's bytes are others than its name says", "文件的内容与其文件名的哈希不符"
            )
            yield WalkStep("original", what, other, False)
        else:
            same = self._say("its bytes hash to its name", "内容的哈希与文件名相符")
            yield WalkStep("original", what, self._join([same, proof]), holds)

    def _prove_landing(self, table: str, unit: str, part: str | None = None) -> tuple[str, bool]:
        """What proves a landing, and whether it does."""
        name = f"{table}/{unit}"
        if name not in self._landings:
            self._landings[name] = self._look_at_landing(table, unit, part)
        return self._landings[name]

    def _look_at_landing(self, table: str, unit: str, part: str | None) -> tuple[str, bool]:
        name = f"{table}/{unit}"
        rows = self._lake.read("landing_to_prove", {"name": name}).rows()
        entry = stages.read_entries(self._connection, stages.LAND, [stages.name_landed(name)]).get(
            stages.name_landed(name)
        )
        if not rows or entry is None:
            return self._say(f"no entry closes the landing {table}", f"没有条目固定 {table} 的写入"), False
        row_count, rows_hash = rows[0]
        if rows_hash != entry.digest:
            number = entry.number
            return self._say(
                f"its landing is not that of entry {number}", f"其写入与条目 {number} 不符"
            ), False
        if row_count <= MOST_ROWS and hash_rows(read_unit(self._lake, table, unit, part)) != rows_hash:
            number = entry.number
            return self._say(
                f"its rows are not those of entry {number}", f"其数据行与条目 {number} 不符"
            ), False
        return self._prove_entry(entry.number)

    def _prove_unit(self, stage_name: str, unit: str) -> tuple[str, bool]:
        """What proves a unit of the ledger, and whether it does."""
        name = f"{stage_name}/{unit}"
        if name not in self._landings:
            changed, entry = stages.check_unit(self._connection, stage_name, unit)
            if entry is None:
                said = self._say(f"no entry closes {stage_name}", f"没有条目固定 {stage_name}")
                self._landings[name] = (said, False)
            elif changed:
                said = self._say(
                    f"{stage_name} is not as entry {entry.number} closed it",
                    f"{stage_name} 与条目 {entry.number} 固定时不符",
                )
                self._landings[name] = (said, False)
            else:
                self._landings[name] = self._prove_entry(entry.number)
        return self._landings[name]

    def _prove_entry(self, number: int) -> tuple[str, bool]:
        if not walks.is_entry_whole(self._connection, number, partial(read_entry_before, self._lake)):
            return self._say(f"entry {number} was changed", f"条目 {number} 被改动过"), False
        head = walks.find_covering_head(self._connection, number)
        if head is None:
            return self._say(
                f"entry {number}, no head signed since", f"条目 {number}，其后尚无已签名头"
            ), True
        signed = describe_head(head.number, head.entry_hash, head.key_id, head.signed_at)
        if not is_signed(self._keys.get(head.key_id, ""), head.signature, signed):
            said = self._say(
                f"entry {number}, and the head signed after it is forged",
                f"条目 {number}，而其后的已签名头是伪造的",
            )
            return said, False
        at = head.signed_at[:16]
        return self._say(
            f"entry {number}, under the head signed {at}", f"条目 {number}，由 {at} 的已签名头覆盖"
        ), True

    def _say(self, english: str, chinese: str) -> str:
        return chinese if self._language == "zh" else english

    def _join(self, parts: Sequence[str]) -> str:
        return self._say("; ", "；").join(parts)
