"""proctor ingest."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import NoServer
from deployments.flow_runs import run_flow
from schemas.counting import say_count
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.ingest import (
    AssistanceSummary,
    Assistant,
    IngestOptions,
    find_nothing_new,
    list_sources,
    make_options,
    parse_document,
    parse_sources,
    read_assist_model,
    render_check_page,
)
from tasks.review import open_waiting_batch
from warehouse.lake import share_lake
from warehouse.ledger.engine.opening import open_ledger

# A question that stands in two papers is reviewed once.
_ONCE = " (one that stands in two papers counts once)"


@dataclass(frozen=True)
class ReadingOptions:
    """What is known of the papers before they are read."""

    discipline_map: Annotated[
        Path | None,
        typer.Option(
            "--discipline-map",
            help="YAML: part or pattern of a path → discipline. Default: PROCTOR_HOME/disciplines.yaml.",
        ),
    ] = None
    mapping_file: Annotated[
        Path | None, typer.Option("--map", help="YAML: what the columns of unknown spreadsheets hold.")
    ] = None
    source_kind: Annotated[
        str, typer.Option("--source-kind", help="undergraduate_final, postgraduate_entrance or other.")
    ] = ""
    no_ocr: Annotated[bool, typer.Option("--no-ocr", help="Leave scanned pages unread.")] = False


@dataclass(frozen=True)
class CheckOptions:
    """Whether one paper is only looked at, and where the page about it goes."""

    check: Annotated[
        bool, typer.Option("--check", help="Land nothing: write a page that shows how one paper is read.")
    ] = False
    out: Annotated[
        Path | None, typer.Option("--out", help="With --check: the page. Default: in PROCTOR_HOME/checks.")
    ] = None


@dataclass(frozen=True)
class AssistOptions:
    """Whether a model reads papers too, and which."""

    assist: Annotated[
        str,
        typer.Option(
            "--assist",
            metavar="MODEL",
            help="Have papers that the rules may have read wrongly read by this registered model, too (role generator). Default: "
            "the setting second_reader; none for nobody.",
        ),
    ] = ""
    assist_all: Annotated[
        bool, typer.Option("--assist-all", help="With --assist: have every paper read by it.")
    ] = False
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="With --assist: ask and land nothing; say what it costs at most."),
    ] = False


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Papers, or folders of papers.")],
    reading: ReadingOptions,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, max=256, help="Documents read at once.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Read documents again that are landed already.")
    ] = False,
    *,
    assistance: AssistOptions,
    checking: CheckOptions,
    no_server: NoServer = False,
) -> None:
    """Read exam papers (Excel, Word, PDF, text) into documents and questions.

    These then wait for review.

    The same file twice is read once, and a run that was stopped continues where it was. Exit code 1 when a document could
    not be read; the others are landed.

    Example: proctor ingest papers/2026 extra/final.docx --discipline-map disciplines.yaml
    """
    # What is wrong with the command is reported before a server is started.
    list_sources(paths)
    options = make_options(
        reading.discipline_map,
        reading.mapping_file,
        reading.source_kind or None,
        use_ocr=not reading.no_ocr,
        settings=load_settings(),
    )
    is_named = bool(assistance.assist)
    # a look at one paper sends it nowhere unless a model is named
    if is_named or not checking.check:
        assistance = _check_reader(assistance)
    if assistance.estimate and (checking.check or checking.out is not None):
        raise UsageError(
            "--estimate looks at all papers that are named and writes no page. Leave --check and --out away."
        )
    if assistance.estimate:
        _estimate(paths, options, assistance, workers)
        return
    if checking.check:
        _check(paths, options, assistance, checking.out)
        return
    if checking.out is not None:
        raise UsageError("--out belongs to --check. Add --check, or leave --out away.")
    # Whoever looks first leaves the lake attached to the flow that follows.
    with share_lake():
        result = None if again or is_named else _find_nothing_new(paths, options)
        result = result or run_flow(
            "ingest",
            without_server=no_server,
            paths=[str(path.resolve()) for path in paths],
            again=again,
            discipline_map=str(reading.discipline_map.resolve()) if reading.discipline_map else None,
            mapping_file=str(reading.mapping_file.resolve()) if reading.mapping_file else None,
            source_kind=reading.source_kind or None,
            use_ocr=not reading.no_ocr,
            workers=workers,
            assist=assistance.assist or "none",
            assist_all=assistance.assist_all,
        )
    print_result(result, lines=_describe(result), then=_find_next(result))
    if any(problem["status"] not in ("no_questions",) for problem in result["problems"]):
        raise typer.Exit(1)


def _check_reader(assistance: AssistOptions) -> AssistOptions:
    """The same with the model that reads papers, too, named; that it may is checked."""
    settings = load_settings()
    name = settings.choose_reader(assistance.assist)
    if name is not None:
        read_assist_model(settings, name)
    elif assistance.assist_all or assistance.estimate:
        raise UsageError("--assist-all and --estimate belong to --assist. Name a model with --assist.")
    return replace(assistance, assist=name or "")


def _find_nothing_new(paths: list[Path], options: IngestOptions) -> dict[str, Any] | None:
    """The result where every document has landed, without a flow or server; else None."""
    settings = load_settings()
    summary = find_nothing_new(settings, [path.resolve() for path in paths], options)
    return None if summary is None else summary.as_counts() | open_waiting_batch(settings)


def _estimate(
    paths: list[Path], options: IngestOptions, assistance: AssistOptions, workers: int | None
) -> None:
    """Print what having these papers read by the model would cost at most."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        model = read_assist_model(settings, assistance.assist)
        assistant = Assistant(ledger, settings, model, reads_all=assistance.assist_all)
        # what is sent of pictures costs the same whatever they show
        options = options.shown_to(sees_pictures=False)
        papers = parse_sources(list_sources(paths), options, workers or settings.workers)
        found = assistant.estimate(papers)
    cost = (
        f"what it costs is not known. {found.unknown}"
        if found.usd is None
        else f"at most {found.usd:.4f} USD if each reply can be read. What is cut or cannot be read is asked for again, all in all for "
        f"{found.most_usd:.4f} USD at most; PROCTOR_BUDGET_USD is never exceeded, and nothing is paid for twice."
    )
    lines = [
        f"Papers read: {found.papers}. {found.documents} of them would be put to the model {model.name}, in {found.calls} calls "
        f"with {found.characters} characters: {cost}",
        "Nothing was asked, and nothing has landed.",
    ]
    print_result(asdict(found), lines=lines)


def _check(paths: list[Path], options: IngestOptions, assistance: AssistOptions, out: Path | None) -> None:
    """Write the check page of one paper and print where it is; exit code 1 when unread."""
    if len(paths) != 1 or paths[0].is_dir():
        raise UsageError("--check reads one paper. Name one file.")
    assist = assistance.assist
    summary = AssistanceSummary()
    if assist:
        settings = load_settings()
        with open_ledger(settings.ledger_address) as ledger:
            model = read_assist_model(settings, assist)
            assistant = Assistant(ledger, settings, model, reads_all=assistance.assist_all)
            parsed = assistant.read_twice(paths[0], options, summary)
    else:
        parsed = parse_document(paths[0], options)
    page = out or load_settings().home / "checks" / f"{paths[0].name}.html"
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(render_check_page(parsed), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{page} cannot be written ({error.strerror}). Name another file with --out."
        ) from None
    document = parsed.document
    lines = [
        f"{document['document_name']}: {document['status']}, {say_count(document['question_count'], 'question')}",
        *([str(document["error"])] if document["error"] else []),
        *(_describe_assistance(summary.as_counts()) if assist else []),
        f"Page: {page.resolve()}",
    ]
    result = {
        name: document[name] for name in ("document_name", "status", "error", "question_count", "warnings")
    }
    result |= {"page": str(page.resolve()), "assistance": summary.as_counts() if assist else None}
    print_result(result, lines=lines)
    if document["status"] not in ("parsed", "held", "no_questions"):
        raise typer.Exit(1)


def _describe(result: dict[str, Any]) -> list[str]:
    """The summary for people: files by status, questions by type, problems, the next step."""
    read = sum(result["documents"].values())
    lines = [f"Documents read: {read}{_list_counts(result['documents'])}"]
    if result["skipped_documents"]:
        lines.append(
            f"Documents landed (or removed) already: {result['skipped_documents']}; --again reads them again"
        )
    lines.append(f"Questions: {result['question_count']}{_list_counts(result['questions'])}")
    marked = {name: count for name, count in result["question_statuses"].items() if name != "parsed"}
    if marked:
        lines.append(f"Questions marked for the reviewers: {sum(marked.values())}{_list_counts(marked)}")
    if result["assistance"]:
        lines += _describe_assistance(result["assistance"])
    if result["documents_without_discipline"]:
        lines.append(
            f"Documents without a discipline: {result['documents_without_discipline']}. No exam takes their questions until it is "
            "named: with --discipline-map and --again, or in review."
        )
    if result["held"]:
        lines.append(
            f"Held whole: {say_count(len(result['held']), 'paper')} with {say_count(result['held_questions'], 'question')}. Nothing of them is reviewed "
            "until somebody corrects how they are divided on the web desk, or releases them as they are: proctor documents release"
        )
        lines += [f"  {one['document']}: {one['reason']}" for one in result["held"]]
    if result["problems"]:
        lines.append(f"Problems: {len(result['problems'])}")
        lines += [f"  {p['document']}: {p['status']}. {p['error']}" for p in result["problems"]]
    if result["losses"]:
        lines.append(
            f"Perhaps not read whole: {len({loss['document'] for loss in result['losses']})} documents"
        )
        lines += [f"  {loss['document']}: {loss['warning']}" for loss in result["losses"]]
    if result["quarantined_rows"]:
        lines.append(
            f"{say_count(result['quarantined_rows'], 'row is', 'rows are')} in quarantine: proctor sql quarantine_by_rule"
        )
    if result["batch_id"]:
        lines.append(
            f"Review batch {result['batch_id']}: {result.get('assigned_questions', 0)} new questions"
        )
    elif result["waiting_questions"]:
        once = (
            ""
            if result["waiting_questions"] >= result["question_count"] - result["held_questions"]
            else _ONCE
        )
        lines.append(
            f"{say_count(result['waiting_questions'], 'question waits', 'questions wait')} for annotators{once}"
        )
    return lines


def _find_next(result: dict[str, Any]) -> str:
    if result["batch_id"]:
        return "proctor review export FOLDER"
    if result["waiting_questions"]:
        return "proctor exam user add NAME --role annotator, then proctor review assign"
    if result["problems"] and not result["question_count"]:
        return "correct the papers that are named above, and ingest them again"
    return "proctor review status"


def _describe_assistance(counts: dict[str, Any]) -> list[str]:
    """What the model was asked and what came of it."""
    calls = counts["assist_calls"]
    lines = [
        f"Put to the model: documents {counts['assisted_documents']}, new calls {calls.get('sent', 0)}, calls paid for "
        f"before {calls.get('replayed', 0)}. As the model reads them: {counts['taken_readings']} documents with "
        f"{counts['assisted_questions']} questions; as the rules do: {counts['kept_readings']}. Refused because the paper does not "
        f"say them: {counts['refused_questions']} questions."
    ]
    if counts["failure"]:
        lines.append(f"{say_count(counts['failed_documents'], 'document')} got no help: {counts['failure']}")
    return lines


def _list_counts(counts: dict[str, int]) -> str:
    """` (12 parsed, 1 corrupt)`, the most first; nothing for no counts."""
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return f" ({', '.join(f'{count} {name}' for name, count in ordered)})" if ordered else ""
