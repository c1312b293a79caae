"""What a paper is by its path and its first lines: discipline and source kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tasks.ingest.mapping import find_mapped
from tasks.ingest.words.disciplines import find_discipline, name_discipline

_FINAL = re.compile(r"期末|期中|本科生|课程考试|(?i:final exam|mid-?term|undergraduate)")


_ENTRANCE = re.compile(
    r"考研|研究生入学|硕士(?:研究生)?(?:入学|招生)|博士(?:研究生)?入学|(?i:postgraduate entrance|graduate entrance|entrance examination for)"
)


def describe(
    document: dict[str, Any], head: str, path: Path, options: Mapping[str, Any], mapping: Mapping[str, Any]
) -> None:
    """Find discipline and source kind by mapping, folders, file name and the head of the paper.

    They are tried in this order.
    """
    merged = {**mapping["disciplines"], **(options.get("discipline_map") or {})}
    source = str(document["source_path"])
    mapped = find_mapped(source, merged)
    found = name_discipline(mapped) if mapped is not None else None
    if found is None:
        folders = list(reversed(path.parent.parts[-4:]))
        named = [
            name
            for name in (name_discipline(part) if part in _disciplines() else None for part in folders)
            if name
        ]
        found = named[0] if named else find_discipline([path.stem, *folders, *_titles(head)])
    if found is not None:
        document["discipline"], document["sub_discipline"] = found
    if options.get("source_kind"):
        document["source_kind"] = options["source_kind"]
        return
    hint = f"{source}\n{head[:800]}"
    if _ENTRANCE.search(hint):
        document["source_kind"] = "postgraduate_entrance"
    elif _FINAL.search(hint):
        document["source_kind"] = "undergraduate_final"


def _disciplines() -> tuple[str, ...]:
    from schemas.vocabulary import DISCIPLINES

    return DISCIPLINES


def _titles(head: str) -> list[str]:
    """The lines before the first question that name a course: `《…》` first, then the short ones."""
    lines = [line for line in head.split("\n")[:15] if line.strip()]
    quoted = [
        match for line in lines for match in re.findall(r"《([^》]{2,40})》", line) if "学位" not in match
    ]
    named = re.findall(r"(?:课程名称|考试科目|科目|Course|Subject)\s*[:：]\s*([^\n]{2,40})", "\n".join(lines))
    return [*named, *quoted, *(line for line in lines[:6] if len(line) < 60)]
