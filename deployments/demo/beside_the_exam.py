"""What the demo simulates beside the exam: a small league, people, and writing tasks.

The league has six candidates, two domains and two runs. People rate responses, name the causes of failures and score
texts; what they give goes through the desk or a workbook, as a person's would.

The writing tasks are questions of our own in each of CG-Eval's six categories. Their references are what a simulated
candidate comes close to, so that an abler one has higher Gscores.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from deployments.model_server import ErrorlessMarker, draw_uniform, write_model_answer
from schemas.judgements import ERROR_CLASSES
from schemas.settings import Settings
from tasks.judging.marking import MarkItem, give_mark, land_given, open_work, read_given
from tasks.texts import read_texts
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger

LEAGUE = "demo"
CANDIDATES = (
    "sim-aurora-2",
    "sim-aurora-2-thinking",
    "sim-basalt-1",
    "sim-basalt-2",
    "sim-cirrus-mini",
    "sim-dune-4",
)
DOMAINS = ("mathematics", "law")
# So often a person gives a star more or less than an errorless one would, and names another cause than the model.
_ERRS: Final = 0.015
_DISAGREES: Final = 0.2
_WORDING: Final[dict[str, Any]] = read_texts("deployments.demo", "beside_the_exam.yaml")
# Category, subject, a term to define, and a question to answer in some sentences.
_TEXTS: Final = _WORDING["texts"]
# Kind as the file prints it, subject, what is asked of the form, and the sums.
_SUMS: Final = _WORDING["sums"]
_HEADINGS: Final = (
    "大科目类别", "子科目名称", "题目类型", "题目编号", "题目文本", "题目答案的汉字长度", "题目prompt",
)  # fmt: skip
_LENGTHS: Final = (60, 90)


def play_demo_league(settings: Settings) -> dict[str, Any]:
    """Claim and play the league; what the flow counted, nothing the second time."""
    from deployments.flow_runs import run_flow
    from tasks.league import LeagueRules, claim_league, read_domain
    from tasks.models.registry import read_registry

    rules = LeagueRules(CANDIDATES, {name: read_domain(name).content for name in DOMAINS}, run_count=2)
    with open_lake(settings) as lake:
        claim_league(lake, settings, read_registry(settings.registry_path), LEAGUE, rules)
    result: dict[str, Any] = run_flow("league", league_id=LEAGUE)
    return result


def report_demo_league(settings: Settings, *, is_new: bool) -> Path:
    """Land the league's statistics and write its page; returns the page.

    This does what `proctor league report` does. A league that was not played on keeps its page: it compares
    with the standings as they were then.
    """
    from tasks.league.statistics import StatisticsRequest, write_statistics
    from tasks.proof import close_report
    from tasks.report import render_league
    from warehouse.ledger.engine.opening import open_ledger

    page = settings.home / "reports" / f"league-{LEAGUE}.html"
    if page.exists() and not is_new:
        return page
    with open_lake(settings) as lake:
        write_statistics(lake, LEAGUE, StatisticsRequest(seed=0, resamples=2_000, repeats=20))
        written = render_league(lake.run_named, LEAGUE, settings.home / "reports")
    with open_ledger(settings.ledger_address) as ledger:
        close_report(ledger, settings, settings.home / "reports")
    return written


def rate_round(ledger: Ledger, lake: Lake, bank: pl.DataFrame, name: str, raters: Sequence[str]) -> int:
    """Let each rater give stars in a round, disputes in a second pass; how many were given."""
    marker = ErrorlessMarker(bank)

    def choose(rater: str, item: MarkItem) -> str:
        stars = marker.mark(item.question.bare, item.texts[0][1]) if item.question else None
        if stars is None:
            return item.marks[0]
        luck = draw_uniform("rater", rater, item.key)
        if luck < _ERRS:
            stars += 1 if stars == 0 or (stars < 3 and luck < _ERRS / 2) else -1
        return str(stars)

    return sum(_mark_work(ledger, lake, "rating", name, rater, choose) for _ in range(2) for rater in raters)


def label_failures(ledger: Ledger, lake: Lake, sample_id: str, person: str) -> int:
    """Let a person confirm or correct what a model thought of each failure of a sample."""

    def choose(person: str, item: MarkItem) -> str:
        luck = draw_uniform("label", person, item.key)
        return (
            item.hint
            if item.hint and luck > _DISAGREES
            else ERROR_CLASSES[int(luck * 1e6) % len(ERROR_CLASSES)]
        )

    return _mark_work(ledger, lake, "label", sample_id, person, choose)


def score_texts(lake: Lake, sample: pl.DataFrame, name: str, rater: str, workbook: Path) -> None:
    """A person scores a sample's texts in its workbook: the share of the reference, in tenths."""
    from openpyxl import load_workbook

    from tasks.gscore.people import export_rating_workbook, land_ratings

    export_rating_workbook(sample, workbook)
    book = load_workbook(workbook)
    for key, _, _, reference, response, score, _ in book["scores"].iter_rows(min_row=2):
        share = _share_of(str(reference.value), str(response.value or ""))
        noise = (draw_uniform("score", rater, str(key.value)) - 0.5) / 5
        score.value = round(min(1.0, max(0.0, share + noise)), 1)
    book.save(workbook)
    land_ratings(lake, workbook, sample, name, rater)


def _share_of(reference: str, text: str) -> float:
    """The share of the reference's pairs of characters that a text has."""
    pairs = {reference[at : at + 2] for at in range(len(reference) - 1)}
    return sum(pair in text for pair in pairs) / max(len(pairs), 1)


def _mark_work(
    ledger: Ledger, lake: Lake, kind: str, name: str, person: str, choose: Callable[[str, MarkItem], str]
) -> int:
    work = open_work(ledger, lake, kind, name, person)
    given = read_given(ledger, work)
    open_items = [item for item in work.items.values() if item.key not in given]
    for item in open_items:
        give_mark(ledger, work, item.key, choose(person, item))
    land_given(ledger, lake, kind, name, person)
    return len(open_items)


def write_writing_tasks(folder: Path) -> tuple[Path, Path]:
    """Write the question file and the references, always the same; returns both."""
    rows: list[tuple[str, ...]] = []
    for category, subject, term, question in _TEXTS:
        for number, length in enumerate(_LENGTHS, start=1):
            rows += [
                (category, subject, "名词解释", str(number), term, str(length),
                 f"以下是{subject}科目的术语：{term}，请解释其含义，把回复控制在{length}个汉字左右。"),
                (category, subject, "简答题", str(number), question, str(length),
                 f"以下是{subject}科目的问题，请解答并把回复控制在{length}个汉字左右。\n{question}"),
            ]  # fmt: skip
    for kind, subject, asked, sums in _SUMS:
        rows += [
            ("数学计算", subject, kind, str(number), stem, "20", f"{asked}\n{stem}")
            for number, stem in enumerate(sums, start=1)
        ]
    questions, references = folder / "writing-questions.csv", folder / "writing-references.csv"
    with questions.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([_HEADINGS, *rows])
    with references.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [
                (*_HEADINGS[1:4], "参考答案"),
                *((*row[1:4], write_model_answer(row[6]) or "") for row in rows),
            ]
        )
    return questions, references
