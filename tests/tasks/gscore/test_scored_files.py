from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from schemas.errors import StoreError, UsageError
from tasks.gscore.metrics.pairs import NO_RESPONSE_NOTE, SCORE_COLUMNS, score_pairs
from tasks.gscore.scored_files import FileScoring, score_file

# In one worker with all that runs an embedding model: importing its libraries takes five CPU seconds.
pytestmark = pytest.mark.xdist_group("sentence-transformers")

WriteFile = Callable[[int, str], Path]
READERS: dict[str, Callable[..., pl.DataFrame]] = {
    "csv": pl.read_csv,
    "jsonl": pl.read_ndjson,
    "parquet": pl.read_parquet,
}


@pytest.mark.parametrize(
    ("in_suffix", "out_suffix"), [("csv", "jsonl"), ("jsonl", "parquet"), ("parquet", "csv")]
)
def test_every_format_in_and_out_gives_the_scores_of_its_pairs(
    pairs_file: WriteFile, tmp_path: Path, in_suffix: str, out_suffix: str
) -> None:
    path, out = pairs_file(2_300, in_suffix), tmp_path / f"scores.{out_suffix}"
    result = score_file(path, out, FileScoring(profile="standard", part_rows=700))

    pairs = pl.read_parquet(pairs_file(2_300, "parquet"))
    expected = score_pairs(pairs, "standard")
    found = (
        READERS[out_suffix](out, infer_schema_length=None)
        if out_suffix != "parquet"
        else pl.read_parquet(out)
    )
    assert found.columns == ["row_number", "question", "mark", *SCORE_COLUMNS]
    assert found["row_number"].to_list() == list(range(1, 2_301))
    assert found["question"].to_list() == pairs["question"].to_list()
    assert found["mark"].cast(pl.Float64).to_list() == pairs["mark"].to_list()
    for name in ("bleu4", "rouge2", "chrf"):
        assert found[name].to_list() == pytest.approx(expected[name].to_list(), abs=1e-15)
    assert found["gscore"].null_count() == 2_300
    assert (result.row_count, result.scored_count, result.gscore_count, result.resumed_count) == (
        2_300,
        2_300,
        0,
        0,
    )
    assert not list(tmp_path.glob("scores*.parts"))


KILLED_RUN = """
import os, signal, sys
from pathlib import Path
from tasks.gscore.scored_files import FileScoring, score_file

def kill_after(done, total):
    if done >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

score_file(Path(sys.argv[1]), Path(sys.argv[2]), FileScoring("cgeval-paper", part_rows=500), progress=kill_after)
"""


@pytest.mark.parametrize(
    "suffix", [pytest.param(name, marks=[] if name == "csv" else pytest.mark.long) for name in READERS]
)
def test_after_a_kill_the_parts_already_written_are_not_scored_again(
    pairs_file: WriteFile, tmp_path: Path, suffix: str, warm_python: str
) -> None:
    path, out, whole = pairs_file(2_300, suffix), tmp_path / "scores.parquet", tmp_path / "whole.parquet"
    killed = subprocess.run([warm_python, "-c", KILLED_RUN, str(path), str(out), "1000"], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()
    parts = sorted(tmp_path.glob("scores.parquet.parts/*/*.parquet"))
    assert len(parts) == 2
    parts[1].with_name("00000002.draft").write_bytes(b"half of a part")
    written = [part.stat().st_mtime_ns for part in parts]
    seen: list[tuple[int, int]] = []

    def look(done: int, total: int) -> None:
        seen.append((done, total))
        if done < total:
            assert [part.stat().st_mtime_ns for part in parts] == written

    result = score_file(path, out, FileScoring(profile="cgeval-paper", part_rows=500), progress=look)

    assert seen == [(1_000, 2_300), (1_500, 2_300), (2_000, 2_300), (2_300, 2_300)]
    assert (result.resumed_count, result.row_count) == (1_000, 2_300)
    score_file(path, whole, FileScoring(profile="cgeval-paper"))
    assert_frame_equal(pl.read_parquet(out), pl.read_parquet(whole))


def test_another_profile_or_a_changed_file_does_not_go_on_with_old_parts(
    pairs_file: WriteFile, tmp_path: Path
) -> None:
    path, out = pairs_file(900, "csv"), tmp_path / "scores.csv"

    def stop(done: int, total: int) -> None:
        if done >= 500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_file(path, out, FileScoring(profile="cgeval-paper", part_rows=500), progress=stop)
    assert score_file(path, out, FileScoring(profile="standard", part_rows=500)).resumed_count == 0
    with pytest.raises(KeyboardInterrupt):
        score_file(path, out, FileScoring(profile="cgeval-paper", part_rows=500), progress=stop)
    path.write_text(path.read_text(encoding="utf-8").replace("q0", "q9"), encoding="utf-8")
    assert score_file(path, out, FileScoring(profile="cgeval-paper", part_rows=500)).resumed_count == 0


def test_a_part_that_is_damaged_is_scored_again_with_what_follows(
    pairs_file: WriteFile, tmp_path: Path, warm_python: str
) -> None:
    path, out = pairs_file(2_000, "parquet"), tmp_path / "scores.parquet"
    subprocess.run([warm_python, "-c", KILLED_RUN, str(path), str(out), "1500"], check=False)
    parts = sorted(tmp_path.glob("scores.parquet.parts/*/*.parquet"))
    parts[1].write_bytes(parts[1].read_bytes()[:-20])

    assert score_file(path, out, FileScoring(profile="cgeval-paper", part_rows=500)).resumed_count == 500
    assert pl.read_parquet(out)["row_number"].to_list() == list(range(1, 2_001))


def test_similarities_are_computed_once_and_named(
    pairs_file: WriteFile, tmp_path: Path, tiny_model: Path
) -> None:
    path, out, cache = pairs_file(300, "csv"), tmp_path / "scores.parquet", tmp_path / "cache.sqlite"
    result = score_file(
        path, out, FileScoring(profile="standard", model=tiny_model, cache=cache, part_rows=100)
    )
    assert (result.gscore_count, result.message) == (300, None)
    assert result.similarity_model is not None and result.similarity_model.startswith("tiny-zh@")
    scores = pl.read_parquet(out)
    assert scores["similarity_model"].unique().to_list() == [result.similarity_model]
    assert scores["gscore"].null_count() == 0

    again = score_file(
        path, tmp_path / "again.parquet", FileScoring(profile="cgeval-paper", model=tiny_model, cache=cache)
    )
    assert_frame_equal(pl.read_parquet(again.out).select("similarity"), scores.select("similarity"))


def test_without_the_model_the_other_three_are_computed_and_the_reason_is_given(
    pairs_file: WriteFile, tmp_path: Path
) -> None:
    result = score_file(
        pairs_file(10, "csv"),
        tmp_path / "scores.parquet",
        FileScoring(profile="standard", model="nobody/no-such-model"),
    )
    assert (result.scored_count, result.gscore_count) == (10, 0)
    assert result.message is not None and "nobody/no-such-model is not on this machine" in result.message
    assert pl.read_parquet(result.out)["similarity_note"].unique().to_list() == [result.message]


def test_rows_that_cannot_be_scored_stay_as_rows_that_say_why(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": 1, "reference": "甲乙", "response": "甲乙"}),
        "{not json",
        json.dumps({"id": 2, "reference": "甲乙", "response": None}),
        json.dumps({"id": 3, "reference": ["甲"], "response": "甲"}),
        json.dumps({"id": 4, "reference": 421, "response": "421"}),
        "",
        '{"id": 5, "reference": "\\ud800甲", "response": "甲"}',
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    result = score_file(tmp_path / "pairs.jsonl", tmp_path / "scores.parquet")
    rows = (
        pl.read_parquet(tmp_path / "scores.parquet")
        .select("row_number", "id", "rouge2", "similarity_note")
        .rows()
    )

    assert (result.row_count, result.scored_count) == (6, 3)
    assert [row[:3] for row in rows] == [
        (1, 1, 1.0),
        (2, None, None),
        (3, 2, None),
        (4, 3, None),
        (5, 4, 1.0),
        (6, 5, 0.0),
    ]
    assert "not a JSON object" in rows[1][3]
    assert rows[2][3] == NO_RESPONSE_NOTE
    assert rows[3][3] == "reference is not a text: the pair is not scored"


def test_csv_cells_may_hold_lines_and_quotes_and_a_blank_cell_is_an_empty_answer(tmp_path: Path) -> None:
    text = '\ufeffid,reference,response\r\n1,"一\n二""三",一二\r\n2,一二,\r\n3,一二\r\n4,a,b,c\r\n'
    (tmp_path / "pairs.csv").write_text(text, encoding="utf-8", newline="")
    score_file(tmp_path / "pairs.csv", tmp_path / "scores.parquet", FileScoring(keep_texts=True))
    rows = pl.read_parquet(tmp_path / "scores.parquet").select("id", "reference", "response", "rouge2").rows()
    assert rows == [
        ("1", '一\n二"三', "一二", 1 / 3),
        ("2", "一二", "", 0.0),
        ("3", "一二", None, None),
        ("4", None, None, None),
    ]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_without_rows_gives_a_file_without_rows(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame(schema={"reference": pl.String, "response": pl.String})
    writers: dict[str, Callable[[Path], object]] = {"csv": frame.write_csv, "parquet": frame.write_parquet}
    writers[suffix](tmp_path / f"pairs.{suffix}")
    result = score_file(tmp_path / f"pairs.{suffix}", tmp_path / "scores.parquet")
    assert (result.row_count, pl.read_parquet(result.out).columns) == (0, ["row_number", *SCORE_COLUMNS])


def test_the_texts_may_stand_in_columns_of_other_names(tmp_path: Path) -> None:
    pl.DataFrame({"gold": ["甲乙"], "answer": ["甲乙"], "source": ["a book"]}).write_csv(
        tmp_path / "pairs.csv"
    )
    score_file(
        tmp_path / "pairs.csv",
        tmp_path / "out.parquet",
        FileScoring(reference_column="gold", response_column="answer"),
    )
    assert pl.read_parquet(tmp_path / "out.parquet").select("source", "rouge2").rows() == [("a book", 1.0)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "pairs.csv",
            b"reference,answer\na,b\n",
            "no column 'response'. It has reference, answer. Rename the columns that hold",
        ),
        ("pairs.csv", "reference,response\n甲,乙\n".encode("gbk"), "must be UTF-8"),
        ("pairs.csv", b"reference,response,reference\na,b,c\n", "several columns named reference"),
        ("pairs.csv", b'reference,response\na,b\na,"b\na,b\na,b\n', "cannot be read after row 2"),
        ("pairs.csv", b"reference,response,gscore\na,b,c\n", "already has columns named gscore"),
        ("pairs.parquet", b"PAR1 nonsense", "cannot be read as Parquet"),
        ("pairs.xlsx", b"PK", "not a CSV, TSV, JSONL or Parquet file"),
    ],
)
def test_files_that_are_not_pairs_are_refused_with_what_to_do(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message):
        score_file(tmp_path / name, tmp_path / "out.parquet")


def test_missing_inputs_and_impossible_outputs_are_refused(pairs_file: WriteFile, tmp_path: Path) -> None:
    path = pairs_file(3, "csv")
    with pytest.raises(UsageError, match=r"There is no file gone\.csv"):
        score_file(tmp_path / "gone.csv", tmp_path / "out.csv")
    with pytest.raises(UsageError, match=r"Name a \.parquet, \.csv or \.jsonl file"):
        score_file(path, tmp_path / "out.xlsx")
    with pytest.raises(UsageError, match=r"would replace pairs\.csv itself"):
        score_file(path, path)


def test_two_writers_of_one_output_do_not_mix(pairs_file: WriteFile, tmp_path: Path) -> None:
    path, out = pairs_file(30, "csv"), tmp_path / "out.csv"

    def start_another(done: int, total: int) -> None:
        with pytest.raises(StoreError, match=r"Another process is scoring into out\.csv"):
            score_file(path, out)

    assert score_file(path, out, progress=start_another).row_count == 30
