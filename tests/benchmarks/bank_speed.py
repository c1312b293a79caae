"""The bank at full size: duplicates, publishing, arrivals and planning.

They are measured in CPU seconds and peak memory.

Each measure runs in a process of its own, so that its memory is its own. Questions are made from real ones by recombination
(`tests/benchmarks/large_bank.py`), with planted copies and edits whose truth is known.
Run: python -m tests.benchmarks.bank_speed [duplicates|publish|arrivals|seal|plan] [questions]
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from schemas.settings import Settings
from tests.benchmarks.large_bank import DECIDED, LargeBank, make_large_bank

PAPER, MILLION = 228_604, 1_000_000
THRESHOLD = 0.8
ARRIVALS = 1_000
# What the comparison reads of a question.
_COMPARED = (
    *(
        "question_uuid",
        "lineage_uuid",
        "document_id",
        "question_type",
        "stem",
        "material",
        "options",
        "answer",
    ),
    *("explanation", "discipline", "sub_discipline", "source_kind", "accept_count", "decided_at"),
)
# Of these, brute force compares every pair.
SAMPLE = 6_000


def main(arguments: list[str] | None = None) -> None:
    """All measures at both sizes, or the one that is named."""
    given = sys.argv[1:] if arguments is None and __name__ == "__main__" else arguments or []
    if len(given) >= 2:
        print(json.dumps(MEASURES[given[0]](*map(int, given[1:]))))
        return
    for name in given or ["duplicates", "publish", "arrivals", "seal", "plan"]:
        for size in (PAPER,) if name in ("seal", "plan") else (PAPER, MILLION):
            _print_measure(name, size)


def _print_measure(name: str, size: int) -> None:
    print(f"\n## {name}, {size:,} questions\n")
    for label, found in (_measure_apart(name, size) or {}).items():
        print(f"{label:<58}{_show(found)}")


def _measure_apart(name: str, size: int) -> dict[str, Any] | None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.bank_speed", name, str(size)], capture_output=True, text=True
    )
    if done.returncode:
        print(f"{name} failed: {done.stderr[-600:]}")
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _show(value: float) -> str:
    return f"{value:>14,.4f}" if isinstance(value, float) else f"{value:>14,}"


def _clock() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _find_duplicates(size: int) -> dict[str, Any]:
    from tasks.bank.dedupe.duplicates import decide, rank_by_preference
    from tasks.bank.dedupe.index import read_texts
    from tasks.bank.dedupe.likeness import NOTHING_KNOWN, find_likeness
    from tasks.bank.dedupe.near import asks_the_same, compute_similarity
    from tests.benchmarks.duplicate_truth import join_exactly
    from tests.tasks.bank.kit import compute_jaccard, compute_signatures, list_near_pairs

    made = _write_away(size)
    contents = (
        pl.read_parquet(made["decisions"], columns=list(_COMPARED))
        .rechunk()
        .with_columns(pl.lit("original").alias("method"), pl.lit(value=False).alias("is_known"))
    )
    before_mb = _peak_mb()
    started = _clock()
    ranked = rank_by_preference(contents)
    signatures = compute_signatures(contents, ranked["place"])
    signed = _clock()
    likeness = find_likeness(ranked, signatures, NOTHING_KNOWN, NOTHING_KNOWN.members, THRESHOLD)
    compared = _clock()
    decision = decide(ranked, likeness)
    ended = _clock()
    peak_mb = _peak_mb()

    # The truth: planted edits, held to the same definition, and every pair of a sample by brute force.
    place_of = {uuid: place for place, uuid in enumerate(ranked["question_uuid"].to_list())}
    names = contents["question_uuid"].to_list()
    near = {(left, right) for left, others in likeness.near.items() for right, _ in others}
    planted = _read_pairs(made["edits"], names, place_of)
    texts = dict(
        zip(
            sorted({place for pair in planted for place in pair}),
            read_texts(signatures.forms[sorted({place for pair in planted for place in pair})]),
            strict=True,
        )
    )
    true_pairs = [
        (left, right)
        for left, right in planted
        if (similarity := compute_similarity(texts[left], texts[right], THRESHOLD)) is not None
        and similarity < 1
    ]
    copies = _read_pairs(made["copies"], names, place_of)
    found = sum((likeness.copies[left], likeness.copies[right]) in near for left, right in true_pairs)
    keys = signatures.forms["content_key"].to_list()
    equal = sum(keys[left] == keys[right] for left, right in copies)
    some = sorted(random.Random(3).sample(range(ranked.height), min(SAMPLE, ranked.height)))
    sampled = list(read_texts(signatures.forms[some]))
    truth = {
        (some[left], some[right])
        for left, right in join_exactly(sampled)
        if asks_the_same(sampled[left], sampled[right], THRESHOLD)
        and compute_jaccard(sampled[left].grams, sampled[right].grams) < 1
    }
    shown = sum((likeness.copies[left], likeness.copies[right]) in near for left, right in truth)
    checked = list(list_near_pairs(signatures, likeness.copies, THRESHOLD))[:5_000]
    right_ones = 0
    for left, right, _ in checked:
        one, other = read_texts(signatures.forms[[left, right]])
        right_ones += compute_similarity(one, other, THRESHOLD) is not None
    return {
        "CPU s: keys, normal forms and MinHash": signed - started,
        "CPU s: pairs and exact Jaccard": compared - signed,
        "CPU s: which copy stays": ended - compared,
        "CPU s: together": ended - started,
        "peak MB (questions included)": peak_mb,
        "MB before (the questions themselves)": before_mb,
        "questions left out": len(decision.found),
        "planted copies": len(copies),
        "of these with one key": equal,
        "planted edits, .8 <= J < 1": len(true_pairs),
        "recall of planted edits, .8 <= J < 1": found / max(1, len(true_pairs)),
        "pairs of brute force in a sample, .8 <= J < 1": len(truth),
        "recall of those": shown / max(1, len(truth)),
        "precision of 5,000 pairs, verified": right_ones / max(1, len(checked)),
    }


def _publish_whole(size: int) -> dict[str, Any]:
    """A bank of the paper's shape, published at once, and then again.

    A third of it is originals, the rest is statements by template.
    """
    from tasks.bank.dedupe import land_bank

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder) / "home")
        lake = _fill_lake(settings, size)
        with lake:
            started = _clock()
            first = land_bank(lake, settings)
            published = _clock()
            again = land_bank(lake, settings)
            ended = _clock()
            assert first is not None
            assert again is not None
            assert again.is_unchanged
        return {
            "questions in the bank": first.question_count,
            "CPU s: publish the whole": published - started,
            "CPU s: publish again (nothing changed)": ended - published,
            "peak MB": _peak_mb(),
        }


def _publish_arrivals(size: int) -> dict[str, Any]:
    """A thousand reviewed originals arrive at a bank of that size."""
    with tempfile.TemporaryDirectory() as folder:
        # The bank is published by another process, so that memory and caches are those of the arrivals alone.
        _in_child(f"from tests.benchmarks.bank_speed import _fill_and_publish as f; f({folder!r}, {size})")
        report = _in_child(f"from tests.benchmarks.bank_speed import _arrive as f; f({folder!r}, {size})")
        found: dict[str, Any] = json.loads(report.splitlines()[-1])
        return found


def _fill_and_publish(folder: str, size: int) -> None:
    from tasks.bank.dedupe import land_bank

    settings = Settings(home=Path(folder) / "home")
    with _fill_lake(settings, size) as lake:
        land_bank(lake, settings)


def _arrive(folder: str, size: int) -> None:
    from tasks.bank.dedupe import land_bank
    from warehouse.lake import open_lake

    settings = Settings(home=Path(folder) / "home")
    new = make_large_bank(ARRIVALS, seed=size, batch_id="late").decisions
    with open_lake(settings) as lake:
        lake.land(
            "review_decisions",
            "late",
            new.with_columns(pl.lit(DECIDED + timedelta(days=9)).alias("decided_at")),
        )
        before_mb, started = _peak_mb(), _clock()
        build = land_bank(lake, settings)
        ended = _clock()
    assert build is not None
    print(
        json.dumps(
            {
                "questions in the bank": build.question_count,
                "arrivals that entered": build.contents.height,
                "duplicates found": build.duplicates.height,
                "CPU s: publish 1,000 arrivals": ended - started,
                "peak MB": _peak_mb(),
                "MB before": before_mb,
            }
        )
    )


def _seal(size: int) -> dict[str, Any]:
    """The public file of a bank version of that size.

    It is made, and checked before another run names it.
    """
    from tasks.exam.plan.bank import index_bank
    from tasks.exam.public.bank import LakeRows, read_blinding_secret, seal_bank
    from warehouse.lake import open_lake

    with tempfile.TemporaryDirectory() as folder:
        _in_child(f"from tests.benchmarks.bank_speed import _fill_and_publish as f; f({folder!r}, {size})")
        settings = Settings(home=Path(folder) / "home")
        with open_lake(settings, read_only=True) as lake:
            before_mb, started = _peak_mb(), _clock()
            index = index_bank(LakeRows(lake), settings.disciplines, read_blinding_secret(settings))
            indexed, indexed_mb = _clock(), _peak_mb()
            seal_bank(index, LakeRows(lake), settings.home / "public")
            sealed, sealed_mb = _clock(), _peak_mb()
            seal_bank(index, LakeRows(lake), settings.home / "public")
            ended = _clock()
        (path,) = (settings.home / "public" / "banks").glob("*.jsonl")
        return {
            "questions": len(index.question_uuids),
            "lineages": len(index.lineage_uuids),
            "CPU s: index the bank": indexed - started,
            "CPU s: seal it": sealed - indexed,
            "CPU s: check the file": ended - sealed,
            "MB of the file": path.stat().st_size / 1e6,
            "peak MB": sealed_mb,
            "of these the index and the program": indexed_mb,
            "MB before": before_mb,
        }


def _plan(size: int, candidates: int = 60) -> dict[str, Any]:
    """Preview and publish a plan on a bank of that size.

    The plan has so many candidates, 3 styles, and 3 repeats of 1,000 questions.

    Its bank version is sealed before, as by the run before it.
    """
    from tasks.exam.month import preview_month, publish_month
    from tasks.exam.plan import RunWishes
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    with tempfile.TemporaryDirectory() as folder:
        _in_child(f"from tests.benchmarks.bank_speed import _fill_and_publish as f; f({folder!r}, {size})")
        settings = Settings(home=Path(folder) / "home", repeats=3)
        settings.registry_path.write_text(_render_registry(candidates), "utf-8")
        _in_child(f"from tests.benchmarks.bank_speed import _seal_away as f; f({folder!r})")
        with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
            before_mb, started = _peak_mb(), _clock()
            plan = preview_month(
                ledger, lake, settings, RunWishes("2026-11", [f"m{n}" for n in range(candidates)])
            )
            assert plan is not None
            previewed = _clock()
            publish_month(ledger, settings, plan)
            ended = _clock()
        return {
            "sessions": len(plan.sessions),
            "questions to be put": plan.call_count,
            "CPU s: preview": previewed - started,
            "CPU s: publish": ended - previewed,
            "CPU s: plan and publish": ended - started,
            "peak MB": _peak_mb(),
            "MB before": before_mb,
        }


def _seal_away(folder: str) -> None:
    """Seal the bank of a home that the plan is made in."""
    from tasks.exam.plan.bank import index_bank
    from tasks.exam.public.bank import LakeRows, read_blinding_secret, seal_bank
    from warehouse.lake import open_lake

    settings = Settings(home=Path(folder) / "home")
    with open_lake(settings, read_only=True) as lake:
        index = index_bank(LakeRows(lake), settings.disciplines, read_blinding_secret(settings))
        seal_bank(index, LakeRows(lake), settings.home / "public")


def _render_registry(count: int) -> str:
    """A registry of so many candidates, the first of them the reference.

    They belong to twenty organisations (a hundred for a thousand candidates).
    """
    import yaml

    owners = max(20, count // 10)

    models = {
        f"m{number}": {
            "provider": "own",
            "organisation": f"Lab {number % owners}",
            "endpoint_model": f"m{number}",
            **({"roles": ["candidate", "reference"]} if not number else {}),
        }
        for number in range(count)
    }
    return str(
        yaml.safe_dump(
            {
                "providers": {"own": {"base_url": "http://127.0.0.1:9/v1"}},
                "organisations": {f"Lab {number}": {} for number in range(owners)},
                "models": models,
            }
        )
    )


def _fill_lake(settings: Settings, size: int) -> Any:
    """A lake with decisions and template variants that come to about `size` questions."""
    from tests.tasks.bank.kit import augment_questions
    from warehouse.lake import Batch, open_lake

    lake = open_lake(settings)
    made = make_large_bank(round(size / 2.93)).decisions
    now = datetime(2026, 12, 1, tzinfo=UTC)
    for place, start in enumerate(range(0, made.height, 20_000)):
        name = f"b{place:03d}"
        rows = made[start : start + 20_000].with_columns(pl.lit(name).alias("batch_id"))
        variants, _ = augment_questions(rows, unit=name, now=now)
        lake.land_together([Batch("review_decisions", name, rows), Batch("variants", name, variants)])
    return lake


def _write_away(size: int) -> dict[str, str]:
    """Questions made by another process, whose memory is not ours."""
    folder = Path(tempfile.gettempdir()) / f"large-bank-{size}"
    names = {name: str(folder / f"{name}.parquet") for name in ("decisions", "copies", "edits")}
    if not all(Path(path).exists() for path in names.values()):
        _in_child(f"from tests.benchmarks.bank_speed import _make_files as f; f({str(folder)!r}, {size})")
    return names


def _make_files(folder: str, size: int) -> None:
    made: LargeBank = make_large_bank(size)
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    made.decisions.write_parquet(path / "decisions.parquet")
    for name, pairs in (("copies", made.copies), ("edits", made.edits)):
        pl.DataFrame({"place": list(pairs), "of": list(pairs.values())}).write_parquet(
            path / f"{name}.parquet"
        )


def _read_pairs(path: str, names: list[str], place_of: dict[str, int]) -> list[tuple[int, int]]:
    rows = pl.read_parquet(path).rows()
    pairs = ((place_of[names[place]], place_of[names[of]]) for place, of in rows)
    return [(min(pair), max(pair)) for pair in pairs]


def _in_child(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-800:])
    return done.stdout


MEASURES: dict[str, Callable[[int], dict[str, Any]]] = {
    "duplicates": _find_duplicates,
    "publish": _publish_whole,
    "arrivals": _publish_arrivals,
    "seal": _seal,
    "plan": _plan,
}


if __name__ == "__main__":
    main()
