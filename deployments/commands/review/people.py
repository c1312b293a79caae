"""The people of the review gate, and letters to them: annotator, reassign, remind, messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.review.handed_in import Batch
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.review.assigning import write_annotator
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger

if TYPE_CHECKING:
    from tasks.review.assigning import Reassignment
    from tasks.review.desk import Conversation, ReadVersion
    from tasks.review.overview import Reminder

# Imported within a function: what brings Polars or email. Not every command here needs it.


def annotator(
    user_id: Annotated[str, typer.Argument(help="The annotator.")],
    level: Annotated[
        list[str] | None,
        typer.Option(
            "--level", help="DISCIPLINE=novice, regular or expert, or one word for all; repeat for several."
        ),
    ] = None,
    language: Annotated[str, typer.Option("--language", help="zh or en, of letters to them.")] = "",
    email: Annotated[str, typer.Option("--email", help="Where reminders go.")] = "",
    daily_quota: Annotated[
        int | None, typer.Option("--daily-quota", min=0, help="Questions a day; 0 for the setting.")
    ] = None,
    due_days: Annotated[
        int | None, typer.Option("--due-days", min=0, help="Days of their window; 0 for the setting.")
    ] = None,
) -> None:
    """Show or set who an annotator is: level, language, address, daily quota and window.

    What is not named stays as it is.

    Example: proctor review annotator zhang --level History=expert --level Law=novice --daily-quota 20 --language zh
    """
    levels = {discipline or "*": word for discipline, _, word in (one.rpartition("=") for one in level or [])}
    with open_ledger(load_settings().ledger_address) as ledger:
        person = write_annotator(
            ledger,
            user_id,
            levels=levels,
            language=language or None,
            email=email or None,
            daily_quota=daily_quota,
            due_days=due_days,
        )
    result = {
        "user_id": person.user_id,
        "disciplines": None if person.disciplines is None else list(person.disciplines),
        "levels": dict(person.levels),
        "language": person.language,
        "email": person.email,
        "daily_quota": person.daily_quota,
        "due_days": person.due_days,
    }
    print_result(result)


def reassign(
    user_id: Annotated[str, typer.Argument(help="Who drops out.")],
    to: Annotated[str, typer.Option("--to", help="Who takes the work; default: shared out.")] = "",
    batch_id: Batch = "",
) -> None:
    """Move what an annotator has not decided to others of the discipline; decisions stay.

    Example: proctor review reassign zhang --to li
    """
    from tasks.review.assigning import reassign as move

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        done = move(ledger, user_id, settings, now_text(), to=to or None, batch_id=batch_id or None)
    print_result(
        {"annotator": user_id, "batches": [asdict(one) for one in done]}, lines=_describe_moves(user_id, done)
    )
    if any(one.left for one in done):
        raise typer.Exit(1)


def remind(
    batch_id: Batch = "",
    send: Annotated[
        bool, typer.Option("--send", help="By e-mail, through the server that PROCTOR_SMTP_HOST names.")
    ] = False,
) -> None:
    """Write a letter to everybody with open work, in their language.

    The letter says how much is open, until when, and how much that is a day. It holds no question's text.

    Example: proctor review remind
    """
    from tasks.review.overview import send_reminders, write_reminders

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        letters = write_reminders(ledger, settings, now_text(), batch_id or None)
    if send:
        letters = send_reminders(letters, settings)
    print_result(
        {"reminders": [asdict(one) for one in letters]}, lines=_describe_letters(letters, is_sent=send)
    )
    if send and not all(one.sent for one in letters):
        raise typer.Exit(1)


def _describe_moves(user_id: str, done: Sequence[Reassignment]) -> list[str]:
    lines = []
    for one in done:
        moved = ", ".join(f"{count} to {name}" for name, count in one.moved.items()) or "nothing moved"
        due = f", due {one.due_at[:10]} or later" if one.due_at else ""
        lines.append(f"Batch {one.batch_id}: {moved}{due}")
        lines += [
            f"    {discipline}: {count} stay with {user_id}, nobody else can take them"
            for discipline, count in one.left.items()
        ]
    if not done:
        return [f"{user_id} has no open work.", "Next: proctor review status"]
    if any(one.left for one in done):
        lines.append("Next: add annotators, or raise their quota, and run the command again")
    else:
        lines.append(
            f"Next: proctor review export workbooks; if {user_id} leaves for good: proctor exam user deactivate {user_id}"
        )
    return lines


def _describe_letters(letters: Sequence[Reminder], *, is_sent: bool) -> list[str]:
    if not letters:
        return ["Nobody has open work.", "Next: proctor review status"]
    if is_sent:
        return [
            f"{one.annotator}: " + (f"sent to {one.email}" if one.sent else f"not sent: {one.error}")
            for one in letters
        ] + ["Next: proctor review status"]
    lines = []
    for one in letters:
        lines += [f"To {one.annotator}{f' <{one.email}>' if one.email else ''}: {one.subject}", "", one.text]
    return [*lines, "Next: send these texts, or: proctor review remind --send"]


def messages(
    unanswered: Annotated[
        bool, typer.Option("--unanswered", help="Only those that wait for a coordinator.")
    ] = False,
) -> None:
    """What annotators asked on questions under review, and what was answered.

    A line is a conversation with its last message. It is answered in the browser (proctor web), by a user of the role admin or
    examiner.

    Example: proctor review messages --unanswered
    """
    from tasks.review.desk import list_conversations

    with open_ledger(load_settings().ledger_address) as ledger:
        found = [one for one in list_conversations(ledger) if one.is_waiting or not unanswered]
    print_result({"messages": [asdict(one) for one in found]}, lines=_describe_messages(found))


def guidelines(
    publish: Annotated[
        str, typer.Option("--publish", help="What changed; every annotator reads it before they go on.")
    ] = "",
    chinese: Annotated[str, typer.Option("--chinese", help="The same in Chinese.")] = "",
) -> None:
    """Show the versions of the guidelines by which annotators decide, or publish the next one.

    Each decision names the version that its annotator had read, or that their workbook showed.

    Example: proctor review guidelines

    Example: proctor review guidelines --publish "A question whose figure is missing is rejected as unclear."
    """
    from tasks.review.desk import list_guidelines, publish_guidelines

    if chinese and not publish:
        raise UsageError("--chinese goes with --publish, which everybody else reads. Give both.")
    with open_ledger(load_settings().ledger_address) as ledger:
        if publish:
            publish_guidelines(ledger, publish, now_text(), changes_zh=chinese)
        found = list_guidelines(ledger)
    rows = [one.version.as_values() | {"reader_count": one.reader_count} for one in found]
    print_result({"guidelines": rows}, lines=_describe_guidelines(found))


def _describe_messages(found: Sequence[Conversation]) -> list[str]:
    lines = []
    for one in found:
        state = "WAITS" if one.is_waiting else "answered" if one.is_answered else "closed"
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
