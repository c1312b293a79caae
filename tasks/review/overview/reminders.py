"""Letters to annotators: how much is open, until when and at what pace; no question's text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING, Final

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from tasks.review.assigning import Annotator, read_everybody
from tasks.review.batch import read_batch
from tasks.review.overview.progress import Workload, list_workloads
from tasks.review.words import LANGUAGES, Language
from tasks.texts import read_texts
from warehouse.ledger.engine.ledger import Ledger

if TYPE_CHECKING:
    import smtplib

SMTP_TIMEOUT_S = 30.0
_SUBJECTS: dict[Language, str] = {
    "en": "Proctor: {open_count} questions to review until {due}",
    "zh": "Proctor：有 {open_count} 道题待审核，截止 {due}",
}
_TEXTS: Final[dict[Language, dict[str, str]]] = read_texts("tasks.review.overview", "reminders.yaml")


@dataclass(frozen=True)
class Reminder:
    """A letter.

    Attributes:
        annotator: whom it is for.
        email: where it goes; null where no address is registered.
        language: it is written in.
        subject, text: what it says.
        sent: whether it was handed to the mail server.
        error: why it was not, where it should have been; null otherwise.
    """

    annotator: str
    email: str | None
    language: Language
    subject: str
    text: str
    sent: bool = False
    error: str | None = None


def write_reminders(
    ledger: Ledger, settings: Settings, now: str, batch_id: str | None = None
) -> list[Reminder]:
    """A letter for everybody with open work, in one batch or all, by name.

    The settings hold for whom nothing else is registered. Raises UsageError where there is no such batch.
    """
    with ledger.read() as connection:
        if batch_id is not None:
            read_batch(connection, batch_id)
        people = read_everybody(connection)
    loads = [one for one in list_workloads(ledger, settings, now, batch_id) if one.open_count]
    return [_write(people.get(one.annotator) or Annotator(one.annotator), one) for one in loads]


def send_reminders(reminders: Sequence[Reminder], settings: Settings) -> list[Reminder]:
    """Hand the letters to the configured mail server; each says whether it went, and why not.

    Raises:
        UsageError: no mail server is configured.
        StoreError: it cannot be reached, or does not let us in.
    """
    import smtplib

    if settings.smtp_host is None:
        raise UsageError(
            "No mail server is configured. Set PROCTOR_SMTP_HOST and PROCTOR_SMTP_SENDER (and PROCTOR_SMTP_PORT, _USER, "
            "_PASSWORD, _SECURITY where they differ), or send the texts yourself."
        )
    try:
        with _connect(settings) as server:
            return [_send_one(server, one, settings) for one in reminders]
    except (OSError, smtplib.SMTPException) as error:
        raise StoreError(
            f"The mail server {settings.smtp_host}:{settings.smtp_port} did not take the letters ({type(error).__name__}). "
            "Check PROCTOR_SMTP_HOST, _PORT, _SECURITY, _USER and _PASSWORD. None of those not reported as sent have gone."
        ) from None


def _connect(settings: Settings) -> smtplib.SMTP:
    import smtplib
    import ssl

    host, port = str(settings.smtp_host), settings.smtp_port
    server: smtplib.SMTP
    if settings.smtp_security == "tls":
        server = smtplib.SMTP_SSL(host, port, timeout=SMTP_TIMEOUT_S, context=ssl.create_default_context())
    else:
        server = smtplib.SMTP(host, port, timeout=SMTP_TIMEOUT_S)
    try:
        if settings.smtp_security == "starttls":
            server.starttls(context=ssl.create_default_context())
        if settings.smtp_user and settings.smtp_password:
            server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
    except BaseException:
        server.close()
        raise
    return server


def _send_one(server: smtplib.SMTP, reminder: Reminder, settings: Settings) -> Reminder:
    import smtplib

    if reminder.email is None:
        return replace(reminder, error="no address is registered")
    message = EmailMessage()
    message["From"] = settings.smtp_sender or settings.smtp_user or "proctor@localhost"
    message["To"] = reminder.email
    message["Subject"] = reminder.subject
    message["Date"] = formatdate(localtime=False)
    message["Message-ID"] = make_msgid(domain="proctor.invalid")
    # Readable everywhere: not every server takes eight bits.
    message.set_content(reminder.text, cte="base64")
    try:
        server.send_message(message)
    # Whatever becomes of one letter: what went before it is known to have gone, and is not sent twice.
    except (OSError, smtplib.SMTPException) as error:
        return replace(reminder, error=f"the server refused it ({type(error).__name__})")
    return replace(reminder, sent=True)


def _write(person: Annotator, load: Workload) -> Reminder:
    language: Language = next((one for one in LANGUAGES if one == person.language), "en")
    texts = _TEXTS[language]
    values = {
        "annotator": person.user_id,
        "open_count": load.open_count,
        "overdue_count": load.overdue_count,
        "due": (load.due_at or "")[:10],
        "needed": -int(-(load.needed_per_day or 0) // 1),
        "quota": load.quota,
    }
    parts = ["open"]
    parts += ["overdue"] if load.overdue_count else []
    parts += ["late" if load.is_behind else "pace"] if load.needed_per_day is not None else []
    lines = [texts["greeting"], "", *(texts[part] for part in parts), "", texts["end"]]
    return Reminder(
        annotator=person.user_id,
        email=person.email,
        language=language,
        subject=_SUBJECTS[language].format(**values),
        text="\n".join(lines).format(**values) + "\n",
    )
