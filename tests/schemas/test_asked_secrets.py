"""A secret may be asked of a program; an error never shows what that printed."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import pytest

from schemas.asked_secrets import MOST_BYTES, AskedSecret, ask_program, ask_secret
from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from warehouse.lake.files import render_s3_secret

SECRET = "hunter2-and-more"


def run_python(code: str) -> str:
    """The words that run this code."""
    return shlex.join([sys.executable, "-c", code])


def test_a_setting_is_asked_of_its_program_once_and_only_when_it_is_needed(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    code = f"open({str(asked)!r}, 'a').write('x'); print({url!r})"
    settings = Settings.model_validate({"ledger_url": f"command:{run_python(code)}"})
    # Shown, compared and counted without it.
    assert url not in f"{settings!r} {settings.ledger_url} {settings.model_dump_json()}"
    assert settings.ledger_url == settings.model_copy().ledger_url
    assert hash(settings.ledger_url) == hash(settings.model_copy().ledger_url)
    assert not asked.exists()
    assert settings.ledger_address == url
    assert settings.ledger_address == url
    assert asked.read_text() == "x"


def test_options_of_a_sign_in_are_asked_of_programs_too() -> None:
    settings = Settings.model_validate(
        {"sign_in_options": {"site": {"secret": "command:printf abc", "name": "x"}}}
    )
    options = settings.sign_in_options["site"]
    assert [options[name].get_secret_value() for name in ("secret", "name")] == ["abc", "x"]


def test_credentials_of_the_object_store_are_asked_of_programs_too() -> None:
    told = {"AWS_ACCESS_KEY_ID": "proctor", "AWS_SECRET_ACCESS_KEY": "command:printf a-key"}
    statement = render_s3_secret(told)
    assert "KEY_ID 'proctor'" in statement and "SECRET 'a-key'" in statement


def test_a_program_is_started_without_a_shell() -> None:
    assert ask_secret("printf %s '$HOME;id'") == "$HOME;id"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (f"print({SECRET!r}); raise SystemExit(3)", "ended with 3"),
        (f"import sys; print({SECRET!r}, file=sys.stderr)", "printed nothing"),
        (f"print({SECRET!r}); print('and a line')", "printed something else"),
        (f"print({SECRET!r} + chr(27) + '[2J')", "printed something else"),
        (f"import os; os.write(1, {SECRET!r}.encode() + bytes([255]))", "printed something else"),
        (f"import os\nwhile True: os.write(1, {SECRET!r}.encode() * 100)", f"more than {MOST_BYTES} bytes"),
        ("import os; os.kill(os.getpid(), 9)", "ended with -9"),
    ],
)
def test_a_program_that_fails_is_one_sentence_without_what_it_printed(code: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        ask_secret(run_python(code))
    assert SECRET not in str(caught.value)
    assert str(caught.value).startswith("The program 'python")


@pytest.mark.parametrize("command", ["", "   ", "'open"])
def test_words_that_are_no_program_are_refused(command: str) -> None:
    with pytest.raises(UsageError, match="names no program"):
        AskedSecret(f"command:{command}").get_secret_value()


def test_a_program_that_is_not_there_is_named_without_its_arguments() -> None:
    with pytest.raises(UsageError, match=r"'no-such-vault'.*cannot be started") as caught:
        ask_secret(f"no-such-vault --token {SECRET}")
    assert SECRET not in str(caught.value)


def test_a_program_that_hangs_is_stopped_with_what_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    child = f"import time; time.sleep(1.5); open({str(mark)!r}, 'w')"
    code = f"import subprocess, sys, time; print({SECRET!r}, flush=True); subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    began = time.monotonic()
    with pytest.raises(StoreError, match="did not end within 1 s") as caught:
        ask_program(run_python(code), 1.0)
    assert SECRET not in str(caught.value)
    assert time.monotonic() - began < 10
    time.sleep(2.0)
    assert not mark.exists()


def test_a_program_that_ends_and_leaves_another_with_its_pipe_is_not_waited_for_for_ever() -> None:
    code = "import subprocess, sys; subprocess.Popen(['sleep', '30'])"
    began = time.monotonic()
    with pytest.raises(StoreError, match="did not end within 1 s"):
        ask_program(run_python(code), 1.0)
    assert time.monotonic() - began < 10


def test_what_is_given_arrives_and_a_program_need_not_read_it() -> None:
    echo = run_python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])")
    assert ask_program(echo, 10.0, b"abc") == b"cba"
    assert ask_program("true", 10.0, b"abc" * 1000) == b""
