"""From papers to a leaderboard: each step looks at what is there, and does what is missing.

A step is one or a few commands of ours, each printed before it runs; stopped anywhere, the guide goes on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from deployments.guide.talking import StepError, Talk
from schemas.errors import UsageError
from schemas.settings import is_home, load_settings
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.models.registry import SIMULATED_URL

# More questions than this are no first month.
_MOST_QUESTIONS: Final = 1_000
_UNKNOWN: Final = "unknown"
# Fewer of a discipline tell nothing of it.
_LEAST_SHARE: Final = 3
_JUDGE_HELP = "It must not be one of the candidates, and better not of one of their families."


@dataclass(frozen=True)
class GivenAnswers:
    """What is answered beforehand; the rest is asked for."""

    papers: Annotated[str, typer.Option("--papers", help="Folder or file of exam papers.")] = ""
    annotators: Annotated[str, typer.Option("--annotators", help="Who reviews, with commas.")] = ""
    url: Annotated[str, typer.Option("--url", help="Address of the candidates' API.")] = ""
    key_variable: Annotated[
        str, typer.Option("--key-variable", help="Environment variable with its key; `none` for none.")
    ] = ""
    organisation: Annotated[str, typer.Option("--organisation", help="Who owns the candidates.")] = ""
    candidates: Annotated[
        str, typer.Option("--candidates", help="Their names there, with commas; the first is the reference.")
    ] = ""
    judge: Annotated[str, typer.Option("--judge", help="Name of the judge.")] = ""
    judge_url: Annotated[str, typer.Option("--judge-url", help="Address of its API.")] = ""
    judge_key_variable: Annotated[
        str, typer.Option("--judge-key-variable", help="Environment variable with its key; `none` for none.")
    ] = ""
    judge_organisation: Annotated[str, typer.Option("--judge-organisation", help="Who owns it.")] = ""
    are_simulated: Annotated[
        bool, typer.Option("--simulated", help="These are no models; what they answer is marked everywhere.")
    ] = False
    styles: Annotated[str, typer.Option("--styles", help="Prompt styles, with commas.")] = ""


def guide_month(answers: GivenAnswers, *, month: str = "", is_silent: bool = False) -> int:
    """Go from papers to a leaderboard as far as it goes now; returns the exit code.

    Raises UsageError where something must be answered and nobody can be asked.
    """
    talk = Talk(is_silent)
    talk.tell(
        "Your own first month: papers, review, models, a plan with its cost, the exam, the leaderboard.\n"
        "Each step is a command that is printed before it runs. Ctrl-C stops; `proctor start` goes on from there."
    )
    try:
        _make_home(talk)
        _read_papers(talk, answers)
        if not _review(talk, answers):
            return 0
        if not talk.read("sql", "editions_published"):
            _register_models(talk, answers)
            _shape_exam(talk, answers)
            if code := _hold_exam(talk, month):
                return code
        if talk.read("sql", "editions_published"):
            _show_board(talk)
        return 0
    except StepError as error:
        talk.tell("The step did not end well; what to do stands above. `proctor start` goes on from there.")
        return error.code


def _make_home(talk: Talk) -> None:
    home = load_settings().home
    talk.head(1, "A home for everything that is kept")
    if is_home(home):
        talk.tell(f"{home.resolve()} is there.")
        return
    talk.run("init")
    load_settings.cache_clear()


def _read_papers(talk: Talk, answers: GivenAnswers) -> None:
    talk.head(2, "Papers become questions")
    if answers.papers or not _count_read(talk):
        papers = answers.papers or talk.ask("Folder with your exam papers", option="--papers")
        if not Path(papers).expanduser().exists():
            raise UsageError(f"There is no file and no folder {papers}. Give the folder with the papers.")
        talk.run("ingest", str(Path(papers).expanduser()), may_refuse=True)
    read = _count_read(talk)
    if not read:
        talk.tell("No question was read of them: `proctor documents list` says why, paper by paper.")
        raise StepError(1)
    talk.tell(f"Questions read: {', '.join(f'{name} {count}' for name, count in read.items())}.")
    if held := talk.read("documents", "list", "--status", "held"):
        talk.tell(
            f"{len(held)} papers are held until somebody has looked at them: proctor documents list --status held"
        )
    if _UNKNOWN in read:
        talk.tell(
            "Of some the discipline is not known; annotators choose it, or: proctor ingest FOLDER --discipline History"
        )


def _review(talk: Talk, answers: GivenAnswers) -> bool:
    """Whether the bank has questions; else somebody has to decide first, and it was said how."""
    talk.head(3, "Two people look at every question")
    needed = load_settings().review_count
    people = [
        one for one in talk.read("exam", "user", "list") if one["role"] == "annotator" and one["is_active"]
    ]
    if len(people) < needed and not _count_bank(talk):
        default = ",".join(f"annotator-{number}" for number in range(1, needed + 1))
        names = answers.annotators or talk.ask(f"Names of {needed} annotators or more", default)
        known = {one["user_id"] for one in people}
        for name in _split(names):
            if name not in known:
                talk.run(
                    "exam",
                    "user",
                    "add",
                    name,
                    "--role",
                    "annotator",
                    *([] if talk.is_silent else ["--password"]),
                )
    if not any(one["status"] == "open" for one in _list_batches(talk)) and not _count_bank(talk):
        talk.run("review", "assign", may_refuse=True)
    while open_batches := [one for one in _list_batches(talk) if one["status"] == "open"]:
        talk.run("review", "status")
        talk.tell(
            f"{len(open_batches)} batches wait for decisions: in the browser (proctor web), or in workbooks (proctor review export)."
        )
        if talk.is_silent or not talk.confirm("Open the desk now? Ctrl-C comes back here", default=True):
            talk.tell("When they have decided: proctor start")
            return False
        _serve(talk)
    if not _count_bank(talk):
        talk.run("dedupe", "run")
    count = _count_bank(talk)
    if not count:
        talk.tell("The bank is empty: nothing was accepted. `proctor review status` says what was decided.")
        raise StepError(1)
    talk.tell(f"The bank has {count} questions of papers, and their variants.")
    return True


def _serve(talk: Talk) -> None:
    """The desk, until Ctrl-C: which ends it and not the guide."""
    try:
        talk.run("web")
    except (KeyboardInterrupt, StepError):
        talk.tell()


def _register_models(talk: Talk, answers: GivenAnswers) -> None:
    talk.head(4, "Who sits, and who judges")
    models = talk.read("models", "list")
    # What `proctor init` writes as an example is nobody's model.
    own = [one for one in models if one["provider"] != SIMULATED_URL]
    path = load_settings().registry_path
    url, key_variable, organisation = answers.url, answers.key_variable, answers.organisation
    if not any("candidate" in one["roles"].split() for one in own):
        talk.tell("An endpoint speaks OpenAI's API: a provider's, or your own (vLLM, llama.cpp, SGLang).")
        url = url or talk.ask("Its address", "http://127.0.0.1:8000/v1", option="--url")
        key_variable = key_variable or talk.ask("Environment variable with its key (`none` for none)", "none")
        organisation = organisation or talk.ask("Who owns the models", "My lab")
        names = _split(
            answers.candidates
            or talk.ask("Candidates, by their names there, with commas", option="--candidates")
        )
        for place, name in enumerate(names):
            roles = "candidate,reference" if place == 0 else "candidate"
            described = _describe(answers, url, key_variable, organisation)
            talk.run("models", "add", name, *described, "--roles", roles)
        talk.run("settings", "set", "reference_model", names[0])
        load_settings.cache_clear()
    if not any("judge" in one["roles"].split() for one in own):
        talk.tell(f"A judge gives every answer its stars. {_JUDGE_HELP}")
        judge = answers.judge or talk.ask("Judge, by its name at its address", option="--judge")
        described = _describe(
            answers,
            answers.judge_url
            or talk.ask("Its address", url or "http://127.0.0.1:8000/v1", option="--judge-url"),
            answers.judge_key_variable
            or talk.ask("Environment variable with its key (`none` for none)", key_variable or "none"),
            answers.judge_organisation or talk.ask("Who owns it", organisation or "My lab"),
        )
        talk.run("models", "add", judge, *described, "--roles", "judge")
        _set(talk, "judges", judge)
    talk.tell(f"{path} has all of it; prices, limits and families can be filled in there.")
    added = [one["model"] for one in talk.read("models", "list") if one["provider"] != SIMULATED_URL]
    if talk.run("models", "check", ",".join(added), may_refuse=True):
        talk.tell("An entry is corrected by `proctor models add NAME … --again`, with the same options.")
        raise StepError(1)


def _describe(answers: GivenAnswers, url: str, key_variable: str, organisation: str) -> list[str]:
    key = [] if key_variable == "none" else ["--key-variable", key_variable]
    simulated = ["--simulated"] if answers.are_simulated else []
    return ["--url", url, "--organisation", organisation, *key, *simulated]


def _shape_exam(talk: Talk, answers: GivenAnswers) -> None:
    talk.head(5, "What the exam is made of")
    settings = load_settings()
    counts = _count_originals(talk)
    if "disciplines" not in settings.model_fields_set:
        _choose_disciplines(talk, counts, settings.least_share)
    settings = load_settings()
    if "set_size" not in settings.model_fields_set:
        _choose_size(talk, {name: counts.get(name, 0) for name in settings.disciplines})
    if "prompt_styles" not in settings.model_fields_set:
        styles = answers.styles or talk.ask(
            "Prompt styles (zero_shot, few_shot, chain_of_thought)", "zero_shot"
        )
        _set(talk, "prompt_styles", styles)
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
    _set(talk, "disciplines", talk.ask("Disciplines of the exam, with commas", ", ".join(fit)))


def _choose_size(talk: Talk, counts: dict[str, int]) -> None:
    """Half of what the smallest discipline has, so that a second month is there."""
    share = min(max(_LEAST_SHARE, min(counts.values()) // 2), max(1, _MOST_QUESTIONS // len(counts)))
    talk.tell(
        "No organisation is asked a question twice. Half of the smallest discipline leaves as much for the next month; more papers "
        "make longer exams and more months."
    )
    _set(talk, "set_size", talk.ask("Questions of a set", str(share * len(counts))))


def _set(talk: Talk, name: str, value: str) -> None:
    talk.run("settings", "set", name, value)
    load_settings.cache_clear()


def _hold_exam(talk: Talk, month: str) -> int:
    """The exit code of the month; 0, too, where it is not wanted now."""
    talk.head(6, "The exam")
    of_month = ["--month", month] if month else []
    sitting = [
        one
        for one in talk.read("models", "list")
        if "candidate" in one["roles"].split() and one["provider"] != SIMULATED_URL
    ]
    # Simulated candidates are due only where no real one is registered; the example of `proctor init` is never meant.
    if all(one["is_simulated"] for one in sitting):
        of_month += ["--candidates", ",".join(one["model"] for one in sitting)]
    talk.run("exam", "plan", *of_month)
    if not talk.confirm("Hold this exam now, at that cost?", default=True):
        talk.tell("When you want it held: proctor start, or proctor monthly --yes")
        return 0
    code = talk.run("monthly", *of_month, "--yes", may_refuse=True)
    if code:
        talk.tell("The month is not published; what to do stands above. `proctor start` goes on from there.")
    return code


def _show_board(talk: Talk) -> None:
    talk.head(7, "What came of it")
    talk.run("sql", "leaderboard")
    page = load_settings().home / "reports" / "index.html"
    if not page.is_file():
        talk.run("report")
    _say_next(talk, page, talk.read("sql", "leaderboard"))


def _say_next(talk: Talk, page: Path, board: Sequence[dict[str, Any]]) -> None:
    talk.tell()
    talk.tell(f"The report: {page.resolve()}")
    if len(board) > 1:
        talk.tell(f"Is one better than the other?  proctor verdict {board[0]['model']} {board[1]['model']}")
    talk.tell(
        "Let people rate what the judge judged, so that the board is not provisional:  proctor calibrate --help"
    )
    talk.tell("Next month:  proctor monthly   (on a schedule: proctor up && proctor deploy)")


def _count_read(talk: Talk) -> dict[str, int]:
    """Questions that were read, by the discipline of their paper."""
    counts: Counter[str] = Counter()
    for one in talk.read("documents", "list"):
        if one["status"] != "removed" and one["question_count"]:
            counts[one["discipline"] or _UNKNOWN] += one["question_count"]
    return dict(sorted(counts.items()))


def _count_originals(talk: Talk) -> dict[str, int]:
    """Questions of papers in the bank, by discipline."""
    rows = talk.read("sql", "bank_statistics")
    return {str(one["name"]): int(one["original_count"]) for one in rows if one["grouped_by"] == "discipline"}


def _count_bank(talk: Talk) -> int:
    return sum(_count_originals(talk).values())


def _list_batches(talk: Talk) -> list[dict[str, Any]]:
    batches: list[dict[str, Any]] = talk.read("review", "status")["batches"]
    return batches


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
