"""Letters, and the real mail server (a port of this machine) that they are handed to."""

from __future__ import annotations

import email
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.policy import default as policy

import pytest

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from tasks.review.assigning.annotators import write_annotator
from tasks.review.overview.reminders import send_reminders, write_reminders
from tests.tasks.review.conftest import LATER, open_batch
from warehouse.ledger.engine.ledger import Ledger


@dataclass
class Mailbox:
    """What a mail server on `port` took: recipients and the letter."""

    port: int
    letters: list[tuple[list[str], str]] = field(default_factory=list)


class _Session(socketserver.StreamRequestHandler):
    """SMTP (RFC 5321) as far as a letter needs it; who begins with `refuse` is unknown."""

    def handle(self) -> None:
        self._say("220 ready")
        recipients: list[str] = []
        for line in self.rfile:
            word, _, rest = line.decode("ascii").strip().partition(" ")
            if word.upper() == "DATA":
                self._say("354 go on")
                body = bytearray()
                while (part := self.rfile.readline()) != b".\r\n":
                    body += part
                self.server.mailbox.letters.append((recipients, body.decode("ascii")))  # type: ignore[attr-defined]
                self._say("250 taken")
            elif word.upper() == "RCPT":
                is_known = "<refuse" not in rest
                recipients = [*recipients, rest] if is_known else recipients
                self._say("250 ok" if is_known else "550 nobody of that name")
            elif word.upper() == "QUIT":
                self._say("221 bye")
                return
            else:
                recipients = [] if word.upper() in ("MAIL", "RSET") else recipients
                self._say("250 ok")

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Session) as server:
        server.daemon_threads = True
        found = Mailbox(server.server_address[1])
        server.mailbox = found  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield found
        server.shutdown()


def configure(settings: Settings, port: int) -> Settings:
    return settings.model_copy(
        update={
            "smtp_host": "127.0.0.1",
            "smtp_port": port,
            "smtp_security": "none",
            "smtp_sender": "exam@example.org",
        }
    )


def test_a_letter_says_how_much_until_when_and_how_much_a_day_in_the_language_of_its_reader(
    ledger: Ledger, settings: Settings
) -> None:
    open_batch(ledger, settings, 3)
    write_annotator(ledger, "dai", language="zh", daily_quota=4)
    chen, dai = write_reminders(ledger, settings, LATER)
    assert (chen.annotator, chen.subject) == ("chen", "Proctor: 3 questions to review until 2026-12-02")
    assert chen.text.splitlines()[2:4] == [
        "3 questions are waiting for your decision. The next are due on 2026-12-02.",
        "About 1 a day finish them in time; your daily quota is 10.",
    ]
    assert dai.text.splitlines()[0] == "dai，您好："
    assert "每天约 1 道即可按时完成；您的每日定额为 4 道。" in dai.text
    late = write_reminders(ledger, settings, "2026-12-03T00:00:00.000000+00:00", "b1")
    assert "3 of them are overdue." in late[0].text
    assert "shelf" not in "".join(one.text + one.subject for one in (*late, chen, dai)), (
        "no text of a question"
    )
    with pytest.raises(UsageError, match="no review batch 'b2'"):
        write_reminders(ledger, settings, LATER, "b2")


def test_letters_go_through_the_configured_server_and_each_says_whether_it_went(
    ledger: Ledger, settings: Settings, mailbox: Mailbox
) -> None:
    open_batch(ledger, settings, 3)
    write_annotator(ledger, "dai", language="zh", email="dai@example.org")
    letters = send_reminders(write_reminders(ledger, settings, LATER), configure(settings, mailbox.port))
    assert [(one.annotator, one.sent, one.error) for one in letters] == [
        ("chen", False, "no address is registered"),
        ("dai", True, None),
    ]
    ((recipients, text),) = mailbox.letters
    assert recipients == ["TO:<dai@example.org>"]
    message = email.message_from_string(text, policy=policy)
    assert (message["From"], message["Subject"]) == (
        "exam@example.org",
        "Proctor：有 3 道题待审核，截止 2026-12-02",
    )
    body = message.get_body()
    assert body is not None
    assert body.get_content().startswith("dai，您好：")


# The second is one that this server cannot be told: it offers no SMTPUTF8.
@pytest.mark.parametrize(
    ("address", "reason"),
    [("refuse@example.org", "SMTPRecipientsRefused"), ("陈@example.org", "SMTPNotSupportedError")],
)
def test_an_address_that_the_server_refuses_does_not_stop_the_others(
    ledger: Ledger, settings: Settings, mailbox: Mailbox, address: str, reason: str
) -> None:
    open_batch(ledger, settings, 1)
    write_annotator(ledger, "chen", email=address)
    write_annotator(ledger, "dai", email="dai@example.org")
    letters = send_reminders(write_reminders(ledger, settings, LATER), configure(settings, mailbox.port))
    assert [(one.sent, one.error) for one in letters] == [
        (False, f"the server refused it ({reason})"),
        (True, None),
    ]


def test_nothing_is_sent_without_a_server_and_one_that_does_not_answer_is_named(
    ledger: Ledger, settings: Settings, mailbox: Mailbox
) -> None:
    open_batch(ledger, settings, 1)
    letters = write_reminders(ledger, settings, LATER)
    with pytest.raises(UsageError, match="PROCTOR_SMTP_HOST"):
        send_reminders(letters, settings)
    with socketserver.TCPServer(("127.0.0.1", 0), _Session) as taken:
        port = taken.server_address[1]
    with pytest.raises(StoreError, match=rf"127\.0\.0\.1:{port} did not take the letters"):
        send_reminders(letters, configure(settings, port))
    # A server that offers no encryption gets neither letters nor a password.
    guarded = configure(settings, mailbox.port).model_copy(update={"smtp_security": "starttls"})
    with pytest.raises(StoreError, match="SMTPNotSupportedError"):
        send_reminders(letters, guarded)
    assert mailbox.letters == []


def test_what_cannot_be_registered_of_an_annotator_is_refused(ledger: Ledger) -> None:
    person = write_annotator(ledger, "chen", levels={"Law": "expert"}, daily_quota=5)
    assert write_annotator(ledger, "chen", due_days=9).levels == {"Law": "expert"}
    assert write_annotator(ledger, "chen", daily_quota=0).daily_quota is None
    assert person.find_level("Law") == "expert"
    assert person.find_level("Arts") == "regular"
    for values, message in (
        ({"levels": {"Alchemy": "expert"}}, "'Alchemy' is unknown"),
        ({"levels": {"Law": "master"}}, "'master' is not one of"),
        ({"language": "fr"}, "'fr' is not one of"),
        ({"email": "a b@c"}, "no e-mail address"),
    ):
        with pytest.raises(UsageError, match=message):
            write_annotator(ledger, "chen", **values)
    with pytest.raises(UsageError, match="There is no annotator 'nobody'"):
        write_annotator(ledger, "nobody")
