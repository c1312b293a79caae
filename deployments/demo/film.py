"""A film of the demo's first month as an animated SVG (`make film`).

The commands are typed into a terminal and run; what they print is shown as it came. Pauses are shortened, a progress bar is shown as
it stood at its end, and nothing is written that was not printed.
"""

from __future__ import annotations

import codecs
import fcntl
import html
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.ansi import AnsiDecoder
from rich.color import parse_rgb_hex
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from deployments.demo.reviewing import fill_workbook, read_verdicts
from deployments.demo.run import ANNOTATORS, DEMO_SETTINGS, HERE, MONTHS, PAPERS
from deployments.demo.simulation import serving_models
from schemas import patterns as re
from schemas.settings import load_settings

COLUMNS: Final = 100
ROWS: Final = 27
# Reading takes a viewer so long after each command, and a wait in the recording is no longer than that.
_READING_S: Final = 1.9
_LONGEST_WAIT_S: Final = 0.8
_KEY_S: Final = 0.035
_END_S: Final = 9.0
# Of a line and of a character of 14 pixels.
_LINE: Final = 18
_WIDTH: Final = 8.43

_BEFORE_REVIEW = ("proctor ingest papers", "proctor review export workbooks")
_AFTER_REVIEW = ("proctor review import workbooks",)
_EXAM = (f"proctor exam plan --month {MONTHS[0]}", f"proctor monthly --month {MONTHS[0]} --yes")
# Of long outputs these lines are shown; a sign stands where others were left out.
_SHOWN: Final = {
    "init": r"home|registry|Next",
    "user": r"user|role|Next",
    "plan": r"Run|  2 sets|  candidates|  chance|  left for (Summit|Aurora)|  control|Next",
    "monthly": r"evaluate|judge:|publish:|Run \S+:|Edition|To be seen|Everything|Next",
}
_LEFT_OUT: Final = "⋮"
# So wide is the terminal of an output that is shortened: the program breaks none of its lines, and the film does.
_UNBROKEN: Final = 400

# Colours of the terminal, on a ground of its own: it is read on a white page and on a dark one.
_GROUND, _FRAME, _TEXT = "#11151c", "#2b3340", "#d7dde6"
_NORMAL: Final = ("#7d8794", "#ff8a80", "#8bd49c", "#f0c674", "#8ab4f8", "#d7a6ff", "#7fd6d6", _TEXT)
_BRIGHT: Final = ("#8b95a3", *_NORMAL[1:7], "#ffffff")
_THEME: Final = TerminalTheme(
    parse_rgb_hex(_GROUND[1:]),
    parse_rgb_hex(_TEXT[1:]),
    [parse_rgb_hex(colour[1:]) for colour in _NORMAL],
    [parse_rgb_hex(colour[1:]) for colour in _BRIGHT],
)
_CONSOLE: Final = Console(width=COLUMNS)
_PROGRAM: Final = (sys.executable, "-m", "deployments.cli")


@dataclass(frozen=True)
class Shot:
    """A command, its lines, and for each of them how long after the command's start it stood."""

    command: str
    lines: list[Text]
    seen_s: list[float]
    took_s: float


@dataclass
class Printed:
    """The lines that a program printed on an endless terminal, and when each was last written."""

    lines: list[str] = field(default_factory=lambda: [""])
    seen_at: list[float] = field(default_factory=lambda: [0.0])

    def write(self, text: str, now: float) -> None:
        """Take what was printed, escapes included."""
        first, *others = text.split("\n")
        self.lines[-1] += first
        if first:
            self.seen_at[-1] = now
        self.lines += others
        self.seen_at += [now] * len(others)

    def decode(self) -> list[Text]:
        """The lines as they stood in the end: of one that was written over, the last."""
        decoder = AnsiDecoder()
        lines = [decoder.decode_line(line.rstrip("\r")) for line in self.lines]
        while len(lines) > 1 and not lines[-1]:
            lines.pop()
        return lines


def record(command: str, folder: Path) -> Shot:
    """Run a command in a terminal of its own; raises RuntimeError where it fails."""
    printed, begun = Printed(), time.monotonic()
    columns = COLUMNS if _find_shown(command) is None else _UNBROKEN
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm-256color", PAGER="cat", COLUMNS=str(columns), LINES=str(ROWS))
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.executable, [*_PROGRAM, *command.split()[1:]])  # noqa: S606
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so that the program has closed its end
            break
        if not piece:
            break
        printed.write(decoder.decode(piece), time.monotonic() - begun)
    os.close(terminal)
    lines = printed.decode()
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise RuntimeError(f"{command} ended with exit code {code}: {_read_text(lines)}")
    return _shorten(Shot(command, lines, printed.seen_at, time.monotonic() - begun))


def record_month(folder: Path) -> Iterator[Shot]:
    """The demo's first month, command by command; its annotators decide between two of them."""
    os.chdir(folder)
    (folder / "papers").symlink_to(PAPERS)
    os.environ.update(DEMO_SETTINGS, PROCTOR_NO_SERVER="true")
    yield record("proctor init", folder)
    load_settings.cache_clear()
    settings = load_settings()
    shutil.copyfile(HERE / "models.yaml", settings.registry_path)
    for name in ANNOTATORS:
        yield record(f"proctor exam user add {name} --role annotator", folder)
    for command in _BEFORE_REVIEW:
        yield record(command, folder)
    verdicts = read_verdicts(HERE / "questions" / "review.yaml")
    for workbook in sorted((folder / "workbooks").glob("*.xlsx")):
        fill_workbook(workbook, verdicts)
    for command in _AFTER_REVIEW:
        yield record(command, folder)
    with serving_models(settings):
        for command in _EXAM:
            yield record(command, folder)
    yield record("proctor sql leaderboard", folder)
    asked = [*_PROGRAM, "sql", "leaderboard", "--json"]
    board = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)
    yield record(f"proctor verdict {board[0]['model']} {board[-1]['model']}", folder)


def _find_shown(command: str) -> str | None:
    return next((pattern for name, pattern in _SHOWN.items() if f" {name} " in f"{command} "), None)


def _shorten(shot: Shot) -> Shot:
    """A shot without the lines of a long output that nobody reads in a film."""
    shown = _find_shown(shot.command)
    if shown is None:
        return shot
    lines: list[Text] = []
    seen: list[float] = []
    for line, at in zip(shot.lines, shot.seen_s, strict=False):
        is_shown = re.match(shown, line.plain)
        if is_shown or (lines and lines[-1].plain != _LEFT_OUT):
            lines.append(line if is_shown else Text(_LEFT_OUT, "dim"))
            seen.append(at)
    return Shot(shot.command, lines, seen, shot.took_s)


def render(shots: list[Shot]) -> str:
    """The film as one SVG without scripts; it stands still where less motion is asked for."""
    rows, times, typed = _arrange(shots)
    length = times[-1] + _END_S
    moves = [(0, 0.0)]
    for row, at in enumerate(times):
        if (top := max(0, row + 1 - ROWS)) > moves[-1][0]:
            moves = [move for move in moves if move[1] != at] + [(top, at)]
    last = -_LINE * moves[-1][0]
    steps = "".join(
        f"{100 * at / length:.2f}%{{transform:translateY({-_LINE * top}px)}}" for top, at in moves
    )
    rules = [f"@keyframes roll{{{steps}100%{{transform:translateY({last}px)}}}}"]
    names: dict[float, str] = {}
    for at in times:
        if at not in names:
            names[at] = f"a{len(names)}"
            share = 100 * at / length
            rules.append(
                f"@keyframes {names[at]}{{0%,{share:.2f}%{{opacity:0}}{share + 0.01:.2f}%,100%{{opacity:1}}}}"
            )
            rules.append(f".{names[at]}{{animation-name:{names[at]}}}")
    body = []
    for row, (line, at) in enumerate(zip(rows, times, strict=True)):
        if text := _render_line(line):
            body.append(f'<text class="l {names[at]}" y="{_LINE * row + 14}">{text}</text>')
    for number, (row, begun, ended, count) in enumerate(typed):
        start, end = 100 * begun / length, 100 * ended / length
        rules.append(
            f"@keyframes t{number}{{0%,{start:.2f}%{{transform:none;animation-timing-function:steps({count})}}"
            f"{end:.2f}%,100%{{transform:translateX({_WIDTH * count:.0f}px)}}}}.t{number}{{animation-name:t{number}}}"
        )
        body.append(
            f'<rect class="l t{number}" x="16" y="{_LINE * row}" width="{_WIDTH * count:.0f}" height="{_LINE}"/>'
        )
    took = sum(shot.took_s for shot in shots)
    width, height = round(_WIDTH * COLUMNS) + 32, _LINE * ROWS + 56
    title = f"proctor · the demo's first month, simulated models · {took:.0f} s, shown in {length:.0f} s"
    style = (
        f"text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:{_TEXT};white-space:pre}}"
        f".l{{animation:{length:.1f}s linear infinite}}rect.l{{fill:{_GROUND};transform:translateX(2000px)}}"
        f".r{{animation:roll {length:.1f}s step-end infinite;transform:translateY({last}px)}}"
        f".b{{font-weight:700}}.d{{opacity:.65}}{''.join(rules)}"
        "@media (prefers-reduced-motion:reduce){.l,.r{animation:none}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}">'
        f"<style>{style}</style>"
        f'<rect width="{width}" height="{height}" rx="10" fill="{_GROUND}" stroke="{_FRAME}"/>'
        f'<circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/><circle cx="56" cy="18" r="5" fill="#28c840"/>'
        f'<text x="76" y="23" style="fill:#8b95a3;font-size:12px">{html.escape(title)}</text>'
        f'<svg x="16" y="42" width="{width - 32}" height="{_LINE * ROWS}"><g class="r">{"".join(body)}</g></svg></svg>\n'
    )


def _arrange(shots: list[Shot]) -> tuple[list[Text], list[float], list[tuple[int, float, float, int]]]:
    """All lines below one another, when each is shown, and which of them are typed."""
    rows: list[Text] = []
    times: list[float] = []
    typed = []
    now = 0.6
    for shot in shots:
        ended = now + _KEY_S * len(shot.command) + 0.3
        typed.append((len(rows), now, ended - 0.3, len(shot.command)))
        rows.append(Text.assemble(("$ ", "bold green"), (shot.command, "bold")))
        times.append(now)
        now, before = ended, 0.0
        for line, seen in zip(shot.lines, shot.seen_s, strict=False):
            now += min(max(0.0, seen - before), _LONGEST_WAIT_S)
            before = max(before, seen)
            for part in line.wrap(_CONSOLE, COLUMNS) if line else [line]:
                rows.append(part)
                times.append(round(now, 2))
        rows.append(Text())
        times.append(round(now, 2))
        now += _READING_S
    return rows[:-1], times[:-1], typed


def _render_line(line: Text) -> str:
    line = line.copy()
    line.rstrip()
    line.end = ""
    parts = []
    for words, style, _ in line.render(_CONSOLE):
        look = style or Style()
        painted = look.color if look.color and not look.color.is_default else None
        colour = painted.get_truecolor(_THEME).hex if painted else ""
        classes = " ".join(name for name, is_on in (("b", look.bold), ("d", look.dim)) if is_on)
        marks = (f' class="{classes}"' if classes else "") + (f' style="fill:{colour}"' if colour else "")
        text = html.escape(words, quote=False)
        parts.append(f"<tspan{marks}>{text}</tspan>" if marks else text)
    return "".join(parts)


def _read_text(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        film = render(list(record_month(Path(scratch))))
    Path(sys.argv[1]).write_text(film, encoding="utf-8")
    print(f"wrote {sys.argv[1]}: {len(film.encode()) // 1024} kB")
