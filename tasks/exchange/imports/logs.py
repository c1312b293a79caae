"""Logs of Inspect (`.eval`, JSON) and samples of lm-evaluation-harness (`--log_samples`).

A record of a log stays whole in `record`; what we read beside is a convenience. What a log does not say is null. Inspect packs
members of its archives with Zstandard, which Python's own `zipfile` reads from version 3.14 on; until then Arrow unpacks them.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemas import patterns as re
from schemas.errors import UsageError
from tasks.exchange.imports.tables import MOST_REPEAT, parse_day, split_mark

MOST_BYTES = 2 * 1024**3
# What Inspect's letters are worth by its own conversion: correct, partly correct, incorrect, no answer.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
# Fields of a line of lm-evaluation-harness that are no metrics.
_HARNESS_FIELDS = frozenset(
    {
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
    }
)
_SAMPLES_NAME = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d{2}-\d{2}T[\d\-.]+)?\.jsonl$")
ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")


@dataclass(frozen=True)
class Log:
    """What a log holds.

    Attributes:
        benchmark: its task.
        rows: rows of `imported_marks` but for what is the file's.
        sample_count: its samples.
    """

    benchmark: str
    rows: list[dict[str, object]]
    sample_count: int


def parse_inspect_log(path: Path) -> Log:
    """An Inspect log: each sample and epoch with all values of all scorers.

    A sample without a score is a row without a mark. Raises UsageError for a file that is none, or whose run
    was not finished.
    """
    header, samples = _read_inspect(path)
    evaluation = header.get("eval")
    if not isinstance(evaluation, dict) or not evaluation.get("task") or not evaluation.get("model"):
        raise UsageError(f"{path.name} is no log of Inspect: it names no task and model.")
    if header.get("status") not in (None, "success"):
        raise UsageError(
            f"{path.name}: the run ended with {str(header.get('status'))!r}. Import the log of a run that was finished."
        )
    day = parse_day(evaluation.get("created"), path.name)
    rows: list[dict[str, object]] = []
    count = 0
    for sample in samples:
        count += 1
        if not isinstance(sample, dict) or sample.get("id") is None:
            raise UsageError(f"{path.name}, sample {count}: it has no id. Write the log again with Inspect.")
        shared = _describe_inspect(sample, str(evaluation["model"]), day)
        marks = list(_list_inspect_marks(sample)) or [(None, None, None, None)]
        for place, (metric, mark, text, answer) in enumerate(marks):
            rows.append(
                shared
                | {
                    "row_number": len(rows) + 1,
                    "metric": metric,
                    "mark": mark,
                    "mark_text": text,
                    "answer": answer,
                    "record": _render_record(sample) if place == 0 else None,
                }
            )
    if not count:
        raise UsageError(
            f"{path.name} holds no sample: it was written without samples. Write the log again with them."
        )
    return Log(str(evaluation["task"]), rows, count)


def parse_harness_samples(path: Path, model: str, benchmark: str | None = None) -> Log:
    """A file of samples that lm-evaluation-harness wrote.

    The file does not name the model, so the caller does. The task is read from the file's name
    (`samples_TASK_…jsonl`) unless it is given. A metric under a filter is `metric,filter`. Raises UsageError
    naming the line that is no sample.
    """
    named = _SAMPLES_NAME.search(path.name)
    task = benchmark or (named["task"] if named else None)
    if task is None:
        raise UsageError(
            f"{path.name} does not name its task as samples_TASK_….jsonl does. Name it with --benchmark."
        )
    try:
        # Lines end with a line feed only: JSON leaves other separators (U+2028) as they are within a text.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read ({type(error).__name__}). Check the file.") from None
    rows: list[dict[str, object]] = []
    count = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        sample = _parse_object(line, f"{path.name}, line {number}")
        if "doc_id" not in sample:
            raise UsageError(
                f"{path.name}, line {number}: no sample of lm-evaluation-harness: it has no doc_id."
            )
        count += 1
        marks = list(_list_harness_marks(sample)) or [(None, None, None)]
        for place, (metric, mark, text) in enumerate(marks):
            rows.append(
                {
                    "row_number": len(rows) + 1,
                    "model": model,
                    "item_id": str(sample["doc_id"]),
                    "metric": metric,
                    "mark": mark,
                    "mark_text": text,
                    "answer": _flatten(sample.get("filtered_resps")),
                    "response": _flatten(sample.get("resps")),
                    "record": line if place == 0 else None,
                }
            )
    if not count:
        raise UsageError(f"{path.name} holds no sample.")
    return Log(task, rows, count)


def _read_inspect(path: Path) -> tuple[Mapping[str, Any], Iterator[Any]]:
    if not path.is_file():
        raise UsageError(f"The file {path} does not exist.")
    if zipfile.is_zipfile(path):
        return _read_archive(path)
    try:
        log = _parse_object(path.read_text(encoding="utf-8-sig"), path.name)
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is no log of Inspect: neither an archive nor UTF-8 text.") from None
    samples = log.get("samples") or []
    return log, iter(samples if isinstance(samples, list) else [])


def _read_archive(path: Path) -> tuple[Mapping[str, Any], Iterator[dict[str, Any]]]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if sum(entry.file_size for entry in archive.infolist()) > MOST_BYTES:
            raise UsageError(
                f"{path.name} unpacks to more than {MOST_BYTES // 1024**3} GiB. It was not read."
            )
        if "header.json" not in names:
            raise UsageError(
                f"{path.name} has no header.json: it is no log of Inspect, or its run was not finished. Import one that was."
            )
        header = _parse_object(_read_text(archive, "header.json", path), f"{path.name}, header.json")
    # A sample that was written twice stands twice in the list of names; the last one counts, as for Inspect.
    members = sorted({name for name in names if name.startswith("samples/") and name.endswith(".json")})

    def read() -> Iterator[dict[str, Any]]:
        with zipfile.ZipFile(path) as archive:
            for name in members:
                yield _parse_object(_read_text(archive, name, path), f"{path.name}, {name}")

    return header, read()


def _read_text(archive: zipfile.ZipFile, name: str, path: Path) -> str:
    try:
        return read_member(archive, name).decode("utf-8")
    except (NotImplementedError, zipfile.BadZipFile, zlib.error, OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path.name}, {name}: cannot be unpacked ({type(error).__name__}). Convert the log with `inspect log convert --to json` "
            "and import that."
        ) from None


def _parse_object(text: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{place}: no JSON, or nested too deeply. Check the file.") from None
    if not isinstance(value, dict):
        raise UsageError(f"{place}: no JSON object. Check the file.")
    return value


def _describe_inspect(sample: Mapping[str, Any], model: str, day: date | None) -> dict[str, object]:
    output = sample.get("output")
    completion = output.get("completion") if isinstance(output, dict) else None
    epoch = sample.get("epoch")
    return {
        "model": model,
        "item_id": str(sample.get("id")),
        "repeat": epoch if isinstance(epoch, int) and 1 <= epoch <= MOST_REPEAT else None,
        "response": completion if isinstance(completion, str) else None,
        "scored_on": day,
    }


def _list_inspect_marks(
    sample: Mapping[str, Any],
) -> Iterator[tuple[str | None, float | None, str | None, str | None]]:
    scores = sample.get("scores")
    for scorer, score in (scores or {}).items() if isinstance(scores, dict) else ():
        if not isinstance(score, dict):
            continue
        value, answer = score.get("value"), score.get("answer")
        said = answer if isinstance(answer, str) else None
        # A scorer may give several values under names of its own.
        values = value.items() if isinstance(value, dict) else [(None, value)]
        for name, one in values:
            metric = str(scorer) if name is None else f"{scorer}/{name}"
            if isinstance(one, str) and one in _LETTERS:
                yield metric, _LETTERS[one], one, said
            elif isinstance(one, list):
                yield metric, None, json.dumps(one, ensure_ascii=False), said
            else:
                yield metric, *split_mark(one), said


def _list_harness_marks(sample: Mapping[str, Any]) -> Iterator[tuple[str | None, float | None, str | None]]:
    named = sample.get("metrics")
    metrics = named if isinstance(named, list) else [name for name in sample if name not in _HARNESS_FIELDS]
    filtered = sample.get("filter")
    for metric in metrics:
        if metric not in sample:
            continue
        value = sample[metric]
        name = str(metric) if filtered in (None, "none") else f"{metric},{filtered}"
        if isinstance(value, bool | int | float | str) or value is None:
            yield name, *split_mark(value)
        else:
            yield name, None, json.dumps(value, ensure_ascii=False)


def _render_record(sample: Mapping[str, Any]) -> str:
    """The sample as JSON; half a surrogate pair, which no store keeps, stays an escape."""
    text = json.dumps(sample, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(sample)
    return text


def _flatten(value: object) -> str | None:
    """One text out of nested lists of one; anything else as JSON."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The unpacked bytes of a member of an archive that is open for reading.

    Raises BadZipFile for what is damaged, longer or shorter than the archive says, NotImplementedError for a packing that is none of
    stored, Deflate, BZIP2, LZMA and Zstandard.
    """
    entry = archive.getinfo(name)
    if entry.compress_type != ZSTANDARD:
        return archive.read(entry)
    file = archive.fp
    if file is None or entry.flag_bits & 1:
        raise zipfile.BadZipFile("closed or encrypted")
    file.seek(entry.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile("no local header")
    _, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    file.seek(name_length + extra_length, 1)
    packed = file.read(entry.compress_size)
    try:
        with pa.input_stream(pa.BufferReader(packed), compression="zstd") as stream:
            # One byte more than promised is enough to know that the promise is broken.
            unpacked: bytes = stream.read(entry.file_size + 1)
    except (OSError, pa.ArrowException):
        raise zipfile.BadZipFile("damaged") from None
    if len(unpacked) != entry.file_size or zlib.crc32(unpacked) != entry.CRC:
        raise zipfile.BadZipFile("damaged")
    return unpacked
