"""Small tables of the papers, typed in as printed, come out of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from tests.tasks.exchange.imports.test_real_tables import run
from warehouse.ledger.engine.opening import open_ledger

# LLMEval-3, Table 10: kappa of three judges with people, by candidate; the first three of round 1, the others of round 2.
KAPPAS = """\
DeepSeek-R1,0.527,0.662,0.960,0.451,0.251,0.977
DeepSeek-V3,0.326,0.627,0.949,0.366,0.147,0.800
Qwen-3-235B,0.486,0.468,0.818,0.232,0.496,0.931
Qwen-3-32B,0.560,0.390,0.886,0.414,0.271,0.872
Claude-Sonnet-4,0.309,0.186,0.826,0.402,0.677,0.909
Claude-Sonnet-4-Thinking,0.451,0.399,0.830,0.443,0.373,0.684
Doubao-1.5-Pro,0.629,0.388,0.950,0.383,0.451,0.915
Doubao-1.5-Thinking-Pro,0.707,0.786,0.993,0.745,0.324,0.920
Gemini-2.5-Pro,0.451,0.539,0.831,0.376,0.682,0.858
Gemini-2.5-Pro-Thinking,0.408,0.547,0.843,0.344,0.185,0.859
GPT-4o,0.447,0.507,0.925,0.553,0.417,0.962
o1,0.599,0.535,0.933,0.571,0.555,0.957
o3-mini,0.517,0.397,0.975,0.531,0.381,0.963
"""
JUDGES = ("Doubao", "Gemini", "GPT-4o")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    settings = Settings(home=tmp_path / "home")
    open_new_lake(settings).close()
    open_ledger(settings.ledger_address).close()
    return settings.home


def test_the_means_of_table_10_come_out_of_its_values(home: Path, tmp_path: Path) -> None:
    """Each judge's and round's mean is as printed, to one in the last digit (two are off)."""
    lines = ["model,item_id,metric,mark"]
    for line in KAPPAS.splitlines():
        candidate, *values = line.split(",")
        for place, value in enumerate(values):
            lines.append(f"{JUDGES[place % 3]},{candidate},round {place // 3 + 1},{value}")
    path = tmp_path / "kappas.csv"
    path.write_text("\n".join(lines), "utf-8")
    assert run(home, "import", "scores", str(path), "--benchmark", "kappas")["rows"] == 78
    rows = run(home, "sql", "imported_leaderboard", "--param", "benchmark=kappas", "--param", "digits=5")
    found = {(row["model"], row["metric"]): row["score"] for row in rows if row["metric"] != "overall"}
    exact = (0.49362, 0.49469, 0.90146, 0.44700, 0.40077, 0.89285)
    places = [(judge, f"round {number}") for number in (1, 2) for judge in JUDGES]
    assert found == dict(zip(places, exact, strict=True))
    printed = (0.493, 0.495, 0.902, 0.447, 0.401, 0.893)
    assert [found[place] for place in places] == pytest.approx(list(printed), abs=1e-3)


def test_rho_and_p_of_table_3_come_out_of_two_orders_of_six(home: Path, tmp_path: Path) -> None:
    """LLMEval-3, Table 3: .714 with p .111 and .657 with p .156.

    The scores are not published; these orders have those values of rho.
    """
    for name, order in (("ours", (1, 2, 3, 4, 5, 6)), ("en", (2, 1, 5, 4, 3, 6)), ("zh", (2, 1, 4, 6, 3, 5))):
        path = tmp_path / f"{name}.csv"
        # A score of an earlier day, which must not count, and a model that the others do not have.
        rows = [f"m{number},2026-02-01,{score}" for number, score in enumerate(order)]
        path.write_text(
            "\n".join(["model,scored_on,score", "m0,2026-01-01,99", *rows, f"{name},2026-02-01,50"])
        )
        run(home, "import", "external", str(path), "--benchmark", name, "--source", "a paper")
    found = run(home, "import", "correlation", "--of", "ours")["correlations"]
    assert [
        (row["benchmark"], round(row["spearman_rho"], 3), round(row["p_value"], 3), row["candidate_count"])
        for row in found
    ] == [("en", 0.714, 0.111, 6), ("zh", 0.657, 0.156, 6)]
    shown = invoke(home, "import", "correlation", "--of", "ours")
    assert "en: rho 0.714, p 0.111, 6 models in common" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [((), "no published scores of other benchmarks"), (("--of", "ours"), "no published scores")],
)
def test_without_scores_there_is_nothing_to_compare(
    home: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = invoke(home, "import", "correlation", *arguments)
    assert done.exit_code == 2
    assert says in done.stderr


def test_scores_that_have_no_candidate_of_ours_are_named_as_such(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("model,scored_on,score\nm,2026-01-01,1\n")
    run(home, "import", "external", str(path), "--benchmark", "a", "--source", "x")
    assert "No candidate of a published month" in invoke(home, "import", "correlation").stderr
    assert "There is no benchmark 'b' among the published scores. There are a." in (
        invoke(home, "import", "correlation", "--of", "b").stderr
    )
