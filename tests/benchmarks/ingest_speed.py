"""How fast are papers read?

It measures conversion beside the bare libraries, splitting, and ten thousand files landed.

Run: python -m tests.benchmarks.ingest_speed [files to land, default 10000]
CPU seconds, children included; the files and the texts are made here, and the real papers join in where they are.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.benchmarks.ingest_papers import LAYOUTS, make_file, make_paper

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
SIZES = {"small": 8_000, "medium": 200_000, "large": 5_000_000}
WORKERS = 2
_OPTIONS: dict[str, Any] = {"time_limit_s": 600.0, "use_ocr": True}


def main(file_count: int = 10_000) -> None:
    """Measure and print the three tables."""
    measure_conversion()
    measure_splitting()
    measure_landing(file_count)


# Conversion


def measure_conversion() -> None:
    """Measure the CPU of our conversion to lines or sheets, per kind.

    It stands beside that of the bare library on the same bytes.
    """
    from tasks.ingest.readers import READERS
    from tests.benchmarks.ingest_lines import extract

    print(
        f"\n{'conversion (CPU ms per file)':<44}{'files':>6}{'KB':>7}{'ours':>9}{'bare':>9}{'ratio':>7}  bare is"
    )
    for name, kind, files, bare, note in _list_conversions():
        # a page of a PDF whose font says nothing goes to OCR too: that is measured with the scan
        options = {**_OPTIONS, "use_ocr": "scan" in name}
        ours_s = sum(_best(extract, data, READERS.find(kind), options) for data in files)
        bare_s = sum(_best(bare, data) for data in files)
        size = sum(map(len, files)) / len(files) / 1e3
        print(
            f"{name:<44}{len(files):>6}{size:>7.0f}{ours_s / len(files) * 1e3:>9.1f}{bare_s / len(files) * 1e3:>9.1f}"
            f"{ours_s / bare_s:>7.1f}  {note}",
            flush=True,
        )
    _print_isolation()


def _list_conversions() -> Iterable[tuple[str, str, list[bytes], Callable[[bytes], object], str]]:
    from tasks.ingest import find_libreoffice
    from tasks.ingest.readers.ocr import is_ocr_installed

    libraries = {
        "docx": (_bare_docx, "zipfile + lxml: all parts parsed, w:t joined"),
        "xlsx": (_bare_workbook, "calamine to lists"),
        "pdf": (_bare_pdf, "pdfium get_text_range"),
    }
    for kind, (bare, note) in libraries.items():
        made = [make_file(kind, seed).data for seed in range(8)]
        yield f"{kind}, made here", kind, made, bare, note
        large = [make_file(kind, 1, size=200_000).data]
        yield f"{kind}, made here, large", kind, large, bare, note
        real = _read_real(f"*.{kind}", "scan")
        if real:
            yield f"{kind}, real papers", kind, real, bare, note
    xls = _read_real("*.xls")
    if xls:
        yield "xls, real papers", "xls", xls, _bare_workbook, "calamine to lists"
    word = _read_real("*.doc")
    if word and find_libreoffice():
        yield "doc, real papers", "doc", word, _bare_office, "soffice --convert-to docx"
    scans = [path.read_bytes() for path in sorted((SHARED / "exams").glob("*scan*.pdf"))]
    if scans and is_ocr_installed():
        yield "scan, real papers", "pdf", scans, _bare_ocr, "RapidOCR on pages rendered at the same dpi"


def _read_real(pattern: str, without: str = "\0") -> list[bytes]:
    return [
        path.read_bytes() for path in sorted((SHARED / "exams").glob(pattern)) if without not in path.name
    ]


def _bare_docx(data: bytes) -> object:
    from lxml import etree

    text = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t"
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        roots = [
            etree.fromstring(package.read(name))
            for name in ("word/document.xml", "word/styles.xml", "word/numbering.xml", "word/footnotes.xml")
            if name in package.namelist()
        ]
    return "".join(node.text or "" for node in roots[0].iter(text))


def _bare_workbook(data: bytes) -> object:
    import python_calamine

    workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    return [workbook.get_sheet_by_name(name).to_python() for name in workbook.sheet_names]


def _bare_pdf(data: bytes) -> object:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    return [page.get_textpage().get_text_range() for page in document]


def _bare_office(data: bytes) -> object:
    from tasks.ingest import find_libreoffice

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "paper.doc"
        path.write_bytes(data)
        profile = f"-env:UserInstallation=file://{folder}/profile"
        command = [str(find_libreoffice()), "--headless", profile, "--convert-to", "docx", "--outdir", folder]
        subprocess.run([*command, str(path)], check=True, capture_output=True)
        return path.with_suffix(".docx").read_bytes()


def _bare_ocr(data: bytes) -> object:
    import pypdfium2
    from rapidocr import RapidOCR

    from tasks.ingest.readers import ocr

    # As many threads as the pipeline gives it: what is compared is the work around the engine.
    threads = {key: value for key, value in ocr.ENGINE.items() if key.endswith("num_threads")}
    engine = RapidOCR(params={"Global.log_level": "critical", **threads})
    document = pypdfium2.PdfDocument(data)
    return [engine(page.render(scale=ocr.RESOLUTION / 72).to_numpy()) for page in document]


def _print_isolation() -> None:
    """Print what it costs to read a document in a process of its own.

    The cost is the fork, its limits, and JSON both ways.
    """
    from tasks.ingest import IngestOptions, parse_document
    from tasks.ingest.guard.client import close_servers

    print(f"\n{'whole document (CPU ms)':<44}{'guarded':>9}{'within':>9}{'isolation':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("txt", "docx", "xlsx", "pdf"):
            made = make_file(kind, 1)
            path = Path(folder) / f"paper.{kind}"
            path.write_bytes(made.data)
            guarded: list[float] = []
            for count in (1, 41):
                close_servers()
                before = _read_cpu()
                for _ in range(count):
                    parse_document(path, IngestOptions())
                close_servers()
                guarded.append(_read_cpu() - before)
            within = _best(read_within, path)
            each = (guarded[1] - guarded[0]) / 40
            print(
                f"{kind + ', 2 KB of text':<44}{each * 1e3:>9.1f}{within * 1e3:>9.1f}{(each - within) * 1e3:>11.1f}"
            )
        print(f"{'starting the server (once per worker)':<44}{guarded[0] * 1e3:>9.0f}")


def read_within(path: Path) -> dict[str, Any]:
    """Read a document in this process, as the guarded child does."""
    from schemas.tables import get_table
    from tasks.ingest.reading import read_document

    row: dict[str, Any] = {column.name: None for column in get_table("documents").own_columns}
    row |= {"document_id": "within", "document_name": path.name, "source_path": path.name}
    row |= {"source_kind": "other", "question_count": 0, "warnings": []}
    options: dict[str, Any] = {"mapping_file": None, "discipline_map": {}, "confidence_threshold": 0.6}
    return read_document(path, row, {**_OPTIONS, **options})


# Splitting


def measure_splitting() -> None:
    """MB of UTF-8 text per CPU second, and how the time grows with the size."""
    from tests.benchmarks.ingest_lines import Line, join_lines, split_lines

    print(f"\n{'splitting':<44}{'papers':>8}{'MB':>8}{'CPU s':>8}{'MB/CPU s':>10}{'ms/KB':>8}")
    # Patterns are compiled when they are first met: once in a process, which reads papers by the thousand.
    for layout in LAYOUTS:
        lines = [Line(text) for text in make_paper(SIZES["small"], 0, *layout).lines]
        split_lines(lines, join_lines(lines)[1])
    real = [[line.text for line in extraction.lines] for extraction in _extract_real() if extraction.lines]
    if real:
        _print_split("the real papers", real * 3)
    for name, size in SIZES.items():
        for language in ("zh", "en"):
            layouts = [layout for layout in LAYOUTS if layout[0] == language]
            layouts = layouts if name == "small" else layouts[1::3] if name == "medium" else layouts[2:3]
            repeats = 3 if name == "small" else 1
            papers = [make_paper(size, seed, *layout).lines for seed in range(repeats) for layout in layouts]
            _print_split(f"{name} ({size // 1000:,} KB), {language}", papers)


def _extract_real() -> list[Any]:
    from tasks.ingest.readers import READERS
    from tests.benchmarks.ingest_lines import extract

    return [
        extract(path.read_bytes(), READERS.find(path.suffix[1:]), _OPTIONS)
        for path in sorted((SHARED / "exams").glob("*.*"))
        if path.suffix in (".docx", ".pdf") and "scan" not in path.name
    ]


def _print_split(name: str, papers: Sequence[list[str]]) -> None:
    from tests.benchmarks.ingest_lines import Line, join_lines, split_lines

    size = sum(len("\n".join(paper).encode()) for paper in papers)
    seconds = 0.0
    for paper in papers:
        lines = [Line(text) for text in paper]
        starts = join_lines(lines)[1]
        began = time.process_time()
        split_lines(lines, starts)
        seconds += time.process_time() - began
    print(
        f"{name:<44}{len(papers):>8}{size / 1e6:>8.2f}{seconds:>8.2f}{size / 1e6 / seconds:>10.2f}"
        f"{seconds / size * 1e6:>8.2f}",
        flush=True,
    )


# Landing


def measure_landing(file_count: int) -> None:
    """Land a folder of made papers with two workers.

    Then a landing follows that has nothing new, then one that is killed halfway.
    """
    with tempfile.TemporaryDirectory(prefix="ingest-speed-") as folder:
        root = Path(folder)
        began = time.process_time()
        _write_files(root / "papers", file_count)
        print(f"\n{file_count:,} papers written ({time.process_time() - began:.0f} CPU s)", flush=True)
        print(
            f"{'landing (parse, archive, land; 2 workers)':<44}{'read':>8}{'known':>8}{'wall s':>8}{'docs/s':>8}{'CPU ms/doc':>11}"
        )
        first = _land(root / "papers", root / "home")
        _print_run("first run", first, file_count)
        second = _land(root / "papers", root / "home")
        _print_run("second run: nothing new", second, file_count)
        print(f"\n{'peak memory (MB) after … documents':<44}{'main':>8}{'largest child':>15}")
        for mark in first["marks"]:
            print(f"{mark['at']:<44,}{mark['main_mb']:>8.0f}{mark['child_mb']:>15.0f}")
        part = sorted((root / "papers").iterdir())[: max(1, file_count // 5000)]
        total = sum(len(list(each.iterdir())) for each in part)
        killed = _land(*part, root / "home-killed", kill_at=total // 2)
        rest = _land(*part, root / "home-killed")
        print(f"\nkilled (-9) with {killed['at']:,} of {total:,} documents archived; run again:")
        _print_run("the rest", rest, rest["read"])
        print(
            f"landed before the kill {rest['known']:,} + read now {rest['read']:,} = {rest['known'] + rest['read']:,}"
        )


def _write_files(folder: Path, count: int) -> None:
    for number in range(count):
        kind = ("txt", "docx", "xlsx", "pdf")[number % 4]
        path = folder / f"course-{number // 1000:02d}" / f"paper-{number:05d}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make_file(kind, number).data)


def _land(*paths: Path, kill_at: int | None = None) -> dict[str, Any]:
    """Land folders in a process of its own (the last path is PROCTOR_HOME).

    Returns what the process said last, and its CPU.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    command = [sys.executable, "-m", "tests.benchmarks.ingest_speed", "--land", *map(str, paths)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PROCTOR_QUIET": "1"}
    )
    assert process.stdout is not None
    marks: list[dict[str, Any]] = []
    last: dict[str, Any] = {}
    for line in process.stdout:
        last = json.loads(line)
        if "at" in last:
            marks.append(last)
            if kill_at is not None and last["at"] >= kill_at:
                process.send_signal(signal.SIGKILL)
                break
    code = process.wait()
    if code != (0 if kill_at is None else -signal.SIGKILL):
        raise RuntimeError(f"landing ended with {code}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    kept = [mark for mark in marks if mark["at"] in (100, 200, 500, 1000, 2000, 5000, 10_000)] or marks[-1:]
    return {**last, "wall": time.perf_counter() - began, "cpu": cpu, "marks": kept}


def _print_run(name: str, run: dict[str, Any], count: int) -> None:
    per_second = count / run["wall"]
    print(
        f"{name:<44}{run['read']:>8,}{run['known']:>8,}{run['wall']:>8.1f}{per_second:>8.1f}{run['cpu'] / max(count, 1) * 1e3:>11.1f}"
        f"  questions {run['questions']:,}, not parsed {run['problems']}",
        flush=True,
    )


def _land_here(paths: Sequence[Path], home: Path) -> None:
    """Inside the process that is measured: land folders.

    After every hundred documents it says what memory was used.
    """
    from schemas.settings import Settings
    from tasks.ingest import landing
    from warehouse.lake import open_lake

    largest = [0.0]
    threading.Thread(target=_watch_children, args=(largest,), daemon=True).start()
    from tasks.ingest.archiving import archive_document

    archive, done = archive_document, 0

    def archive_and_count(*arguments: Any) -> None:
        nonlocal done
        archive(*arguments)
        done += 1
        if done % 100 == 0:
            mark = {"at": done, "main_mb": _read_peak("self"), "child_mb": largest[0]}
            print(json.dumps(mark), flush=True)

    settings = Settings(home=home)
    with patch.object(landing, "archive_document", archive_and_count), open_lake(settings) as lake:
        summary = landing.land_documents(lake, settings, paths, workers=WORKERS)
    counts = {
        "read": sum(summary.documents.values()),
        "known": summary.skipped,
        "questions": sum(summary.questions.values()),
        "problems": len(summary.problems),
    }
    print(json.dumps(counts), flush=True)


def _watch_children(largest: list[float]) -> None:
    while True:
        for pid in _list_descendants("self"):
            try:
                is_reader = b"conversion_server" in Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            # before it has become a server, a started process shows the peak of this one
            largest[0] = max(largest[0], _read_peak(pid) if is_reader else 0.0)
        time.sleep(0.05)


def _list_descendants(pid: str) -> list[str]:
    found: list[str] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            found += [child, *_list_descendants(child)]
    return found


def _read_peak(pid: str) -> float:
    """Return the peak resident memory of a process in MB; 0 for one that has gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next(
        (int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0
    )


def _best(call: Callable[..., object], *arguments: object) -> float:
    """CPU seconds of a call, its children included.

    It is the best of three calls, or one call where a call takes seconds.
    """
    times: list[float] = []
    for _ in range(3):
        before = _read_cpu()
        call(*arguments)
        times.append(_read_cpu() - before)
        if times[0] > 2:
            break
    return min(times)


def _read_cpu() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--land"]:
        _land_here([Path(path) for path in sys.argv[2:-1]], Path(sys.argv[-1]))
    else:
        main(*map(int, sys.argv[1:]))
