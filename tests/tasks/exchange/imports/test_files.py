"""What others wrote is imported whole and once; what it does not say stays null."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.exchange.imports.landing import (
    import_external,
    import_harness,
    import_inspect,
    import_question_records,
    import_table,
    list_namesakes,
    withdraw_import,
)
from tasks.exchange.imports.logs import ZSTANDARD
from tests.fresh import open_new_lake
from warehouse.lake import Lake

SAMPLES: list[dict[str, Any]] = [
    {
        "id": "q1",
        "epoch": 1,
        "input": "2+2?",
        "target": "4",
        "messages": [{"role": "user", "content": "2+2?"}],
        "output": {"model": "m", "completion": "4"},
        "scores": {"match": {"value": "C", "answer": "4"}, "length": {"value": {"words": 1, "ok": True}}},
    },
    {
        "id": "q1",
        "epoch": 2,
        "output": {"completion": "=5"},
        "scores": {"match": {"value": "P", "answer": "5"}, "length": {"value": {"words": 1, "ok": False}}},
    },
    {"id": "q2", "epoch": 1, "output": {"completion": ""}, "scores": {"match": {"value": "N"}}},
    {"id": "q3", "epoch": 1, "error": {"message": "timeout"}, "scores": None},
    {"id": "q4", "epoch": 1, "output": {"completion": "x"}, "scores": {"match": {"value": float("nan")}}},
]
HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"task": "sums", "model": "openai/m", "created": "2026-11-01T10:00:00+00:00"},
}


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with open_new_lake(Settings(home=tmp_path / "home")) as opened:
        yield opened


def write_archive(path: Path, header: dict[str, Any] = HEADER) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(header))
        for number, sample in enumerate(SAMPLES):
            archive.writestr(f"samples/{number}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(header))
    return path


@pytest.mark.parametrize("form", ["eval", "json"])
def test_a_log_of_inspect_is_taken_in_with_every_sample_epoch_scorer_and_value(
    lake: Lake, tmp_path: Path, form: str
) -> None:
    path = tmp_path / f"log.{form}"
    if form == "eval":
        write_archive(path)
    else:
        path.write_text(json.dumps(HEADER | {"samples": SAMPLES}))
    found = import_inspect(lake, path)
    assert (found.benchmark, found.rows, found.models, found.without_mark) == ("sums", 9, 1, 2)
    assert import_inspect(lake, path).is_unchanged
    rows = lake.query(
        "select item_id, repeat, metric, mark, mark_text, answer, response from imported_marks order by row_number"
    ).rows()
    assert rows == [
        ("q1", 1, "match", 1.0, "C", "4", "4"),
        ("q1", 1, "length/words", 1.0, None, None, "4"),
        ("q1", 1, "length/ok", 1.0, None, None, "4"),
        ("q1", 2, "match", 0.5, "P", "5", "=5"),
        ("q1", 2, "length/words", 1.0, None, None, "=5"),
        ("q1", 2, "length/ok", 0.0, None, None, "=5"),
        ("q2", 1, "match", 0.0, "N", None, ""),
        ("q3", 1, None, None, None, None, None),
        ("q4", 1, "match", None, None, None, "x"),
    ]
    kept = lake.query("select record from imported_marks where record is not null order by row_number")
    assert [json.dumps(json.loads(one)) for one in kept["record"]] == [json.dumps(one) for one in SAMPLES]
    assert lake.query(
        "select distinct model, scored_on::varchar, import_kind from imported_marks"
    ).rows() == [("openai/m", "2026-11-01", "inspect")]


class TwoFrames:
    """Packs a member as Inspect packs a large one: several frames of Zstandard."""

    def __init__(self) -> None:
        self.data = b""

    def compress(self, data: bytes) -> bytes:
        self.data += data
        return b""

    def flush(self) -> bytes:
        half = len(self.data) // 2
        return b"".join(
            pa.Codec("zstd").compress(part, asbytes=True) for part in (self.data[:half], self.data[half:])
        )


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_packed_with_zstandard_is_read_and_a_damaged_one_is_one_sentence(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.eval"
    with monkeypatch.context() as patched:
        # Python writes such archives from version 3.14 on only.
        patched.setattr(zipfile, "_check_compression", lambda _: None)
        patched.setattr(zipfile, "_get_compressor", lambda *_: TwoFrames())
        with zipfile.ZipFile(path, "w", ZSTANDARD) as archive:
            for number, sample in enumerate([*SAMPLES, SAMPLES[0]]):
                # The first one again, as after a sample that was run once more: the last one counts.
                archive.writestr(f"samples/{number % len(SAMPLES)}.json", json.dumps(sample))
            archive.writestr("header.json", json.dumps(HEADER))
    found = import_inspect(lake, path)
    assert (found.rows, found.without_mark) == (9, 2)
    kept = lake.query("select record from imported_marks where record is not null order by row_number")
    assert [json.dumps(json.loads(one)) for one in kept["record"]] == [json.dumps(one) for one in SAMPLES]
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("samples/1.json")
    for offset in (40, 60):
        damaged = tmp_path / f"damaged-{offset}.eval"
        content[entry.header_offset + offset + len("samples/1.json")] ^= 0xFF
        damaged.write_bytes(content)
        with pytest.raises(UsageError, match=r"samples/1\.json: cannot be unpacked \(BadZipFile\)"):
            import_inspect(lake, damaged)


HARNESS = [
    {
        "doc_id": 0, "doc": {"question": "a"}, "target": "1", "arguments": {}, "resps": [["one"]], "filtered_resps": ["1"],
        "filter": "none", "metrics": ["exact_match"], "exact_match": 1.0, "doc_hash": "h",
    },
    {
        "doc_id": 1, "doc": {"question": "one\u2028text"}, "target": 2, "arguments": [], "resps": [[["-1.5", "False"]], [["-2.5", "True"]]],
        "filtered_resps": [["-1.5", "False"], ["-2.5", "True"]], "acc": 0.0, "acc_norm": 1.0, "doc_hash": "h",
    },
    {
        "doc_id": 0, "doc": {}, "target": "1", "resps": [["one"]], "filtered_resps": ["one"], "filter": "strict",
        "metrics": ["exact_match"], "exact_match": 0.0,
    },
]  # fmt: skip


def test_samples_of_the_harness_are_taken_in_with_every_metric_and_filter(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "samples_arc_easy_2026-11-01T10-00-00.123.jsonl"
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in HARNESS) + "\n", "utf-8")
    found = import_harness(lake, path, "qwen-7b")
    assert (found.benchmark, found.rows) == ("arc_easy", 4)
    assert import_harness(lake, path, "qwen-7b").is_unchanged
    rows = lake.query(
        "select item_id, metric, mark, answer, response, repeat from imported_marks order by row_number"
    ).rows()
    assert rows == [
        ("0", "exact_match", 1.0, "1", "one", None),
        ("1", "acc", 0.0, '[["-1.5", "False"], ["-2.5", "True"]]', '[[["-1.5", "False"]], [["-2.5", "True"]]]', None),
        ("1", "acc_norm", 1.0, '[["-1.5", "False"], ["-2.5", "True"]]', '[[["-1.5", "False"]], [["-2.5", "True"]]]', None),
        ("0", "exact_match,strict", 0.0, "one", "one", None),
    ]  # fmt: skip
    kept = lake.query("select record from imported_marks where record is not null order by row_number")
    assert [json.loads(one) for one in kept["record"]] == HARNESS


def test_a_table_s_own_columns_are_mapped_and_the_rest_is_null(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("who,question,fluency,accuracy,day\nm,q1,3,2,20261101\nm,q2,,good,2026-11-02\n")
    mapping = {"model": "who", "item_id": "question", "scored_on": "day"}
    found = import_table(lake, path, "scores", "pilot", mapping, ("fluency", "accuracy"))
    assert (found.rows, found.without_mark) == (4, 2)
    rows = lake.query(
        "select item_id, metric, mark, mark_text, scored_on::varchar, repeat, rater from imported_marks order by row_number"
    ).rows()
    assert rows == [
        ("q1", "fluency", 3.0, None, "2026-11-01", None, None),
        ("q1", "accuracy", 2.0, None, "2026-11-01", None, None),
        ("q2", "fluency", None, None, "2026-11-02", None, None),
        ("q2", "accuracy", None, "good", "2026-11-02", None, None),
    ]


def test_responses_without_marks_stay_without(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"model": "m", "item_id": "q1", "text": "=1"}\n')
    assert import_table(lake, path, "responses", "pilot", {"response": "text"}).without_mark == 1
    assert lake.query("select response, mark, metric from imported_marks").rows() == [("=1", None, None)]
    assert lake.run_named("imported_leaderboard").is_empty()


def test_names_that_look_like_numbers_stay_as_they_are_written(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    path.write_text("model,item_id,mark,repeat,scored_on\n4.10,007,1,1,20240501\n4.1,7,0.5,2,20240501\n")
    assert import_table(lake, path, "scores", "pilot", {}).models == 2
    assert lake.query("select model, item_id, mark, repeat, scored_on::varchar from imported_marks order by row_number").rows() == [
        ("4.10", "007", 1.0, 1, "2024-05-01"), ("4.1", "7", 0.5, 2, "2024-05-01"),
    ]  # fmt: skip
    path.write_text("model,scored_on,score\n4.10,20240501,1300\n4.1,20240501,1200\n")
    assert import_external(lake, path, "arena", "here", {}).models == 2


def test_a_mark_without_end_is_no_number_and_in_no_mean(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "samples_pilot.jsonl"
    huge = 10**400
    path.write_text(
        f'{{"doc_id": 1, "ppl": Infinity}}\n{{"doc_id": 2, "ppl": {huge}}}\n{{"doc_id": 3, "ppl": 2}}\n'
    )
    import_harness(lake, path, "m")
    assert lake.query("select mark, mark_text from imported_marks order by row_number").rows() == [
        (None, "inf"), (None, str(huge)), (2.0, None),
    ]  # fmt: skip
    assert lake.run_named("imported_leaderboard")["score"].to_list() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("content", "kind", "mapping", "says"),
    [
        (
            "model,x\nm,1\n",
            "scores",
            {},
            "no column for item_id. Say which with --map item_id=COLUMN; it has model, x",
        ),
        ("model,item_id\nm,1\n", "scores", {}, "no column for mark"),
        ("model,item_id,mark\nm,1,2\n", "ratings", {}, "no column for rater"),
        ("model,item_id,mark\nm,1,2\n", "scores", {"task": "part"}, "has no column 'part'"),
        ("model,item_id,mark\n,1,2\n", "scores", {}, "row 1: model is empty"),
        (
            "model,item_id,mark,rater\nm,1,3,a\nm,2,85%,a\n",
            "ratings",
            {},
            "row 2: the mark 85% is a percentage, and the file does not say of what",
        ),
        (
            "model;item_id;mark\nm;1;3\nm;2;2,5\n",
            "scores",
            {},
            "row 2: the mark 2,5 is a number with a comma",
        ),
        ("model,item_id,mark,scored_on\nm,1,2,May\n", "scores", {}, "row 1: scored_on is no day"),
        ("model,item_id,mark,scored_on\nm,1,2,2024-05-012\n", "scores", {}, "row 1: scored_on is no day"),
        (
            "model,item_id,mark,scored_on\nm,1,2,9024-05-01\n",
            "scores",
            {},
            "row 1: scored_on 9024-05-01 is yet to come",
        ),
        # January 11 or November 1.
        ("model,item_id,mark,scored_on\nm,1,2,2024111\n", "scores", {}, "row 1: scored_on is no day"),
        ("model,item_id,mark,mark\nm,1,2,3\n", "scores", {}, "several columns named mark. Rename them"),
        ("model,item_id,mark,repeat\nm,1,2,1e30\n", "scores", {}, "row 1: repeat 1e30 is no whole number"),
        ("model,item_id,mark\n", "scores", {}, "holds no row"),
        ("model,item_id,mark,repeat\nm,1,2,x\n", "scores", {}, "row 1: repeat x is no whole number"),
        ("model,item_id,mark,repeat\nm,1,2,inf\n", "scores", {}, "row 1: repeat inf is no whole number"),
    ],
)
def test_a_table_that_lacks_something_is_refused_by_its_place(
    lake: Lake, tmp_path: Path, content: str, kind: str, mapping: dict[str, str], says: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(UsageError, match=says):
        import_table(lake, path, kind, "pilot", mapping)
    assert lake.units("imported_marks") == set()


def test_a_day_is_read_with_or_without_its_time(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    days = ("2024-05-01", "2024/5/1", "20240501", "2024-05-01T23:59:00+08:00", "2024-05-01 10:00")
    path.write_text("model,item_id,mark,scored_on\n" + "".join(f"m,1,1,{day}\n" for day in days))
    import_table(lake, path, "scores", "pilot", {})
    assert lake.query("select distinct scored_on from imported_marks").rows() == [(date(2024, 5, 1),)]


def test_what_windows_writes_before_a_text_is_no_part_of_it_and_utf_16_is_named(
    lake: Lake, tmp_path: Path
) -> None:
    content = '{"model": "m", "item_id": "1", "mark": 1}\n'
    (tmp_path / "marks.jsonl").write_text(content, encoding="utf-8-sig")
    assert import_table(lake, tmp_path / "marks.jsonl", "scores", "pilot", {}).rows == 1
    (tmp_path / "samples_x.jsonl").write_text('{"doc_id": 1, "acc": 1}\n', encoding="utf-8-sig")
    assert import_harness(lake, tmp_path / "samples_x.jsonl", "m").rows == 1
    (tmp_path / "marks.csv").write_text("model,item_id,mark\nm,1,1\n", encoding="utf-16")
    with pytest.raises(UsageError, match=r"marks\.csv is UTF-16: save it as CSV in UTF-8"):
        import_table(lake, tmp_path / "marks.csv", "scores", "pilot", {})


def test_half_a_surrogate_pair_in_a_log_stops_nothing_and_stays_in_the_record(
    lake: Lake, tmp_path: Path
) -> None:
    sample = {"id": 1, "epoch": 10**30, "output": {"completion": "去\ud83d"}, "scores": {"m": {"value": "C"}}}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(HEADER | {"samples": [sample]}))
    import_inspect(lake, path)
    lines = tmp_path / "samples_x.jsonl"
    lines.write_text(json.dumps({"doc_id": 1, "acc": 1, "resps": [["去\ud83d"]]}) + "\n")
    import_harness(lake, lines, "m")
    record = {"category": "Law", "sub_category": "Law", "question_uuid": str(UUID(int=1)), "hint": True}
    record |= {"dialog": [{"role": "user", "content": "?"}], "response": "去\ud83d", "judge": None}
    records = tmp_path / "records.jsonl"
    records.write_text(json.dumps(record))
    import_question_records(lake, records, "pilot", "m")
    rows = lake.query("select response, record, repeat from imported_marks order by import_kind").rows()
    assert [(response, repeat) for response, _, repeat in rows] == [("去?", None)] * 3
    assert json.loads(rows[0][1]) == sample


def test_damaged_logs_are_one_sentence(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    deep = "[" * 100_000 + "]" * 100_000
    for content, says in (
        (f'{{"samples": {deep}}}', "nested too deeply"),
        (json.dumps(HEADER | {"samples": ["x"]}), "sample 1: it has no id"),
        (json.dumps(HEADER | {"samples": [{"epoch": 1}]}), "sample 1: it has no id"),
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ("{}", "it names no task and model"),
        (json.dumps(HEADER | {"status": "error"}), "the run ended with 'error'"),
        (json.dumps(HEADER), "holds no sample"),
    ):
        path.write_text(content)
        with pytest.raises(UsageError, match=says):
            import_inspect(lake, path)
    with zipfile.ZipFile(tmp_path / "half.eval", "w") as archive:
        archive.writestr("samples/1.json", "{}")
    with pytest.raises(UsageError, match=r"has no header\.json"):
        import_inspect(lake, tmp_path / "half.eval")
    lines = tmp_path / "samples_x.jsonl"
    lines.write_text('{"doc_id": 1, "acc": 1}\n{"acc": 1}\n')
    with pytest.raises(UsageError, match="line 2: no sample of lm-evaluation-harness"):
        import_harness(lake, lines, "m")


def test_published_scores_are_one_a_day_and_a_new_file_takes_the_place_of_the_old(
    lake: Lake, tmp_path: Path
) -> None:
    path = tmp_path / "board.csv"
    path.write_text("name,day,elo\na,2026-01-01,1000\nb,2026-01-01,\na,2026-02-01,1010\na,2026-02-01,1010\n")
    mapping = {"model": "name", "scored_on": "day", "score": "elo"}
    found = import_external(lake, path, "board", "somewhere", mapping)
    assert (found.rows, found.without_mark, found.is_unchanged) == (2, 1, False)
    assert import_external(lake, path, "board", "somewhere", mapping).is_unchanged
    path.write_text("name,day,elo\na,2026-01-01,1000\na,2026-01-01,999\n")
    with pytest.raises(UsageError, match="row 2: a has another score on 2026-01-01 in an earlier row"):
        import_external(lake, path, "board", "somewhere", mapping)
    assert lake.query("select count(*) from external_scores").item() == 2


def test_models_that_wrote_the_very_same_do_not_take_each_other_s_place(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "samples_sums.jsonl"
    path.write_text('{"doc_id": 1, "acc": 1}\n')
    first, second = (import_harness(lake, path, model) for model in ("a", "ab"))
    assert lake.query("select model from imported_marks order by model").rows() == [("a",), ("ab",)]
    assert import_harness(lake, path, "a").is_unchanged
    assert import_harness(lake, path, "ab").is_unchanged
    # Or one of the two names was wrong.
    assert list_namesakes(lake, second.import_id, path.name, "sums") == [first.import_id]
    # Its id begins the other's, and names it alone.
    assert withdraw_import(lake, first.import_id).import_id == first.import_id
    assert lake.query("select model from imported_marks").rows() == [("ab",)]
    # Whoever is left counts once, also when it is imported again.
    assert import_harness(lake, path, "ab").is_unchanged


def test_a_file_that_was_corrected_is_taken_back_and_may_come_again(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    path.write_text("model,item_id,mark\na,1,1\nb,1,0\n")
    wrong = import_table(lake, path, "scores", "pilot", {})
    path.write_text("model,item_id,mark\na,1,1\nb,1,1\n")
    right = import_table(lake, path, "scores", "pilot", {})
    assert list_namesakes(lake, right.import_id, "marks.csv", "pilot") == [wrong.import_id]
    assert list_namesakes(lake, right.import_id, "marks.csv", "another") == []
    # The harness names its files for the task: another model's is not corrected by it.
    samples = tmp_path / "samples_sums.jsonl"
    samples.write_text('{"doc_id": 1, "acc": 1}\n')
    import_harness(lake, samples, "a")
    samples.write_text('{"doc_id": 1, "acc": 0}\n')
    other = import_harness(lake, samples, "b")
    assert list_namesakes(lake, other.import_id, samples.name, "sums") == []
    withdraw_import(lake, other.import_id)
    withdraw_import(lake, "samples_sums.jsonl")
    with pytest.raises(UsageError, match=r"'marks.csv' fits 2 imports: .*Give the id of one"):
        withdraw_import(lake, "marks.csv")
    with pytest.raises(UsageError, match=r"There is no import 'none\.csv'"):
        withdraw_import(lake, "none.csv")

    removed = withdraw_import(lake, wrong.import_id[:12])

    assert (removed.import_id, removed.file_name, removed.row_count) == (wrong.import_id, "marks.csv", 2)
    assert lake.query("select model, mark from imported_marks order by model").rows() == [
        ("a", 1.0),
        ("b", 1.0),
    ]
    landed = lake.query(
        "select row_count from landings where table_name = 'imported_marks' and unit = $unit",
        {"unit": wrong.import_id},
    )
    assert landed.rows() == [(0,)]
    path.write_text("model,item_id,mark\na,1,1\nb,1,0\n")
    assert not import_table(lake, path, "scores", "pilot", {}).is_unchanged
    assert lake.read("imported_files")["row_count"].to_list() == [2, 2]
