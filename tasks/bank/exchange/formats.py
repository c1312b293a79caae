"""Forms in which questions leave.

They are Parquet, JSON lines, a dataset and task of Inspect, a task of lm-evaluation-harness, and records. Pictures leave with their
questions: as a Parquet table or a folder beside the file, as parts of Inspect's messages, as images of the harness.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from schemas import patterns as re
from schemas.errors import UsageError, suggest
from tasks.questions import BareQuestion
from tasks.questions.forms import build_records, export_records, render_prompt
from tasks.questions.pictures import PICTURE, name_media_type, read_picture
from warehouse.stores.whole_files import SHARED, writing_whole

_TASK_NAME = re.compile(r"^[a-z][a-z0-9_]{0,60}$")
# What a closed answer begins with when it is given as the prompt asks for it.
_FIRST_WORDS = r"^\W*(true|false|True|False|TRUE|FALSE|正确|错误|[A-H]+)"
_TRUTHS = {("zh", "true"): "正确", ("zh", "false"): "错误"}
_INSPECT_TASK = '''"""Questions of Proctor's bank, version {version}: `inspect eval {name}.py --model …`."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
{scorer_import}from inspect_ai.solver import generate


@task
def {name}():
    """{count} questions, put as Proctor puts them, zero-shot."""
    return Task(
        dataset=json_dataset(str(Path(__file__).with_name("{name}.jsonl"))),
        solver=generate(),
        scorer={scorer},
    )
'''
_HARNESS_IMAGES = '''"""The pictures of a question, in the order in which its text names them."""

import base64
import io

from PIL import Image


def doc_to_image(doc):
    """Pictures as lm-evaluation-harness takes them."""
    return [Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB") for data in doc["pictures"]]
'''
# Where the harness puts a picture into a prompt.
_HARNESS_MARK = "<image>"


class _Function(str):
    """The name of a function that the harness loads from a file beside its task."""


class _Dumper(yaml.SafeDumper):
    """Writes a `_Function` by the tag of the harness."""


_Dumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", str(name)))


def write_parquet(questions: pl.DataFrame, path: Path, archive: Path) -> int:
    """The rows as Parquet, their pictures in `NAME.pictures.parquet` beside; returns how many."""
    pictures = _read_pictures(questions, archive)
    if pictures:
        rows = [
            {"sha256": sha256, "media_type": name_media_type(data), "data": data}
            for sha256, data in pictures.items()
        ]
        table = pl.DataFrame(rows, schema={"sha256": pl.String, "media_type": pl.String, "data": pl.Binary})
        beside = path.with_name(f"{path.stem}.pictures.parquet")
        with writing_whole(beside, SHARED) as draft:
            table.write_parquet(draft)
    with writing_whole(path, SHARED) as draft:
        questions.write_parquet(draft)
    return questions.height


def write_jsonl(questions: pl.DataFrame, path: Path, archive: Path) -> int:
    """One JSON object per row, pictures by SHA-256 in `NAME.pictures` beside; returns how many."""
    for sha256, data in _read_pictures(questions, archive).items():
        folder = path.with_name(f"{path.stem}.pictures")
        folder.mkdir(exist_ok=True)
        name = f"{sha256}.{name_media_type(data).removeprefix('image/')}"
        with writing_whole(folder / name, SHARED) as draft:
            draft.write_bytes(data)
    with writing_whole(path, SHARED) as draft:
        questions.write_ndjson(draft)
    return questions.height


def write_records(questions: pl.DataFrame, path: Path, archive: Path) -> int:
    """Write one record of figure 8 per question, without response and judge.

    Returns how many were written. Answers are never part of a record, nor are pictures: where there are any, it is refused.
    """
    if pictures := _read_pictures(questions, archive):
        raise UsageError(
            f"Records of figure 8 have no place for pictures, and these questions have {len(pictures)}. Take parquet, jsonl, inspect or "
            "lm-eval, or ask for other questions."
        )
    return export_records(build_records(questions), path)


def write_inspect(questions: pl.DataFrame, folder: Path, archive: Path) -> int:
    """Write a dataset of Inspect and a task that reads it.

    They are `NAME.jsonl` and `NAME.py` in the folder of that name. With the column `answer` the target is the
    key and the task scores it (closed questions by how the answer begins); without it targets are empty and
    nothing is scored. A question with pictures is a message of parts, text and images in turn.
    """
    name = _name_task(folder)
    pictures = _read_pictures(questions, archive)
    has_answers = "answer" in questions.columns
    lines = [
        json.dumps(
            {
                "id": row["question_uuid"],
                "input": _put_parts(row, pictures),
                "target": _state_target(row),
                "metadata": _describe(row),
            },
            ensure_ascii=False,
        )
        for row in questions.iter_rows(named=True)
    ]
    _write_text(folder / f"{name}.jsonl", "".join(f"{line}\n" for line in lines))
    _write_text(
        folder / f"{name}.py",
        _INSPECT_TASK.format(
            name=name,
            version=questions["bank_version"][0],
            count=questions.height,
            scorer='match(location="begin")' if has_answers else "None",
            scorer_import="from inspect_ai.scorer import match\n" if has_answers else "",
        ),
    )
    return len(lines)


def write_harness(questions: pl.DataFrame, folder: Path, archive: Path) -> int:
    """Write a task of lm-evaluation-harness and its data.

    They are `NAME.yaml` and `NAME.jsonl` in the folder of that name. With the column `answer` it scores exact
    matches of how the answer begins; without it nothing is compared (`bypass`). The task names its data by
    their absolute path: move both and correct it. With pictures it is a task of several modes: its prompts
    have `<image>` where one stands, and `pictures.py` opens them.
    """
    name = _name_task(folder)
    pictures = _read_pictures(questions, archive)
    has_answers = "answer" in questions.columns
    lines = [
        json.dumps(
            {"question_uuid": row["question_uuid"], "prompt": _put(row), "target": _state_target(row)}
            | (_put_images(row, pictures) if pictures else {})
            | _describe(row),
            ensure_ascii=False,
        )
        for row in questions.iter_rows(named=True)
    ]
    data = folder / f"{name}.jsonl"
    _write_text(data, "".join(f"{line}\n" for line in lines))
    task: dict[str, Any] = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data.resolve())}},
        "test_split": "test",
        "output_type": "generate_until",
        # Columns as they are: a template would read braces in a question as its own.
        "doc_to_text": "prompt",
        "doc_to_target": "target",
        "generation_kwargs": {"until": [], "max_gen_toks": 1024, "do_sample": False},
        "metadata": {"version": int(questions["bank_version"][0])},
    }
    if pictures:
        _write_text(folder / "pictures.py", _HARNESS_IMAGES)
        task["doc_to_image"] = _Function("pictures.doc_to_image")
    if has_answers:
        first_words = {"function": "regex", "regex_pattern": _FIRST_WORDS}
        task |= {
            "filter_list": [{"name": "first_words", "filter": [first_words, {"function": "take_first"}]}],
            "metric_list": [
                {
                    "metric": "exact_match",
                    "aggregation": "mean",
                    "higher_is_better": True,
                    "ignore_case": True,
                }
            ],
        }
    else:
        task |= {"metric_list": [{"metric": "bypass"}]}
    _write_text(folder / f"{name}.yaml", yaml.dump(task, Dumper=_Dumper, allow_unicode=True, sort_keys=False))
    return len(lines)


FORMATS: Mapping[str, Callable[[pl.DataFrame, Path, Path], int]] = {
    "parquet": write_parquet,
    "jsonl": write_jsonl,
    "inspect": write_inspect,
    "lm-eval": write_harness,
    "record": write_records,
}


def write_slice(questions: pl.DataFrame, form: str, path: Path, archive: Path) -> int:
    """Write the questions in a form of `FORMATS`; returns how many.

    They are written to a file, or to a folder for Inspect and the harness. The bytes of pictures are read from the archive: raises
    StoreError for one that is lost or changed, before anything is written.
    """
    if form not in FORMATS:
        raise UsageError(
            f"There is no format {form!r}.{suggest(form, FORMATS)} There are {', '.join(FORMATS)}."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    return FORMATS[form](questions, path, archive)


def _name_task(folder: Path) -> str:
    name = folder.name
    if not _TASK_NAME.match(name):
        raise UsageError(
            f"The folder {name!r} gives the task its name: write it in small letters, digits and underscores, for example law_slice."
        )
    folder.mkdir(parents=True, exist_ok=True)
    return name


def _put(row: Mapping[str, Any]) -> str:
    messages, _ = render_prompt(BareQuestion.from_row(row), "zero_shot", sees_pictures=True)
    return messages[-1]["content"]


def _read_pictures(questions: pl.DataFrame, archive: Path) -> dict[str, bytes]:
    """The bytes of every picture of the questions by hash, in order of hash."""
    held = questions["pictures"].to_list() if "pictures" in questions.columns else []
    wanted = sorted({one["sha256"] for some in held for one in some or ()})
    return {sha256: read_picture(archive, sha256) for sha256 in wanted}


def _put_parts(row: Mapping[str, Any], pictures: Mapping[str, bytes]) -> str | list[dict[str, Any]]:
    """The prompt as Inspect reads it: a text, or a message of parts with its pictures."""
    text = _put(row)
    held = _number_pictures(row)
    if not held:
        return text
    parts: list[dict[str, Any]] = []
    begun = 0
    for mark in PICTURE.finditer(text):
        sha256 = held.get(int(mark[1]))
        if sha256 is not None:
            # As candidates are put it: the picture comes after the mark that names it.
            parts.append({"type": "text", "text": text[begun : mark.end()]})
            address = f"data:{name_media_type(pictures[sha256])};base64,{base64.b64encode(pictures[sha256]).decode()}"
            parts.append({"type": "image", "image": address})
            begun = mark.end()
    if text[begun:].strip():
        parts.append({"type": "text", "text": text[begun:]})
    return [{"role": "user", "content": parts}]


def _put_images(row: Mapping[str, Any], pictures: Mapping[str, bytes]) -> dict[str, Any]:
    """The prompt as the harness reads it, with its pictures in the order of their places."""
    held = _number_pictures(row)
    prompt = _put(row)
    named = [int(mark[1]) for mark in PICTURE.finditer(prompt) if int(mark[1]) in held]
    return {
        "prompt": PICTURE.sub(
            lambda mark: f"{mark[0]}{_HARNESS_MARK}" if int(mark[1]) in held else mark[0], prompt
        ),
        "pictures": [base64.b64encode(pictures[held[number]]).decode() for number in named],
    }


def _number_pictures(row: Mapping[str, Any]) -> dict[int, str]:
    return {int(one["number"]): str(one["sha256"]) for one in row.get("pictures") or ()}


def _state_target(row: Mapping[str, Any]) -> str:
    """The reference answer as a candidate would write it; empty where answers do not leave."""
    answer = row.get("answer") or ()
    if row["question_type"] == "multiple_choice":
        return "".join(sorted(answer))
    return "; ".join(_TRUTHS.get((row["language"], text), text) for text in answer)


def _describe(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("bank_version", "question_type", "discipline", "sub_discipline", "language")
    return {name: row[name] for name in names}


def _write_text(path: Path, text: str) -> None:
    with writing_whole(path, SHARED) as draft:
        draft.write_text(text, "utf-8")
