"""The page of the method: formulas, what each edition rests on, and what was committed to before the first question."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import polars as pl

from tasks.report.panels import Cell, Panel, Source, Words

ABOUT: Words = (
    "分数怎样算出，每一版依据什么，抽题事先承诺了什么，以及怎样自己核对。",
    "How scores are computed, what each edition rests on, what was committed to before the draw, and how to check it yourself.",
)
_LOG: Final = "log.jsonl"
_KINDS: Final = ("commit", "share", "draw", "disclose")
_COMMITTED: Final = {
    "run": pl.String, "month": pl.String, "committed_at": pl.String, "entry": pl.Int64, "bank_version": pl.Int64, "bank_root": pl.String,
    "plan_commitment": pl.String, "share_commitment": pl.String, "seed_commitment": pl.String, "set_count": pl.Int64, "share_count": pl.Int64,
    "beacon": pl.String, "is_disclosed": pl.Boolean, "is_simulated": pl.Boolean,
}  # fmt: skip


def read_method(source: Source) -> list[Panel]:
    """The panels below the formulas, in order."""
    return [_read_editions(source), _read_commitments(source)]


def _read_editions(source: Source) -> Panel:
    frame = source.run_named("editions_published", source.shown)
    finding = None
    if frame.height:
        current = frame.filter(pl.col("is_current"))
        corrected = frame.height - current.height
        finding = (
            f"现行 {current.height} 版，{corrected} 版已被更正而仍保留；{current['is_provisional'].sum()} 版为暂定。",
            f"{current.height} editions stand, {corrected} were corrected and are kept; {current['is_provisional'].sum()} are provisional.",
        )
    return Panel(
        name="versions",
        title=("每一版依据什么", "What each edition rests on"),
        about=(
            "发布的分数不再改变。一版冻结了裁判及其提示词、场次、参照、权重与题库版本；根哈希覆盖它的每一行。",
            "What was published never changes. An edition freezes judge and prompt, sessions, reference, weights and bank version; its root "
            "hash covers every row of it.",
        ),
        query="editions_published",
        params=source.shown,
        frame=frame,
        cells=(
            Cell("edition_id", ("版次", "Edition")),
            Cell("published_at", ("发布", "Published"), "moment"),
            Cell("bank_version", ("题库版本", "Bank"), "count"),
            Cell("set_size", ("题集大小", "Set size"), "count"),
            Cell("reference_model", ("参照模型", "Reference")),
            Cell("judge", ("裁判", "Judge")),
            Cell("judge_prompt_version", ("裁判提示词", "Judge's prompt")),
            Cell("exam_prompt_versions", ("作答提示词", "Exam prompts")),
            Cell("mean_kappa", ("平均 κ", "Mean κ"), "number", 3),
            Cell("is_provisional", ("暂定", "provisional"), "flag", is_warning=True),
            Cell("code_version", ("Proctor 版本", "Proctor")),
            Cell("root_hash", ("根哈希", "Root hash"), "hash"),
            Cell("is_current", ("现行", "current"), "flag"),
        ),
        finding=finding,
        filled_by=("proctor publish",),
    )


def _read_commitments(source: Source) -> Panel:
    frame = read_commitments(source.public_dir)
    finding = None
    if frame.height:
        alone = frame.filter((pl.col("share_count") == 0) & pl.col("beacon").is_null()).height
        finding = (
            f"公开日志承诺了 {frame.height} 次考试；其中 {alone} 次的种子由主办方独自决定，{frame['is_disclosed'].sum()} 次已披露。",
            f"The public log commits to {frame.height} runs: the operator alone chose the seed of {alone}; {frame['is_disclosed'].sum()} are "
            "disclosed.",
        )
    return Panel(
        name="commitments",
        title=("种子与承诺", "Seeds and commitments"),
        about=(
            "抽题之前写入公开日志的承诺。种子由主办方的份额、参评者的份额与事先指定的外部随机数决定；没有后两者时，由主办方独自决定。"
            "核对公开的文件夹：proctor exam verify 文件夹（只用 Python 标准库，格式见 docs/verify.md）。",
            "What was entered in the public log before the draw. The seed follows from the operator's share, candidates' shares and an "
            "outside number named beforehand; without the last two the operator alone chose it. To check the published folder: "
            "proctor exam verify FOLDER (Python's standard library alone; the format is in docs/verify.md).",
        ),
        query="",
        frame=frame,
        cells=(
            Cell("run", ("考试", "Run")),
            Cell("committed_at", ("承诺时间", "Committed at")),
            Cell("entry", ("日志条目", "Entry"), "count"),
            Cell("bank_version", ("题库版本", "Bank"), "count"),
            Cell("bank_root", ("题库根", "Bank root"), "hash"),
            Cell("plan_commitment", ("计划", "Plan"), "hash"),
            Cell("share_commitment", ("主办方份额", "Operator's share"), "hash"),
            Cell("seed_commitment", ("种子", "Seed"), "hash"),
            Cell("share_count", ("参评者份额", "Candidates' shares"), "count"),
            Cell("beacon", ("外部随机数", "Beacon")),
            Cell("set_count", ("新题集", "New sets"), "count"),
            Cell("is_disclosed", ("已披露", "disclosed"), "flag"),
        ),
        finding=finding,
        filled_by=("proctor evaluate", "proctor exam seal"),
    )


def read_commitments(public_dir: Path | None) -> pl.DataFrame:
    """One row per run of the public log, by its last commit, in the order of the log; without rows where there is no log.

    A line that is no entry is passed over: whether the log holds is for `proctor exam verify` to say.
    """
    runs: dict[str, dict[str, Any]] = {}
    shares: Counter[int] = Counter()
    for entry in _read_entries(public_dir):
        kind, body = entry["kind"], entry["body"]
        if kind == "commit":
            runs[body["run"]] = {
                "run": body["run"], "month": body["month"], "committed_at": entry["at"][:16].replace("T", " ") + " UTC",
                "entry": entry["number"], "bank_version": body["bank"]["version"], "bank_root": body["bank"]["root"],
                "plan_commitment": body["plan_commitment"], "share_commitment": body["share_commitment"],
                "seed_commitment": None, "set_count": None, "beacon": None, "is_disclosed": False, "is_simulated": body["is_simulated"],
            }  # fmt: skip
        elif kind == "share":
            shares[body["commit"]] += 1
        elif kind == "draw" and body["run"] in runs:
            beacon = body["beacon"]
            runs[body["run"]] |= {
                "seed_commitment": body["seed_commitment"],
                "set_count": len(body["sets"]),
                "beacon": None if beacon is None else beacon["source"],
            }
        elif kind == "disclose" and body["run"] in runs:
            runs[body["run"]]["is_disclosed"] = True
    rows = [row | {"share_count": shares[row["entry"]]} for row in runs.values()]
    return pl.DataFrame(rows, schema=_COMMITTED)


def _read_entries(public_dir: Path | None) -> list[dict[str, Any]]:
    """The entries of the kinds that the page shows; most lines of the log are sessions, and are not parsed."""
    if public_dir is None or not (public_dir / _LOG).is_file():
        return []
    wanted = tuple(f'"kind":"{kind}"' for kind in _KINDS)
    found = []
    with (public_dir / _LOG).open(encoding="utf-8") as lines:
        for line in lines:
            if any(kind in line[:120] for kind in wanted):
                try:
                    found.append(json.loads(line))
                except ValueError:
                    continue
    return found
