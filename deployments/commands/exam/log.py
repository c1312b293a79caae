"""What is proven of an exam: exam audit|enrol|receipt|verify, explain; witness."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from deployments.command_line.printing import is_json, print_result
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.exam.log.signing import open_signer, read_public_key
from tasks.exam.public import name_public_files, run_verifier

# Imported within a function: what brings SQLAlchemy. Not every command here needs it.


def audit(
    run_id: Annotated[str, typer.Argument(help="Tell what happened to this run.")] = "",
    language: Annotated[str, typer.Option("--language", help="Language of the story: en or zh.")] = "en",
) -> None:
    """Check the audit log and everything that it fixes, or tell what happened to a run.

    What happened is told in order. Exit code 1 when something was changed.

    The check covers the chain of all entries, the signed heads here and in `secrets/log-heads.jsonl`, keys, answers, drawn contents,
    seeds, roles, limits, deadlines and closings, the public log with its files, and every stage that leads to a star: papers, reviews, draws,
    calls, all that landed, the registry and the report. It names each change.

    Example: proctor exam audit 2026-11
    """
    from tasks.exam.log import check_log, read_language, tell_run
    from tasks.exam.public.log import check_public_log
    from tasks.proof import check_stages
    from tasks.running import Progress
    from tasks.running.archives import read_whole
    from warehouse.lake import is_initialised, open_lake
    from warehouse.ledger.engine.opening import open_ledger

    settings = load_settings()
    chosen = read_language(language)
    with open_ledger(settings.ledger_address) as ledger:
        if run_id:
            with read_whole(ledger, settings, run_id=run_id) as connection:
                story = tell_run(connection, run_id, chosen)
            lines = [told.sentence for told in story.events] + [told.sentence for told in story.sessions]
            print_result(asdict(story), lines=lines, then="proctor exam audit")
            return
        report = check_log(ledger, settings)
        public = check_public_log(ledger, settings)
        with ExitStack() as stack, Progress("audit: rows") as progress:
            lake = (
                stack.enter_context(open_lake(settings, read_only=True)) if is_initialised(settings) else None
            )
            proof = check_stages(ledger, lake, settings, progress.advance)
    findings = [*report.findings, *public.findings, *proof.findings]
    faults = [finding._asdict() for finding in findings]
    lines = [f"{found.name}: {found.where}: {found.reason}." for found in findings] or [
        *(
            f"{erasure.answer_count} answers of run {erasure.run_id} were erased on {erasure.erased_at[:10]} by {erasure.erased_by} "
            f"({erasure.cause}): {erasure.reason}"
            for erasure in report.erasures
        ),
        f"The audit log is whole: {report.entry_count} entries, {report.signed_count} signed heads, "
        f"{report.unsigned_count} entries since the last one.",
        f"The public log is whole: {public.entry_count} entries, {public.signed_count} signed heads.",
        f"Every stage is as it was closed: {proof.unit_count} units, {proof.original_count} originals of papers and "
        f"{proof.picture_count} pictures of questions.",
    ]
    result = {
        **asdict(report),
        "public_entry_count": public.entry_count,
        "public_signed_count": public.signed_count,
        "unit_count": proof.unit_count,
        "original_count": proof.original_count,
        "picture_count": proof.picture_count,
        "findings": faults,
    }
    print_result(result, lines=lines)
    if faults:
        raise typer.Exit(1)


def explain(
    run_id: Annotated[str, typer.Argument(help="The run, or a session of it.")],
    seq: Annotated[int, typer.Argument(help="Position of the question in the session, from 1.")],
    model: Annotated[str, typer.Option("--model", help="The candidate.")] = "",
    style: Annotated[str, typer.Option("--style", help="Its prompt style.")] = "",
    repeat: Annotated[int | None, typer.Option("--repeat", help="Which of its repeats.")] = None,
) -> None:
    """Walk from an answer's stars back to the page of its question, with what proves each step.

    The steps: the judge's stars, the reply they were read from, the response, the question as it was sealed, the bank version, the
    decision and its reviewers, the question as it was read, the text, the original's bytes. No question and no answer is printed.
    Exit code 1 when a step does not hold.

    Example: proctor exam explain 2026-11 7 --model my-model --style zero_shot --repeat 1
    """
    from tasks.proof import explain_answer, find_sitting
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        sitting = find_sitting(ledger, run_id, model, style, repeat)
        with open_lake(settings, read_only=True) as lake:
            walk = explain_answer(ledger, lake, settings, sitting, seq)
    lines = [
        f"Question {walk.seq} of {walk.model}, {walk.prompt_style}, repeat {walk.repeat}, in run {walk.run_id}:",
        *(
            f"  {step.step:9}{step.what}. {'Proven' if step.is_proven else 'NOT PROVEN'}: {step.proof}."
            for step in walk.steps
        ),
    ]
    print_result({**asdict(walk), "is_proven": walk.is_proven}, lines=lines)
    if not walk.is_proven:
        raise typer.Exit(1)


def enrol(
    candidate: Annotated[str, typer.Argument(help="The candidate's user, candidate:MODEL.")],
    key: Annotated[
        Path | None, typer.Option("--key", help="File with the Ed25519 public key: PEM, or base64.")
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take the key away: answers need no signature.")
    ] = False,
) -> None:
    """Enrol the public key that a candidate's answers must be signed with, or take it away.

    The key holds from now on. The audit log names who did it.

    Example: proctor exam enrol candidate:my-model --key public.pem
    """
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.trust.users import write_public_key

    if remove == (key is not None):
        raise UsageError("Give the file of a public key with --key, or --remove.")
    public_key = None
    if key is not None:
        try:
            public_key = read_public_key(key.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{key} cannot be read ({type(error).__name__}).") from None
    with open_ledger(load_settings().ledger_address) as ledger, ledger.write() as connection:
        write_public_key(connection, candidate, public_key)
    result: dict[str, Any] = {"user_id": candidate, "public_key": public_key}
    lines = [
        f"{candidate} signs its answers from now on."
        if public_key
        else f"{candidate} signs nothing any more."
    ]
    print_result(result, lines=lines)


def receipt(
    file: Annotated[Path, typer.Argument(help="File with receipts: JSON, one or a list, or one a line.")],
    session_id: Annotated[
        str, typer.Option("--session", help="Session of receipts that do not name theirs.")
    ] = "",
    public_key: Annotated[
        str,
        typer.Option(
            "--public-key", help="The installation's key (GET /log/key), in base64: check without a home."
        ),
    ] = "",
) -> None:
    """Check receipts of answers: the installation's signature and, in its home, the audit log.

    Of the audit log the entries that belong to the receipts are checked. Exit code 1 when a receipt is not good.

    Example: proctor exam receipt receipts.jsonl --public-key KEY
    """
    from tasks.exam.log.signing import check_receipt, read_receipts
    from tasks.running.archives import read_whole
    from warehouse.ledger.engine.opening import open_ledger

    receipts = list(read_receipts(file, session_id))
    if public_key:
        key = read_public_key(public_key)
        checked = [check_receipt(found, key) for found in receipts]
    else:
        settings = load_settings()
        key = open_signer(settings).public_key
        named = sorted({str(found["session_id"]) for found in receipts})
        with (
            open_ledger(settings.ledger_address) as ledger,
            read_whole(ledger, settings, session_ids=named) as connection,
        ):
            checked = [check_receipt(found, key, connection) for found in receipts]
    bad = [found for found in checked if found.finding != "good"]
    lines = [f"Session {found.session_id}, question {found.seq}: {found.finding}." for found in bad]
    lines.append(f"{len(checked) - len(bad)} of {len(checked)} receipts are good.")
    print_result({"receipts": [found._asdict() for found in checked], "is_good": not bad}, lines=lines)
    if bad:
        raise typer.Exit(1)


def verify(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="A published folder. Default: what this home has published.", exists=True, file_okay=False
        ),
    ] = None,
    receipts: Annotated[
        list[Path] | None,
        typer.Option(
            "--receipts", help="File with receipts of answers; may be repeated.", exists=True, dir_okay=False
        ),
    ] = None,
    heads: Annotated[
        list[Path] | None,
        typer.Option(
            "--head",
            help="File with signed heads that a witness kept; may be repeated.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    public_key: Annotated[
        str, typer.Option("--key", help="The installation's key (GET /log/key), in base64, or its name.")
    ] = "",
    require: Annotated[
        str,
        typer.Option(
            "--require",
            help="Fail where an edition that stands has a lower grade: self-attested, witnessed, or 'witnessed + beacon'.",
        ),
    ] = "",
) -> None:
    """Check what an exam has published: log, draws, who met what, answers, scores.

    Exit code 1 when something does not hold; each fault is named.

    Runs the one file `tasks/exam/public/verifier.py` in a Python of its own that knows nothing of Proctor: outsiders can copy it, or write
    another from docs/verify.md.

    Example: proctor exam verify --head witness.jsonl --receipts receipts.jsonl
    """
    holds = run_verifier(
        folder or name_public_files(load_settings()),
        receipts=receipts or (),
        heads=heads or (),
        key=public_key,
        as_json=is_json(),
        require=require,
    )
    if not holds:
        raise typer.Exit(1)


def witness(
    file: Annotated[Path, typer.Argument(help="Where this witness keeps heads; it is made the first time.")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="The published folder, or a copy of it. Default: what this home has published.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    public_key: Annotated[
        str, typer.Option("--key", help="The installation's key (GET /log/key), in base64, or its name.")
    ] = "",
) -> None:
    """Be a witness: check the public log, and keep its last signed head.

    It is to be kept where the exam's operator cannot change it.

    Nothing is kept of a log that does not hold or does not continue what was kept before. Exit code 1 then: tell other witnesses.

    Anybody can run it, on another machine, under another account: it needs a copy of the folder and one file, `python verifier.py PUBLIC
    --keep FILE`, that knows nothing of Proctor.

    Example: proctor witness ~/heads-of-the-exam.jsonl /mirror/public
    """
    public = folder or name_public_files(load_settings())
    if not run_verifier(public, keep=file, key=public_key, as_json=is_json()):
        raise typer.Exit(1)
