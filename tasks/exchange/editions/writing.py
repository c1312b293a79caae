"""Sittings as files of Inspect and lm-evaluation-harness, each whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from schemas import patterns as re
from schemas.errors import UsageError
from tasks.exchange.editions.sittings import Sample, Sitting
from warehouse.stores.whole_files import SHARED, writing_whole

SCORER: Final = "stars"
# What Inspect calls the end of a reply; anything else is `unknown` to it.
_STOPS: Final = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
_UNSAFE: Final = re.compile(r"[^\w.-]+")


def write_inspect(sittings: Iterable[Sitting], folder: Path) -> list[Path]:
    """Write an Inspect log (JSON, version 2) per candidate and style, epochs as repeats; files."""
    return [
        _write(
            folder / f"{_name(sitting)}.json",
            [json.dumps(render_inspect(sitting), ensure_ascii=False, indent=1)],
        )
        for sitting in sittings
    ]


def write_harness(sittings: Iterable[Sitting], folder: Path) -> list[Path]:
    """Write one file `samples_TASK.jsonl` in a folder of each candidate.

    It is as `--log_samples` writes it; the task names run and style. Returns the files. What nobody could
    judge has no line: a sample without its metric is none to the harness.
    """
    return [
        _write(
            folder / _name_folder(sitting.model) / f"samples_{_clean(_name_task(sitting))}.jsonl",
            (json.dumps(line, ensure_ascii=False) for line in iter_harness(sitting)),
        )
        for sitting in sittings
    ]


def render_inspect(sitting: Sitting) -> dict[str, Any]:
    """A log as Inspect reads it: stars 0 to 3 of one scorer; no score where none was judged."""
    edition = sitting.edition
    judged = [sample for sample in sitting.samples if sample.stars is not None]
    epochs = max((sample.repeat for sample in sitting.samples), default=0)
    at = edition["published_at"].isoformat()
    mean = sum(sample.stars or 0 for sample in judged) / len(judged) if judged else 0.0
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": _hash(edition["edition_id"], sitting.model, sitting.prompt_style)[:22],
            "run_id": _hash(edition["edition_id"])[:22],
            "created": at,
            "task": _name_task(sitting),
            "task_id": _hash(sitting.prompt_style)[:22],
            "task_version": 0,
            "task_attribs": {},
            "task_args": {"prompt_style": sitting.prompt_style},
            "dataset": {
                "name": f"bank-{edition['bank_version']}",
                "samples": len({sample.question_uuid for sample in sitting.samples}),
            },
            "model": sitting.model,
            "model_args": {},
            "config": {"epochs": epochs},
            "packages": {"proctor": str(edition["code_version"])},
            "metadata": {
                "edition": edition["edition_id"],
                "judge": edition["judge"],
                "judge_prompt_version": edition["judge_prompt_version"],
                "is_simulated": edition["is_simulated"],
                "grade": edition["grade"],
            },
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(sitting.samples),
            "completed_samples": len(sitting.samples),
            "scores": [
                {
                    "name": SCORER,
                    "scorer": SCORER,
                    "scored_samples": len(judged),
                    "unscored_samples": len(sitting.samples) - len(judged),
                    "params": {},
                    "metrics": {"mean": {"name": "mean", "value": mean, "params": {}}},
                }
            ],
        },
        "stats": {
            "started_at": edition["planned_at"].isoformat(),
            "completed_at": at,
            "model_usage": {sitting.model: _sum_usage(sitting.samples)},
        },
        "samples": [_render_sample(sample, sitting.model) for sample in sitting.samples],
    }


def iter_harness(sitting: Sitting) -> Iterator[dict[str, Any]]:
    """The lines of one file of samples."""
    numbers: dict[str, int] = {}
    for sample in sitting.samples:
        if sample.stars is None:
            continue
        number = numbers.setdefault(sample.question_uuid, len(numbers))
        prompt = "\n\n".join(message["content"] for message in sample.messages)
        doc = {
            "question_uuid": sample.question_uuid,
            "discipline": sample.discipline,
            "repeat": sample.repeat,
            "question": prompt,
        }
        response = sample.answer.get("response") or ""
        yield {
            "doc_id": number,
            "doc": doc,
            "target": sample.target,
            "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {}}},
            "resps": [[response]],
            "filtered_resps": [response],
            "filter": "none",
            "metrics": [SCORER],
            "doc_hash": _hash(json.dumps(doc, ensure_ascii=False)),
            "prompt_hash": _hash(prompt),
            "target_hash": _hash(sample.target),
            SCORER: sample.stars,
        }


def _render_sample(sample: Sample, model: str) -> dict[str, Any]:
    answer = sample.answer
    response = answer.get("response") or ""
    content: Any = response
    if answer.get("reasoning"):
        content = [
            {"type": "reasoning", "reasoning": answer["reasoning"]},
            {"type": "text", "text": response},
        ]
    reply = {"role": "assistant", "content": content, "source": "generate", "model": model}
    stop = _STOPS.get(answer.get("finish_reason") or "stop", "unknown")
    latency = answer.get("latency_ms")
    rendered: dict[str, Any] = {
        "id": sample.question_uuid,
        "epoch": sample.repeat,
        "input": [dict(message) for message in sample.messages],
        "target": sample.target,
        "messages": [*(dict(message) for message in sample.messages), *([reply] if answer else [])],
        "output": {
            "model": model,
            "choices": [{"message": reply, "stop_reason": stop}] if answer else [],
            "completion": response,
            "usage": _usage(answer),
            **({} if latency is None else {"time": latency / 1000}),
        },
        "scores": {},
        "metadata": {
            "discipline": sample.discipline,
            "answer_status": answer.get("answer_status") or "unanswered",
            "score_status": sample.score_status,
            "cost_usd": answer.get("cost_usd"),
        },
        "model_usage": {model: _usage(answer)},
    }
    if sample.stars is not None:
        rendered["scores"][SCORER] = {
            "value": sample.stars,
            "answer": answer.get("answer") or response,
            "explanation": sample.reason,
            "metadata": {"judge": sample.judge},
        }
    return rendered


def _usage(answer: Mapping[str, Any]) -> dict[str, int]:
    given, made = int(answer.get("input_tokens") or 0), int(answer.get("output_tokens") or 0)
    return {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}


def _sum_usage(samples: Iterable[Sample]) -> dict[str, int]:
    total = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    for sample in samples:
        for name, count in _usage(sample.answer).items():
            total[name] += count
    return total


def _name(sitting: Sitting) -> str:
    """The log's name in the only form that Inspect recognises: moment, task, its own mark."""
    moment = sitting.edition["published_at"].strftime("%Y-%m-%dT%H-%M-%S+00-00")
    which = _hash(str(sitting.edition["edition_id"]), sitting.model, sitting.prompt_style)[:8]
    parts = (_name_task(sitting), f"{sitting.model}-{which}")
    return "_".join([moment, *(_clean(part).replace("_", "-") for part in parts)])


def _name_task(sitting: Sitting) -> str:
    return f"proctor-{sitting.edition['run_id']}-{sitting.prompt_style}"


def _name_folder(model: str) -> str:
    """A folder for each candidate: `a/b` and `a-b` would else write over each other."""
    name = _clean(model)
    return name if name == model else f"{name}-{_hash(model)[:8]}"


def _clean(name: str) -> str:
    """A name that can be a file's: letters of any script, digits, dots, dashes."""
    return _UNSAFE.sub("-", name).strip("-.") or "unnamed"


def _hash(*parts: str) -> str:
    return hashlib.sha256("|".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _write(path: Path, lines: Iterable[str]) -> Path:
    """The file, in place of one of that name only when all of it is written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing_whole(path, SHARED) as draft, draft.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}). Choose another folder.") from None
    return path
