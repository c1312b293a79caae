"""What annotators and coordinators write to each other: review messages and guidelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import AsJson
from schemas.settings import load_settings
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger

if TYPE_CHECKING:
    from tasks.review.desk import Conversation, ReadVersion


def messages(
    unanswered: Annotated[
        bool, typer.Option("--unanswered", help="Only those that wait for a coordinator.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """What annotators asked on questions under review, and what was answered.

    A line is a conversation with its last message. It is answered in the browser (proctor web), by a user of the role admin or
    examiner.

    Example: proctor review messages --unanswered
    """
    from tasks.review.desk import list_conversations

    with open_ledger(load_settings().ledger_address) as ledger:
        found = [one for one in list_conversations(ledger) if one.is_waiting or not unanswered]
    print_result(
        {"messages": [asdict(one) for one in found]}, as_json=as_json, lines=_describe_messages(found)
    )


def guidelines(
    publish: Annotated[
        str, typer.Option("--publish", help="What changed; every annotator reads it before they go on.")
    ] = "",
    chinese: Annotated[str, typer.Option("--chinese", help="The same in Chinese.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show the versions of the guidelines by which annotators decide, or publish the next one.

    Each decision names the version that its annotator had read, or that their workbook showed.

    Example: proctor review guidelines

    Example: proctor review guidelines --publish "A question whose figure is missing is rejected as unclear."
    """
    from schemas.errors import UsageError
    from tasks.review.desk import list_guidelines, publish_guidelines

    if chinese and not publish:
        raise UsageError("--chinese goes with --publish, which everybody else reads. Give both.")
    with open_ledger(load_settings().ledger_address) as ledger:
        if publish:
            publish_guidelines(ledger, publish, now_text(), changes_zh=chinese)
        found = list_guidelines(ledger)
    rows = [one.version.as_values() | {"reader_count": one.reader_count} for one in found]
    print_result({"guidelines": rows}, as_json=as_json, lines=_describe_guidelines(found))


def _describe_messages(found: Sequence[Conversation]) -> list[str]:
    lines = []
    for one in found:
        state = "WAITS" if one.is_waiting else "answered"
        who = one.annotator or "everybody"
        lines.append(f"{one.batch_id}  {state}  {who}, {one.written_at[:10]}: {one.text}")
        lines.append(f"    on: {one.stem or 'a question that was taken out of the batch'}")
    return lines or ["Nobody has asked anything.", "Next: proctor review status"]


def _describe_guidelines(found: Sequence[ReadVersion]) -> list[str]:
    lines = []
    for one in found:
        version = one.version
        lines.append(f"Version {version.version}, {version.published_at[:10]}, read by {one.reader_count}")
        lines += [f"    {line}" for line in version.changes.splitlines()]
    return lines or [
        "No version was published: annotators decide by the instructions in their workbook and on the desk.",
        'Next: proctor review guidelines --publish "What changed"',
    ]
