"""One page that shows how a paper was read: its text, beside it the questions found in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import yaml

from tasks.ingest.content.notes import read_notes
from tasks.ingest.documents import ParsedDocument


@dataclass
class Block:
    """A stretch of the text (`question`, `unclaimed` or `used`) and the questions in it."""

    kind: str
    text: str
    questions: list[dict[str, Any]] = field(default_factory=list)


def render_check_page(parsed: ParsedDocument) -> str:
    """Return the page as HTML: self-contained, without scripts, nothing loaded from anywhere.

    Everything that comes from the paper is escaped. Labels are Chinese or English, the document's language first.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tasks.ingest"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = resources.files("tasks.ingest.words").joinpath("check_page.yaml").read_text(encoding="utf-8")
    text = str(parsed.text["text"]) if parsed.text is not None else ""
    blocks = make_blocks(text, parsed.questions)
    placed = {id(question) for block in blocks for question in block.questions}
    return environment.get_template("check.html.j2").render(
        document=parsed.document,
        blocks=blocks,
        homeless=[question for question in parsed.questions if id(question) not in placed],
        questions=parsed.questions,
        unclaimed=sum(len("".join(block.text.split())) for block in blocks if block.kind == "unclaimed"),
        notes=read_notes(),
        **yaml.safe_load(words),
    )


def make_blocks(text: str, questions: Sequence[dict[str, Any]]) -> list[Block]:
    """Cut the text at the questions' places; questions whose places overlap share one."""
    placed = sorted(
        (
            question
            for question in questions
            if question["text_start"] is not None
            and question["text_end"] is not None
            and 0 <= question["text_start"] < question["text_end"] <= len(text)
        ),
        key=lambda question: (question["text_start"], question["position"]),
    )
    materials = "".join("".join((question["material"] or "").split()) for question in questions)
    blocks: list[Block] = []
    position = 0
    for question in placed:
        start, end = question["text_start"], question["text_end"]
        if start < position:
            block = next(block for block in reversed(blocks) if block.kind == "question")
            block.questions.append(question)
            if end > position:
                block.text += text[position:end]
                position = end
            continue
        _add_gap(blocks, text[position:start], materials)
        blocks.append(Block("question", text[start:end], [question]))
        position = end
    _add_gap(blocks, text[position:], materials)
    return blocks


def _add_gap(blocks: list[Block], text: str, materials: str) -> None:
    """Add what stands between two questions; mere white space stays with the block before it."""
    if blocks and not text.strip():
        blocks[-1].text += text
    else:
        blocks.extend(_cut_unclaimed(text, materials))


def _cut_unclaimed(text: str, materials: str) -> list[Block]:
    """Tell lines that became the material of a question from those that became nothing."""
    blocks: list[Block] = []
    for line in text.splitlines(keepends=True):
        folded = "".join(line.split())
        if folded:
            kind = "used" if len(folded) > 3 and folded in materials else "unclaimed"
        else:
            kind = blocks[-1].kind if blocks else "unclaimed"
        if blocks and blocks[-1].kind == kind:
            blocks[-1].text += line
        else:
            blocks.append(Block(kind, line))
    return blocks
