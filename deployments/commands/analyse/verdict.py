"""Is one better than the other, and has one changed: `verdict`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import AsJson
from schemas.errors import UsageError
from schemas.settings import load_settings
from schemas.vocabulary import PROMPT_STYLES
from tasks.report import SpokenVerdict, compare_pair, follow_candidate, follow_family
from warehouse.lake.reading import LakeReader


def verdict(
    first: Annotated[str, typer.Argument(metavar="A", help="A published candidate.")] = "",
    second: Annotated[str, typer.Argument(metavar="B", help="The other one. Empty: has A changed?")] = "",
    family: Annotated[
        str, typer.Option("--family", help="Every member of a family beside the one before it, instead.")
    ] = "",
    style: Annotated[str, typer.Option("--style", help="Prompt style.")] = "zero_shot",
    language: Annotated[str, typer.Option("--language", help="Language of the sentences: en or zh.")] = "en",
    as_json: AsJson = False,
) -> None:
    """Say whether A is better than B, by how much, since when and how sure.

    Also: in which disciplines, on which evidence, and what would decide it. With one name: whether it has changed.

    Every interval and every "better" is corrected for all pairs (or candidates) that were looked at.

    Example: proctor verdict sim-basalt-2 sim-aurora-2

    Example: proctor verdict sim-basalt-2

    Example: proctor verdict --family basalt
    """
    if language not in ("en", "zh"):
        raise UsageError(f"--language is en or zh, not {language!r}.")
    if style not in PROMPT_STYLES:
        raise UsageError(f"--style is one of {', '.join(PROMPT_STYLES)}, not {style!r}.")
    if bool(first) == bool(family) or (family and second):
        raise UsageError("Name one candidate, two, or --family NAME; see: proctor sql standings.")
    with LakeReader(load_settings()) as reader:

        def read(name: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
            found = reader.run_named(name, dict(parameters))
            return [dict(zip(found.columns, row, strict=True)) for row in found.rows]

        if family:
            verdicts = follow_family(read, family, style)
        elif second:
            verdicts = [compare_pair(read, first, second, style)]
        else:
            verdicts = [follow_candidate(read, first, style)]
    place = 0 if language == "zh" else 1
    lines = [line for one in verdicts for line in (*_write(one, place), "")]
    print_result(
        {"verdicts": [asdict(one) | {"sentences": [said[1] for said in one.sentences]} for one in verdicts]},
        as_json=as_json,
        lines=lines[:-1],
    )


def _write(one: SpokenVerdict, place: int) -> list[str]:
    first, *rest = (said[place] for said in one.sentences)
    return [first, *(f"  {line}" for line in rest)]
