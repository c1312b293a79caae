"""Duplicates and the bank: dedupe, bank."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line import group_with_default
from deployments.command_line.printing import (
    ask_whether,
    is_json,
    print_frame,
    print_note,
    print_result,
    print_rows,
    write_frame,
)
from deployments.commands.options import NoServer, split_names
from deployments.commands.papers.bank_export import export_bank
from deployments.flow_runs import run_flow
from schemas.counting import say_count
from schemas.errors import UsageError
from schemas.settings import load_settings
from warehouse.lake.reading import LakeReader

# Imported within a function: what brings Polars, NumPy or SQLAlchemy. Not every command here needs it.

dedupe_app = typer.Typer(cls=group_with_default("run"))
bank_app = typer.Typer(cls=group_with_default("stats"))

PublishedReason = Annotated[
    str,
    typer.Option("--reason", help="Why; kept with the question, and published: say nothing of its content."),
]
Question = Annotated[str, typer.Argument(help="UUID of the question, or its beginning (six characters).")]


@dedupe_app.command("run")
def run_dedupe(
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="Compute the index again and compare everything, not only what changed."
        ),
    ] = False,
    no_server: NoServer = False,
) -> None:
    """Compare what review and augmentation brought with the bank.

    If anything changed, a new version is published.

    Example: proctor dedupe
    """
    result = run_flow("dedupe", rebuild=rebuild, without_server=no_server)
    print_result(result, then="proctor bank shows what is published")


@dedupe_app.command("check")
def check_duplicates(
    file: Annotated[
        Path, typer.Argument(help="CSV, TSV, JSONL or Parquet file with a question in each row.")
    ],
    text: Annotated[str, typer.Option("--text", help="The column that holds the question.")],
    options: Annotated[
        str,
        typer.Option(
            "--options",
            help="The column of offered answers (a list, a JSON list, or lines), or one column for each: A,B,C,D.",
        ),
    ] = "",
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.5, max=1.0, help="Jaccard that counts as nearly the same.")
    ] = 0.8,
    out: Annotated[Path | None, typer.Option("--out", help="Write the groups as a CSV file.")] = None,
) -> None:
    """Find questions that are the same or nearly the same in any table.

    This needs no home and changes nothing.

    Example: proctor dedupe check questions.csv --text question --options A,B,C,D
    """
    from tasks.bank.dedupe import find_clusters
    from tasks.texts import read_table

    table = read_table(file, as_text=True)
    clusters = find_clusters(table, text, split_names(options) or (), threshold=threshold)
    left_out = clusters.filter(~clusters["is_kept"])
    if out is not None:
        write_frame(clusters, out, format="csv")
    if is_json():
        print_result({"rows": table.height, "duplicates": left_out.height, "clusters": clusters.to_dicts()})
        return
    if clusters.height and out is None:
        print_frame(clusters, title="Groups of questions that ask the same")
    print_note(
        f"{say_count(table.height, 'row')}: {say_count(left_out.height, 'duplicate')} in {say_count(clusters['cluster'].n_unique(), 'group')}"
        f"{f', written to {out}' if out is not None else ''}."
    )


@dedupe_app.command("semantic")
def find_semantic_pairs(
    embedding: Annotated[str, typer.Option("--embedding", help="Embedding model (name or folder).")],
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.5, max=1.0, help="Cosine from which a pair is shown.")
    ] = 0.95,
    out: Annotated[Path | None, typer.Option("--out", help="Write the pairs as a CSV file.")] = None,
) -> None:
    """Find questions of the bank that mean the same in other words, for people to look at.

    Nothing is taken out.

    Retire the one that should go: `proctor bank retire`.

    Example: proctor dedupe semantic --embedding BAAI/bge-large-zh-v1.5
    """
    from tasks.bank.dedupe import land_semantic_pairs
    from warehouse.lake import open_lake

    settings = load_settings()
    with open_lake(settings) as lake:
        pairs = land_semantic_pairs(lake, settings, embedding, threshold)
    if out is not None:
        write_frame(pairs, out, format="csv")
    if is_json():
        print_result({"pairs": pairs.to_dicts()})
        return
    if out is None:
        print_frame(pairs, title="Pairs to look at")
    print_note(f"{pairs.height} pairs{f', written to {out}' if out is not None else ''}.")


@bank_app.command("stats")
def show_statistics() -> None:
    """What the bank holds: its versions, and the latest one by discipline and type.

    It also shows what augmentation added.

    Example: proctor bank
    """
    with LakeReader(load_settings()) as lake:
        versions = lake.read("published_versions")
        counts = lake.read("latest_bank_counts")
        statistics = lake.run_named("bank_statistics")
    if is_json():
        result = {
            "versions": versions.as_records(),
            "latest": counts.as_records(),
            "augmentation": statistics.as_records(),
        }
        print_result(result)
        return
    print_rows(versions, title="Bank versions")
    print_rows(counts, title="Latest version")
    print_rows(statistics, title="Before and after augmentation (percent)")
    print_note("Next: proctor exam plan" if versions.rows else "Next: proctor review status")


@bank_app.command("versions")
def list_versions() -> None:
    """List the published versions: how many questions, lineages and duplicates, and when.

    Example: proctor bank versions
    """
    with LakeReader(load_settings()) as lake:
        versions = lake.read("published_versions")
    print_rows(versions)


@bank_app.command("diff")
def show_difference(
    before: Annotated[int, typer.Argument(help="A version of the bank.")],
    after: Annotated[int, typer.Argument(help="A later one. Default: the latest.")] = 0,
) -> None:
    """Show what entered, left or was edited between two versions, and why it left.

    Example: proctor bank diff 1 2
    """
    with LakeReader(load_settings()) as lake:
        known = [row["bank_version"] for row in lake.read("published_versions").as_records()]
        last = after or (known[-1] if known else 0)
        for version in (before, last):
            if version not in known:
                named = ", ".join(map(str, known)) or "none yet"
                raise UsageError(f"There is no version {version} of the bank. The versions are: {named}.")
        rows = lake.read("bank_difference", {"before_version": before, "after_version": last})
    counts = Counter(row["change"] for row in rows.as_records())
    if is_json():
        print_result(
            {"before": before, "after": last, "counts": dict(counts), "questions": rows.as_records()}
        )
        return
    print_rows(rows, title=f"Version {before} → {last}")
    said = ", ".join(f"{count} {change}" for change, count in sorted(counts.items())) or "nothing changed"
    print_note(said[0].upper() + said[1:] + ".")


@bank_app.command("show")
def show_question(question: Question) -> None:
    """Show a question's card: text, lineage, reviews and duplicates.

    It also shows who met the question, how hard it is, and what it earned.

    It shows the answer: not for the eyes of candidates.

    Example: proctor bank show 6f1c52b8
    """
    from tasks.bank import read_card
    from warehouse.lake import open_lake

    with open_lake(load_settings(), read_only=True) as lake:
        card = read_card(lake, question)
    print_result(card)


@bank_app.command("retire")
def retire(
    question: Question,
    reason: PublishedReason,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Take a question out of the bank, and publish the version without it.

    An original takes its variants with it.

    The public log says how many questions left, and why, never which. Earlier versions, runs and editions keep it. What was left out as its duplicate is compared again and may come in.

    Example: proctor bank retire 6f1c52b8 --reason "the key is wrong"
    """
    _move(question, reason, is_retired=True, yes=yes)


@bank_app.command("restore")
def restore(
    question: Question,
    reason: PublishedReason,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Take a retired question back into the bank, and publish the version with it.

    An original brings its variants.

    It is compared as an arrival is: what came in for its sake meanwhile stays, and keeps it out. Both reasons are kept. The public log
    says how many questions came back, and why, never which.

    Example: proctor bank restore 6f1c52b8 --reason "the key was right after all"
    """
    _move(question, reason, is_retired=False, yes=yes)


@bank_app.command("disclose")
def disclose(
    question: Question,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the audit log.")],
    leaked: Annotated[
        bool,
        typer.Option("--leaked", help="It is known outside already: disclose it although it is not retired."),
    ] = False,
) -> None:
    """Publish one question, with what was right; this cannot be taken back.

    This also proves that the question was in bank and set.

    Only a question that is retired, or has leaked; never one whose lineage a session still has before it.

    Example: proctor bank disclose 6f1c52b8 --reason "asked for by a candidate"
    """
    from tasks.bank import find_question
    from tasks.exam.public.bank import disclose_question
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        found = find_question(lake, question)
        disclosed = disclose_question(ledger, lake, settings, found, reason, is_leaked=leaked)
    if disclosed.refusal is not None:
        print_note(f"Warning: {disclosed.refusal}")
    how = "Disclosed" if disclosed.is_new else "Disclosed before, and left as it is"
    sets = f" It was put in {', '.join(disclosed.set_ids)}." if disclosed.set_ids else ""
    line = f"{how}: public/questions/{disclosed.file}.{sets}"
    if found["until_version"] is None:
        name = str(found["question_uuid"])[:8]
        print_note(
            f"Warning: it is still in the bank, and everybody can read it: `proctor bank retire {name} --reason TEXT`."
        )
    print_result(disclosed._asdict(), lines=[line], then="proctor exam seal")


def _move(question: str, reason: str, *, is_retired: bool, yes: bool) -> None:
    from tasks.bank import count_moved, find_question, restore_question, retire_question
    from tasks.exam.public.bank import check_undisclosed
    from tasks.exam.public.log import publish_retirement
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    settings = load_settings()
    with open_lake(settings) as lake:
        found = find_question(lake, question)
        if not is_retired:
            with open_ledger(settings.ledger_address) as ledger:
                check_undisclosed(ledger, lake, settings, found)
        if not yes and not is_json() and sys.stdin.isatty():
            what = "Retire" if is_retired else "Restore"
            ask_whether(f"{what} {found['question_uuid']} ({found['discipline']})?", abort=True)
        move = retire_question if is_retired else restore_question
        moved = move(lake, settings, str(found["question_uuid"]), reason)
        # Also of one that a killed command has moved already.
        version, count = count_moved(lake, moved.question_uuid, is_retired=is_retired)
    if count:
        with open_ledger(settings.ledger_address) as ledger:
            refusal = publish_retirement(
                ledger,
                settings,
                count=count,
                bank_version=version,
                reason=reason.strip(),
                is_retired=is_retired,
            )
        if refusal is not None:
            print_note(f"Warning: {refusal}")
    whole = f"{moved.question_uuid}{' with its lineage' if moved.is_whole_lineage else ''}"
    if is_retired:
        came = (
            f", and {moved.entered_count} came in for them, as they say the same: where it has leaked, retire them, too (`proctor bank diff "
            f"{moved.bank_version - 1}`)"
            if moved.entered_count
            else ""
        )
        line = f"Retired {whole}: version {version} is without {say_count(count, 'question')}{came}."
    elif count:
        line = f"Restored {whole}: version {version} has {say_count(count, 'question')} more."
    else:
        line = (
            f"{whole} is not retired any more, but version {moved.bank_version} has nothing new of it: another "
            f"question says the same, or its original is retired (`proctor bank show {moved.question_uuid[:8]}`)."
        )
    print_result(asdict(moved), lines=[line], then="proctor bank versions")


bank_app.command("export")(export_bank)
