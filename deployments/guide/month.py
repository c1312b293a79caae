"""From papers to a leaderboard: each step does, by printed commands, what is missing."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from typing import Any, Final

import yaml

from deployments.guide.seats import has_own_models, register_models, register_reader
from deployments.guide.talking import GivenAnswers, StepError, Talk, split_names
from schemas.counting import say_count
from schemas.errors import INTERRUPTED, UsageError
from schemas.settings import (
    HOME_NAME,
    TOML_NAME,
    TOML_VARIABLE,
    find_upwards,
    is_home,
    load_settings,
    read_setting,
)
from schemas.vocabulary import EXAMINED_DISCIPLINES, check_discipline
from tasks.models.registry import SIMULATED_URL
from tasks.review import LANGUAGES
from warehouse.stores.whole_files import SHARED, writing_whole

# More questions than this are no first month.
_MOST_QUESTIONS: Final = 1_000
_UNKNOWN: Final = "unknown"
_NONE: Final = "none"
# Fewer of a discipline tell nothing of it.
_LEAST_SHARE: Final = 3
# What two people would look at for longer than this is begun with a part of it.
_LONG_REVIEW_DAYS: Final = 10
_SHORT_REVIEW_DAYS: Final = 5
_MOST_NAMED: Final = 5
# A gate that is shut.
_REFUSED: Final = 3
# The root of a clone, where `make demo` keeps a home of its own.
_CLONE: Final = Path(__file__).resolve().parents[2]
_OWN_FOLDER: Final = "exam"
_WORKBOOKS: Final = "workbooks"
_DUPLICATES: Final = "proctor sql 'SELECT kept_uuid, dropped_uuid, reason FROM duplicates'"
_LATER: Final = "later"
_WAYS: Final = ("desk", "workbooks", "import", _LATER)


def guide_month(answers: GivenAnswers, *, month: str = "", is_silent: bool = False) -> int:
    """Go from papers to a month's leaderboard as far as it goes now; returns the exit code.

    The month is the present one where none is named. Raises UsageError where something must be answered and
    nobody can be asked.
    """
    talk = Talk(is_silent)
    talk.tell(
        "Your own exam: papers, review, models, a plan with its cost, the exam, the leaderboard.\n"
        "Each step is a command that is printed before it runs. Ctrl-C stops; `proctor start` continues from there."
    )
    exam_month = month or f"{datetime.now(UTC):%Y-%m}"
    started_in = Path.cwd()
    try:
        answers = _make_home(talk, answers)
        published = _list_months(talk)
        if exam_month in published:
            _say_unused(talk, answers, exam_month)
        if exam_month not in published or answers.papers:
            _read_papers(talk, answers, is_later=bool(published))
            if not _review(talk, answers):
                talk.tell(f"When they have decided: {_write_command(answers, month, is_silent=is_silent)}")
                return 0
        if exam_month not in published:
            register_models(talk, answers)
            _shape_exam(talk, answers)
            if code := _hold_exam(talk, exam_month):
                return code
        if exam_month in _list_months(talk):
            _show_board(talk, exam_month, started_in)
        return 0
    except StepError as error:
        if error.code != INTERRUPTED:
            talk.tell(
                "The step did not end well; what to do stands above. `proctor start` continues from there."
            )
        return error.code


def _list_months(talk: Talk) -> set[str]:
    """The months of which an edition is published."""
    return {str(one["month"]) for one in talk.read("sql", "editions_published")}


def _say_unused(talk: Talk, answers: GivenAnswers, month: str) -> None:
    """Say which answers change nothing, because the month is published."""
    used = {"papers", "annotators"} if answers.papers else set()
    options = [option for option, _ in _list_options(answers, without=used)]
    if options:
        talk.tell(
            f"{month} is published and stays as it is: {', '.join(options)} change nothing of it. For the next month: "
            f"proctor start --month {_find_next(month)}, with these options."
        )


def _list_options(answers: GivenAnswers, *, without: Collection[str]) -> list[tuple[str, str]]:
    """Each option that was given, with its value; that of a switch is empty."""
    return [
        # The options are named as the fields are, and a switch by what it says.
        (f"--{field.name.removeprefix('are_').replace('_', '-')}", "" if value is True else str(value))
        for field in fields(answers)
        if field.name not in without and (value := getattr(answers, field.name))
    ]


def _find_next(month: str) -> str:
    year, number = (int(part) for part in month.split("-"))
    return f"{year + number // 12}-{number % 12 + 1:02d}"


def _write_command(answers: GivenAnswers, month: str, *, is_silent: bool) -> str:
    """The command that goes on from here, with what was answered for later steps."""
    words = ["proctor", "start"]
    for option, value in _list_options(answers, without=("papers", "annotators")):
        words += [option, value] if value else [option]
    words += ["--month", month] if month else []
    # Without candidates somebody must be there to name them.
    return shlex.join([*words, *(["--yes"] if is_silent and answers.candidates else [])])


def _make_home(talk: Talk, answers: GivenAnswers) -> GivenAnswers:
    """Find or make the home; the answers name the papers from wherever it lies."""
    talk.head(1, "A home for everything that is kept")
    if answers.papers:
        _check_papers(answers.papers)
    if Path.cwd() == _CLONE and "PROCTOR_HOME" not in os.environ and not has_own_models():
        answers = _leave_clone(talk, answers)
    _check_toml(talk)
    home = load_settings().home
    if is_home(home):
        talk.tell(f"{home.resolve()} is there.")
        return answers
    talk.run("init")
    load_settings.cache_clear()
    return answers


def _check_toml(talk: Talk) -> None:
    """Ask before settings are written into a file above that lies beside no home of this exam."""
    if os.environ.get(TOML_VARIABLE):
        return
    toml, settings = find_upwards(TOML_NAME), load_settings()
    is_named = "home" in settings.model_fields_set and "PROCTOR_HOME" not in os.environ
    if toml is None or is_named or toml.parent in (Path.cwd(), settings.home.resolve().parent):
        return
    what = f"{toml} holds here, too, and settings of your exam would be written into it."
    if talk.is_silent or not talk.confirm(f"{what} Is that meant?", default=False):
        raise UsageError(
            f"{what} To have settings of your own here: touch {TOML_NAME}. If it is yours, go to its folder (cd) or let {TOML_VARIABLE} name it."
        )


def _leave_clone(talk: Talk, answers: GivenAnswers) -> GivenAnswers:
    """Keep one's own exam in a folder of its own: beside the code lies the demo's home."""
    if answers.papers:
        answers = replace(answers, papers=str(Path(answers.papers).expanduser().resolve()))
    folder = Path(_OWN_FOLDER).resolve()
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    os.environ["PROCTOR_HOME"] = HOME_NAME
    load_settings.cache_clear()
    talk.tell(f"Your exam is kept in {folder}. Type other commands of proctor there: cd {_OWN_FOLDER}")
    return answers


def _read_papers(talk: Talk, answers: GivenAnswers, *, is_later: bool) -> None:
    talk.head(2, "Papers become questions")
    papers = answers.papers
    if not _count_read(talk):
        papers = talk.ask("Folder with your exam papers", given=papers, option="PAPERS", check=_check_papers)
    elif is_later and not papers:
        # No question is put to an organisation twice: a later month lives on what is new.
        papers = talk.ask("Folder with more papers (`none` for none)", _NONE, check=_check_more)
    if papers and papers != _NONE:
        _check_papers(papers)
        unknown = _list_unknown(talk)
        talk.run("ingest", str(Path(papers).expanduser()), may_refuse=True)
        _offer_reader(talk, papers)
        _name_disciplines(talk, papers, [name for name in _list_unknown(talk) if name not in unknown])
    read = _count_read(talk)
    if not read:
        talk.tell("No question was read of them: `proctor documents list` says why, paper by paper.")
        raise StepError(1)
    talk.tell(f"Questions read: {', '.join(f'{name} {count}' for name, count in read.items())}.")
    if held := _count_papers(talk, "held"):
        talk.tell(
            f"{say_count(held, 'paper is', 'papers are')} held until somebody has looked at them: proctor documents list --status held"
        )
    if _UNKNOWN in read:
        unknown = _list_unknown(talk)
        more = [f"{len(unknown) - _MOST_NAMED} more"] if len(unknown) > _MOST_NAMED else []
        talk.tell(
            f"Of {', '.join([*unknown[:_MOST_NAMED], *more])} the discipline is not known. No exam takes a question until annotators give it one, or "
            "a YAML file names that of the paper (a line `part of the path: Law`): proctor ingest FOLDER --discipline-map FILE --again"
        )


def _count_papers(talk: Talk, status: str) -> int:
    return len(talk.read("documents", "list", "--status", status))


def _offer_reader(talk: Talk, papers: str) -> None:
    """Let a model that somebody names read what was not read surely."""
    if talk.is_silent or load_settings().second_reader:
        return
    held, empty = (_count_papers(talk, status) for status in ("held", "no_questions"))
    if not held + empty:
        return
    talk.tell(
        f"Papers that are not surely read and held: {held}; without a question: {empty}. A model can read such papers, too: their text, "
        "with its answers, goes to whoever runs it."
    )
    if talk.confirm("Name a model that may read your papers?", default=False):
        name = register_reader(talk)
        talk.run("ingest", str(Path(papers).expanduser()), "--assist", name, "--estimate")
        if talk.confirm("Let it read them, and what is not surely read of later papers?", default=True):
            talk.set("second_reader", name)
            talk.run("ingest", str(Path(papers).expanduser()), "--again", may_refuse=True)


def _name_disciplines(talk: Talk, papers: str, unknown: Sequence[str]) -> None:
    """Ask what these papers are about before anybody reviews them, and keep it with the home."""
    if not unknown or talk.is_silent:
        return
    talk.tell(
        f"The discipline of {say_count(len(unknown), 'paper')} is not known, and no exam takes a question without one."
    )

    def check(name: str) -> None:
        if name not in (_NONE, ""):
            check_discipline(name.title())

    named: dict[str, str] = {}
    for name in unknown:
        answer = talk.ask(f"Discipline of {name} (`none` leaves it out)", _NONE, check=check)
        if answer not in (_NONE, ""):
            named[escape(name)] = answer.title()
    if named:
        path = load_settings().disciplines_path
        known = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}
        with writing_whole(path, SHARED) as draft:
            draft.write_text(yaml.safe_dump({**known, **named}, allow_unicode=True), encoding="utf-8")
        # The map is the home's, and every ingest reads it.
        talk.run("ingest", str(Path(papers).expanduser()), "--again", may_refuse=True)


def _review(talk: Talk, answers: GivenAnswers) -> bool:
    """Whether the bank has questions; else somebody has to decide first, and it was said how."""
    talk.head(3, "Two people look at every question")
    needed = load_settings().review_count
    people = [
        one for one in talk.read("exam", "user", "list") if one["role"] == "annotator" and one["is_active"]
    ]
    is_open = any(one["status"] == "open" for one in _list_batches(talk))
    known = [str(one["user_id"]) for one in people]
    gives_out = not is_open and _wants_batch(talk)
    if gives_out and len(known) < needed:
        _add_annotators(talk, answers, known, needed)
    elif more := [name for name in split_names(answers.annotators) if name not in known]:
        talk.tell(
            f"There are {len(known)} annotators, and nobody is asked for more now; {', '.join(more)} can still be added for later batches: "
            "proctor exam user add NAME --role annotator"
        )
    if gives_out:
        _shorten_review(talk)
        talk.run("review", "assign", may_refuse=True)
    while any(one["status"] == "open" for one in _list_batches(talk)):
        talk.run("review", "status")
        if _lacks_third(talk):
            _add_third(talk, [one["user_id"] for one in people])
        if (count := _count_bank(talk)) and talk.confirm(
            f"The bank has {say_count(count, 'question')} already. Hold the exam with them, without waiting for these decisions?",
            default=True,
        ):
            break
        if not _decide(talk):
            return False
    if not _count_bank(talk):
        talk.run("dedupe", "run")
    count = _count_bank(talk)
    if not count:
        talk.tell("The bank is empty: nothing was accepted. `proctor review status` says what was decided.")
        raise StepError(1)
    copies = max(talk.read("bank")["versions"], key=lambda one: one["bank_version"])["duplicate_count"]
    left_out = f" {copies} more ask the same as one of them and are left out: {_DUPLICATES}" if copies else ""
    talk.tell(f"The bank has {say_count(count, 'question')} of papers, and their variants.{left_out}")
    return True


def _lacks_third(talk: Talk) -> bool:
    """Whether only what the annotators differ on is left, and nobody to settle it."""
    return any(
        one["status"] == "open"
        and one["states"].get("disputed")
        and all(share["decided_count"] == share["assigned_count"] for share in one["annotators"])
        for one in _list_batches(talk)
    )


def _add_third(talk: Talk, known: Sequence[str]) -> None:
    """Name somebody who settles what the annotators differ on."""
    asked = "Some questions they see differently, and a third person settles those"
    if talk.is_silent:
        talk.tell(f"{asked}: proctor exam user add NAME --role annotator")
        return

    def check(name: str) -> None:
        if name.lower() in [one.lower() for one in known]:
            raise UsageError(f"{name} reviews already. Name somebody else.")

    name = talk.ask(f"{asked}. Their name", check=check)
    talk.insist("exam", "user", "add", name, "--role", "annotator", "--password")


def _wants_batch(talk: Talk) -> bool:
    """Whether questions that wait are given out now: for an empty bank, or as somebody says."""
    waiting = _count_waiting(talk)
    if not waiting or not _count_bank(talk):
        return not _count_bank(talk)
    return not talk.is_silent and talk.confirm(
        f"{say_count(waiting, 'question waits', 'questions wait')} for review. Give a batch of them out now?",
        default=False,
    )


def _decide(talk: Talk) -> bool:
    """Let people decide at the desk or in workbooks; false where the guide waits for them."""
    if talk.is_silent:
        talk.tell(
            "People decide in the browser (proctor web), each with their own name and password; or in workbooks: proctor review export "
            f"{_WORKBOOKS}, and when they are filled in, proctor review import {_WORKBOOKS}"
        )
        return False

    def check(way: str) -> None:
        if way not in _WAYS:
            raise UsageError(f"{way} is not one of {', '.join(_WAYS)}.")

    talk.tell(
        "Each annotator decides alone: at the desk in the browser, or in a workbook for Excel. Filled workbooks are imported here."
    )
    # Whoever comes back from workbooks brings them.
    usual = "import" if any(Path(_WORKBOOKS).glob("*.xlsx")) else "desk"
    way = talk.ask(f"How do they decide now? ({', '.join(_WAYS)})", usual, check=check)
    if way == _LATER:
        return False
    if way == "desk":
        talk.tell("The desk's address follows. Ctrl-C ends it and comes back here.")
        _serve(talk)
        return True
    if way == "import":
        folder = talk.ask("Folder with the filled workbooks", _WORKBOOKS, check=_check_papers)
        talk.run("review", "import", folder, may_refuse=True)
        return True
    language = talk.ask(
        "Language of the workbooks (zh, en, or theirs: that of most questions)",
        "theirs",
        check=_check_language,
    )
    talk.run("review", "export", _WORKBOOKS, *([] if language == "theirs" else ["--language", language]))
    talk.tell(
        f"Give each annotator the workbook of their name; filled in, put it back into {Path(_WORKBOOKS).resolve()}."
    )
    return False


def _check_language(language: str) -> None:
    if language not in (*LANGUAGES, "theirs"):
        raise UsageError(f"{language} is not one of {', '.join(LANGUAGES)}, theirs.")


def _check_more(papers: str) -> None:
    if papers != _NONE:
        _check_papers(papers)


def _check_papers(papers: str) -> None:
    path = Path(papers).expanduser()
    if not path.exists():
        raise UsageError(f"There is no file and no folder {papers}. Give the one that is meant.")
    if path.is_dir() and not any(one.is_file() for one in path.rglob("*")):
        raise UsageError(f"The folder {papers} holds no file. Give the one that is meant.")


def _add_annotators(talk: Talk, answers: GivenAnswers, known: Sequence[str], needed: int) -> None:
    def check(names: str) -> None:
        count = len({name.lower() for name in (*known, *split_names(names))})
        if count < needed:
            raise UsageError(
                f"Every question is looked at by {needed} people, and with these there would be {count}. Name as many, each once."
            )

    free = [name for number in range(1, needed + 1) if (name := f"annotator-{number}") not in known]
    question = f"Names of {needed} annotators or more"
    names = talk.ask(question, ",".join([*known, *free][:needed]), given=answers.annotators, check=check)
    if not talk.is_silent:
        talk.tell("Each gets a password, of 12 characters or more, with which they sign in.")
    for name in split_names(names):
        if name not in known:
            password = [] if talk.is_silent else ["--password"]
            talk.insist("exam", "user", "add", name, "--role", "annotator", *password)
    if talk.is_silent:
        talk.tell("To sign in at the desk each needs a password: proctor exam user password NAME")


def _shorten_review(talk: Talk) -> None:
    """Begin with a part of many questions: the month waits until its batch is decided."""
    settings = load_settings()
    count, a_day = _count_waiting(talk), settings.review_daily_quota
    days = -(-count // a_day)
    if "review_due_days" in settings.model_fields_set or days <= _LONG_REVIEW_DAYS:
        return
    talk.tell(
        f"{count} questions are {days} days of work for two people, at {a_day} a day each. A batch of fewer days takes those that "
        "came with an answer, as many of each discipline; the others wait for later batches."
    )
    _ask_setting(talk, "review_due_days", "Days of this batch", str(_SHORT_REVIEW_DAYS))


def _serve(talk: Talk) -> None:
    """The desk, until Ctrl-C: which ends it and not the guide."""
    port: list[str] = []
    while True:
        try:
            talk.run("web", *port)
            return
        except StepError as error:
            if error.code == INTERRUPTED:
                talk.tell()
                return
        port = ["--port", talk.ask("Port for the desk", "8711", check=_check_port)]


def _check_port(port: str) -> None:
    if not (port.isdecimal() and 0 < int(port) < 65536):
        raise UsageError(f"{port} is no port. Give a number from 1 to 65535.")


def _shape_exam(talk: Talk, answers: GivenAnswers) -> None:
    talk.head(5, "What the exam is made of")
    settings = load_settings()
    counts, left_out = _count_drawable()
    if left_out:
        talk.tell(
            f"{say_count(left_out, 'question of the bank has', 'questions of the bank have')} pictures, and a set has none of them unless the setting `picture_share` says so."
        )
    if "disciplines" not in settings.model_fields_set:
        _choose_disciplines(talk, counts, settings.least_share)
    settings = load_settings()
    if "set_size" not in settings.model_fields_set:
        _choose_size(talk, {name: counts.get(name, 0) for name in settings.disciplines})
    if "prompt_styles" not in settings.model_fields_set:
        question = "Prompt styles (zero_shot, few_shot, chain_of_thought)"
        _ask_setting(talk, "prompt_styles", question, "zero_shot", given=answers.styles)
    elif answers.styles and tuple(split_names(answers.styles)) != settings.prompt_styles:
        talk.tell(
            f"--styles changes nothing: the styles are set to {', '.join(settings.prompt_styles)}. To change them: "
            f"proctor settings set prompt_styles {answers.styles}"
        )
    settings = load_settings()
    talk.tell(
        f"S is then the mean over {', '.join(settings.disciplines)}, each with the same weight: it compares with other months "
        "of these disciplines, not with an exam of others."
    )


def _choose_disciplines(talk: Talk, counts: dict[str, int], least: int) -> None:
    fit = [name for name in EXAMINED_DISCIPLINES if counts.get(name, 0) >= least]
    fit += [
        name for name in counts if name not in (*EXAMINED_DISCIPLINES, _UNKNOWN) and counts[name] >= least
    ]
    listed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    if not fit:
        talk.tell(
            f"No discipline has {least} questions ({listed or 'the bank is empty'}). Bring more papers: proctor ingest FOLDER."
        )
        raise StepError(3)
    if set(fit) == set(EXAMINED_DISCIPLINES):
        return
    talk.tell(f"The bank by discipline: {listed}. A discipline needs {least}.")

    def check(names: str) -> None:
        for name in read_setting("disciplines", names):
            if name not in fit:
                raise UsageError(
                    f"{name} has {say_count(counts.get(name, 0), 'question')} in the bank and needs {least}. Choose among {', '.join(fit)}."
                )

    _ask_setting(talk, "disciplines", "Disciplines of the exam, with commas", ", ".join(fit), check=check)


def _choose_size(talk: Talk, counts: dict[str, int]) -> None:
    """Half of what the smallest discipline has, so that a second month is there."""
    share = min(max(_LEAST_SHARE, min(counts.values()) // 2), max(1, _MOST_QUESTIONS // len(counts)))
    talk.tell(
        f"No organisation is asked a question twice. Half of the smallest discipline ({share}), from each of {len(counts)}, leaves as much for "
        "the next month; more papers make longer exams and more months."
    )
    there = sum(counts.values())

    def check(size: str) -> None:
        if read_setting("set_size", size) > there:
            raise UsageError(
                f"The bank has {say_count(there, 'question')} of these disciplines. A set has no more."
            )

    _ask_setting(talk, "set_size", "Questions of a set", str(share * len(counts)), check=check)
    settings = load_settings()
    if "lasting_sets" not in settings.model_fields_set:
        # The size that was chosen is meant: else a set would be cut so that the bank lasts for three years.
        of_each = max(1, settings.set_size // len(counts))
        talk.set("lasting_sets", str(max(1, min(counts.values()) // of_each)))


def _ask_setting(
    talk: Talk,
    name: str,
    question: str,
    default: str,
    *,
    given: str = "",
    check: Callable[[str], object] | None = None,
) -> None:
    """Ask for a setting, which must be one, and write it."""
    talk.set(
        name, talk.ask(question, default, given=given, check=check or (lambda text: read_setting(name, text)))
    )


def _hold_exam(talk: Talk, month: str) -> int:
    """The exit code of the month; 0, too, where it is not wanted now."""
    talk.head(6, "The exam")
    of_month = ["--month", month]
    sitting = [
        one
        for one in talk.read("models", "list")
        if "candidate" in one["roles"].split() and one["provider"] != SIMULATED_URL and not one["is_outside"]
    ]
    # Simulated candidates are due only where no real one is registered; the example of `proctor init` is never meant.
    if all(one["is_simulated"] for one in sitting):
        of_month += ["--candidates", ",".join(one["model"] for one in sitting)]
    if code := talk.run("exam", "plan", *of_month, may_refuse=True):
        waiting = _count_waiting(talk)
        talk.tell(
            "The bank has too few questions that these have not met. "
            + (
                f"Let people decide on the {waiting} that wait: proctor start. Or bring"
                if waiting
                else "Bring"
            )
            + " more papers: proctor start PAPERS"
        )
        return code
    if not talk.confirm(
        "Hold this exam now, at that cost? What was answered and judged already is not paid again.",
        default=True,
    ):
        talk.tell("When you want it held: proctor start")
        return 0
    code = talk.run("monthly", *of_month, "--yes", may_refuse=True)
    if code == _REFUSED and (run := _find_unparsed(talk, month)):
        talk.tell("Some judgements could not be read: the judges are asked again for those.")
        talk.run("judge", "--run", run, "--unparsed", may_refuse=True)
        code = talk.run("publish", run, may_refuse=True)
    if code:
        talk.tell(
            "The month is not published; what to do stands above. `proctor start` continues from there."
        )
    return code


def _find_unparsed(talk: Talk, month: str) -> str:
    """The month's run, where it has judgements that could not be read; else nothing."""
    rows = talk.read("sql", "unparsed_judgements", "--param", f"month={month}")
    return next((str(one["run_id"]) for one in rows), "")


def _show_board(talk: Talk, month: str, started_in: Path) -> None:
    talk.head(7, "What came of it")
    talk.run("sql", "leaderboard")
    page = load_settings().home / "reports" / "index.html"
    if not page.is_file():
        talk.run("report")
    waiting, board = _count_waiting(talk), talk.read("sql", "leaderboard")
    talk.tell()
    talk.tell(f"The report: {page.resolve()}")
    if Path.cwd() != started_in:
        talk.tell(f"What follows is typed in the folder of your exam:  cd {Path.cwd().name}")
    _say_next(talk, board, month, waiting, has_more=_has_more(talk, board))


def _has_more(talk: Talk, board: Sequence[dict[str, Any]]) -> bool:
    """Whether the bank has a set left for the organisation that has met most of it."""
    settings = load_settings()
    if settings.rest_months:
        return True  # what was met long ago is drawn again
    of_each = max(1, min(settings.least_share, settings.set_size // len(settings.disciplines)))
    is_simulated = all(one["is_simulated"] for one in board)
    rows = talk.read("sql", "exposure_outlook", "--param", f"simulated={str(is_simulated).lower()}")
    return all(
        one["lineage_count"] - one["most_met_count"] >= of_each
        for one in rows
        if one["discipline"] in settings.disciplines
    )


def _say_next(
    talk: Talk, board: Sequence[dict[str, Any]], month: str, waiting: int, *, has_more: bool
) -> None:
    if len(board) > 1:
        talk.tell(f"Is one better than the other?  proctor verdict {board[0]['model']} {board[1]['model']}")
    talk.tell(
        "Let people rate what the judge judged, so that the board is not provisional:  proctor calibrate --help"
    )
    if board and board[0]["grade"] == "self-attested":
        talk.tell(
            "You alone attest this. What makes others believe it stands at the end of:  proctor exam plan --month MONTH"
        )
    later = _find_next(month)
    talk.tell(
        f"The next month, from {later}-01 on:  proctor start   (before that day: proctor start --month {later})"
        if has_more
        else f"The bank has no set left that nobody has met. Before {later}: more papers, with proctor start PAPERS"
    )
    talk.tell("Without being asked, on a schedule:  proctor up && proctor deploy")
    if waiting:
        counts = _count_originals(talk)
        fewest = min((name for name in load_settings().disciplines), key=lambda name: counts.get(name, 0))
        talk.tell(
            f"{say_count(waiting, 'question waits', 'questions wait')} for review; {fewest} has fewest in the bank and limits the sets: proctor review assign"
        )


def _count_read(talk: Talk) -> dict[str, int]:
    """Questions that were read, by the discipline of their paper."""
    counts: Counter[str] = Counter()
    for one in talk.read("documents", "list"):
        if one["status"] != "removed" and one["question_count"]:
            counts[one["discipline"] or _UNKNOWN] += one["question_count"]
    return dict(sorted(counts.items()))


def _list_unknown(talk: Talk) -> list[str]:
    """The papers whose discipline is not known."""
    return [
        str(one["document_name"])
        for one in talk.read("documents", "list")
        if one["status"] != "removed" and one["question_count"] and not one["discipline"]
    ]


def _count_waiting(talk: Talk) -> int:
    """Questions read and given to nobody for review; one in two papers counts once."""
    from tasks.review import count_unreviewed
    from warehouse.lake import open_lake

    with open_lake(load_settings(), read_only=True) as lake:
        count = count_unreviewed(lake)
    batched = sum(int(one["question_count"]) for one in _list_batches(talk) if one["status"] == "open")
    return max(0, count - batched)


def _count_originals(talk: Talk) -> dict[str, int]:
    """Questions of papers in the bank, by discipline."""
    rows = talk.read("sql", "bank_statistics")
    return {str(one["name"]): int(one["original_count"]) for one in rows if one["grouped_by"] == "discipline"}


def _count_drawable() -> tuple[dict[str, int], int]:
    """Questions of papers that sets may have, by discipline; how many pictures keep out."""
    from warehouse.lake import open_lake

    share = load_settings().picture_share
    counts: dict[str, int] = {}
    left_out = 0
    with open_lake(load_settings(), read_only=True) as lake:
        for discipline, lineage_count, pictured_count in lake.read("bank_originals").iter_rows():
            plain = lineage_count - pictured_count
            kept = pictured_count if share == 1 else min(pictured_count, int(plain * share / (1 - share)))
            counts[str(discipline)] = plain + kept
            left_out += pictured_count - kept
    return counts, left_out


def _count_bank(talk: Talk) -> int:
    return sum(_count_originals(talk).values())


def _list_batches(talk: Talk) -> list[dict[str, Any]]:
    batches: list[dict[str, Any]] = talk.read("review", "status")["batches"]
    return batches
