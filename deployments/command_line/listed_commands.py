"""The first level of `proctor`: every command by name and summary.

The module of a command is imported when the command is called or explained.

A command's module may therefore import at its top what its commands use. To list them, for `proctor --help` and at the shell's
completion, imports none of them: Typer and this table are all that the command line costs before a command is known.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Listed(NamedTuple):
    """A command or a group of commands, before its module is imported.

    Attributes:
        name: what is typed after `proctor`.
        module: in deployments/commands, the module with the function of its (last) word, or the group `<name>_app`.
        summary: the first paragraph of its help.
    """

    name: str
    module: str
    summary: str


# What `proctor --help` shows, in its order: whoever comes for one stage finds its commands together.
SECTIONS: Final = {
    "Begin": (
        Listed("demo", "operate.start", "Run a whole exam of two months on our own sample papers."),
        Listed("start", "operate.start", "Your own first month, step by step: from papers to a leaderboard."),
        Listed(
            "init",
            "operate.installation",
            "Create PROCTOR_HOME: ledger, lake, and a model registry to fill in.",
        ),
        Listed(
            "settings",
            "operate.settings",
            "Settings: what can be set, and to what. Without a command: `list`.",
        ),
        Listed(
            "doctor",
            "operate.upkeep",
            "Check the installation and the data: programs, versions and stores.",
        ),
        Listed("status", "operate.installation", "Show what runs and what lies where."),
    ),
    "Papers become questions": (
        Listed(
            "ingest",
            "papers.ingest",
            "Read exam papers (Excel, Word, PDF, text) into documents and questions.",
        ),
        Listed(
            "ingest learn",
            "papers.rules",
            "Fit the confidence again on what review decided, and report what that would change.",
        ),
        Listed("documents", "papers.documents", "List, look at, release and remove ingested documents."),
        Listed(
            "rules", "papers.rules", "The rules of a question and of its variants, and where they are broken."
        ),
        Listed(
            "review",
            "review.gate",
            "The expert review gate: assign questions, export and import workbooks, see how far it is and who agrees.",
        ),
        Listed("web", "operate.web", "Serve the web pages until interrupted."),
        Listed("augment", "papers.augment", "Make variants of every accepted question that has none yet."),
        Listed(
            "dedupe",
            "papers.bank",
            "Find duplicates. Without a command: `run`, over the bank and what arrived.",
        ),
        Listed(
            "bank",
            "papers.bank",
            "Look at the bank, compare its versions, take questions out. Without a command: `stats`.",
        ),
    ),
    "The month's exam": (
        Listed(
            "models",
            "exam.models",
            "The models of the registry, and whether they answer. Without a command: `list`.",
        ),
        Listed(
            "organisations",
            "exam.models",
            "List the organisations that own models, and limit their questions.",
        ),
        Listed("exam", "exam.sessions", "Plan and serve the exam; users, tokens and sessions."),
        Listed("evaluate", "exam.evaluate", "Let the due candidates sit the month's exam."),
        Listed("judge", "judge.scoring", "Judge every landed response that has no judgement yet."),
        Listed("publish", "judge.scoring", "Freeze what a judged run came to and publish it."),
        Listed("report", "judge.scoring", "Render the report over the whole lake."),
        Listed("monthly", "exam.evaluate", "The whole exam of a month: evaluate, judge, report."),
        Listed(
            "runs",
            "operate.runs",
            "What has run and how it ended, how far runs are, what they have spent and may spend. Without a command: `list`.",
        ),
        Listed(
            "unparsed",
            "judge.scoring",
            "Responses for which no judge's reply could be read: a person gives the stars.",
        ),
        Listed("approvals", "exam.approvals", "Requests that need a second person (PROCTOR_TWO_PERSONS)."),
        Listed("witness", "exam.log", "Be a witness: check the public log, and keep its last signed head."),
    ),
    "How far the judges can be believed": (
        Listed(
            "calibrate",
            "judge.calibrate",
            "Judges compared with people, who rate a sample of responses blind.",
        ),
        Listed("drift", "judge.drift", "The same responses judged again every month: has a judge changed?"),
        Listed(
            "errors",
            "judge.errors",
            "Why answers fail: failed responses are drawn, labelled by a model, confirmed or corrected by people.",
        ),
        Listed(
            "recalibrate",
            "judge.stability",
            "Show what a new fit of all editions would move; write nothing.",
        ),
        Listed(
            "stability", "judge.stability", "Draw other samples from the questions of a published edition."
        ),
    ),
    "Read the results": (
        Listed(
            "verdict",
            "analyse.verdict",
            "Say whether A is better than B, by how much, since when and how sure.",
        ),
        Listed(
            "figure",
            "analyse.verdict",
            "Draw one figure with its caption, as SVG and as PNG of 300 dots an inch.",
        ),
        Listed(
            "improvement",
            "judge.stability",
            "Tell how S of each candidate moved since a month, and whether it is more than noise.",
        ),
        Listed(
            "sql",
            "analyse.query",
            "Run a named analysis or any SELECT over the lake, read-only, while flows may write.",
        ),
        Listed(
            "shell",
            "analyse.query",
            "Open DuckDB's own prompt on the lake, read-only; tables need no prefix.",
        ),
        Listed("attach", "analyse.query", "Print the lines with which other tools read the lake, offline."),
        Listed("export", "analyse.edition_exports", "Published editions in the formats of other tools."),
        Listed(
            "import",
            "analyse.imports",
            "Results that were made elsewhere: logs of Inspect and lm-evaluation-harness, tables of marks, published scores.",
        ),
        Listed(
            "contamination",
            "analyse.contamination",
            "Questions replayed with a blank: what candidates complete from memory.",
        ),
        Listed("agreement", "analyse.verdict", "Percent agreement, Cohen's kappa and Krippendorff's alpha."),
    ),
    "The league, and generated texts": (
        Listed(
            "league",
            "league.league",
            "Models examine each other: they set questions, answer them, judge the answers, and are ranked.",
        ),
        Listed("gscore", "gscore.score", "Score generated text against references."),
        Listed(
            "cgeval",
            "gscore.cgeval",
            "CG-Eval: put its questions to models, score the texts, compare the scores with people's.",
        ),
    ),
    "Keep it running": (
        Listed("up", "operate.installation", "Start a local Prefect server (and worker) in the background."),
        Listed("down", "operate.installation", "Stop the server and worker of this PROCTOR_HOME."),
        Listed(
            "deploy",
            "operate.installation",
            "Register every flow of deployments/prefect.yaml with the server.",
        ),
        Listed(
            "worker", "operate.installation", "Run what deployments start on this host, until interrupted."
        ),
        Listed(
            "hosts",
            "operate.hosts",
            "What the hosts of an installation share, and whether this one has the same. Without a command: `list`.",
        ),
        Listed(
            "logs",
            "operate.runs",
            "The log of a run: what began and ended when, with ids and counts. Never any content.",
        ),
        Listed("metrics", "operate.metrics", "Numbers of runs for Prometheus, printed, written or served."),
        Listed("clock", "operate.hosts", "Compare the clock with other evidence of the time."),
        Listed(
            "validate",
            "operate.upkeep",
            "Run the Great Expectations suite of every table over what has landed.",
        ),
        Listed(
            "backup",
            "operate.upkeep",
            "Copy ledger, lake, archive and secrets, consistently, while flows may run.",
        ),
        Listed("restore", "operate.upkeep", "Put a backup into an empty PROCTOR_HOME."),
        Listed(
            "compact",
            "operate.upkeep",
            "Merge the lake's files, drop old snapshots and orphans. Queries run meanwhile.",
        ),
        Listed(
            "archive",
            "operate.upkeep",
            "Move replies, answers and steps of closed runs from the ledger to the lake.",
        ),
        Listed(
            "erase",
            "operate.erase",
            "Erase the raw texts of answers, reasoning, and what judges wrote of them.",
        ),
        Listed(
            "packages",
            "operate.packages",
            "The packages that this installation is made of. Without a command: `list`.",
        ),
    ),
}
COMMANDS: Final = tuple(listed for section in SECTIONS.values() for listed in section)

# Commands of the group `exam` that need no other module of it, which would be a quarter of what they cost.
_ALONE: Final = dict.fromkeys(("audit", "explain", "enrol", "receipt", "verify"), "exam.log")


class ListedCommand(TyperCommand):
    """A command's place in the list.

    Whatever is done with it is done with the command of its module.
    """

    def __init__(self, listed: Listed) -> None:
        super().__init__(name=listed.name, help=listed.summary, callback=None)
        self.listed = listed

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """The context of the module's own command.

        That command is thereby what runs, explains and completes itself.
        """
        return load_command(self.listed).make_context(*arguments, **options)


class ListedGroup(TyperGroup):
    """The commands of the table."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for listed in COMMANDS:
            self.add_command(ListedCommand(listed))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands in their sections, no summary cut."""
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(listed.name, listed.summary) for listed in section])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first word, or of two that are listed or stand alone."""
        if args[:1] == ["exam"] and (module := _ALONE.get("".join(args[1:2]))):
            alone = ListedCommand(Listed(f"exam {args[1]}", module, ""))
            return alone.name, alone, args[2:]
        if " ".join(args[:2]) in self.commands and len(args) > 1:
            args = [" ".join(args[:2]), *args[2:]]
        return super().resolve_command(ctx, args)


@cache
def load_command(listed: Listed) -> Any:
    """The command (or group, with all that is below it) as its module has it.

    The module is imported.
    """
    module = import_module(f"deployments.commands.{listed.module}")
    word = listed.name.split()[-1]
    holder = typer.Typer(add_completion=False, rich_markup_mode=None)
    if (group := getattr(module, f"{word}_app", None)) is not None:
        holder.add_typer(group, name=listed.name, help=listed.summary)
    else:
        holder.command(listed.name)(getattr(module, word))
    _make_shared(holder)
    built = typer.main.get_command(holder)
    return built.commands[listed.name] if isinstance(built, TyperGroup) else built


def _make_shared(group: typer.Typer) -> None:
    """Let every command below the group have what all commands have."""
    from deployments.command_line.command import Command, with_option_groups

    for command in group.registered_commands:
        command.cls = Command
        if command.callback is not None:
            command.callback = with_option_groups(command.callback)
    for below in group.registered_groups:
        if below.typer_instance is not None:
            _make_shared(below.typer_instance)
