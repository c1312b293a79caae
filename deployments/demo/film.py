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
    "monthly": r"evaluate|judge:|publish|answers|judged|unparsed|judge calls|edition id|published|Next",
}
_LEFT_OUT: Final = "⋮"

# Colours of the terminal, on a ground of its own: it is read on a white page and on a dark one.
_GROUND, _FRAME, _TEXT = "#11151c", "#2b3340", "#d7dde6"
_COLOURS = {
    "30": "#7d8794", "31": "#ff8a80", "32": "#8bd49c", "33": "#f0c674", "34": "#8ab4f8",
    "35": "#d7a6ff", "36": "#7fd6d6", "37": _TEXT, "90": "#8b95a3", "91": "#ff8a80",
    "92": "#8bd49c", "93": "#f0c674", "94": "#8ab4f8", "95": "#d7a6ff", "96": "#7fd6d6", "97": "#ffffff",
}  # fmt: skip
_PROGRAM: Final = (sys.executable, "-m", "deployments.cli")
_ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b.")

# Colour, whether bold, whether dim; a line is its characters with these.
Style = tuple[str, bool, bool]
Line = list[tuple[str, Style]]


@dataclass(frozen=True)
class Shot:
    """A command, its lines, and for each of them how long after the command's start it stood."""

    command: str
    lines: list[Line]
    seen_s: list[float]
    took_s: float


@dataclass
class Screen:
    """What stands on an endless terminal: its lines, and when each was last written."""

    lines: list[Line] = field(default_factory=lambda: [[]])
    seen_at: list[float] = field(default_factory=lambda: [0.0])
    row: int = 0
    column: int = 0
    style: Style = ("", False, False)

    def write(self, text: str, now: float) -> None:
        """Take what a program printed, escapes included."""
        place = 0
        for match in _ESCAPE.finditer(text):
            self._print(text[place : match.start()], now)
            self._obey(match[1] or "", match[2] or "")
            place = match.end()
        self._print(text[place:], now)

    def _print(self, text: str, now: float) -> None:
        for character in text:
            if character == "\n":
                self.row, self.column = self.row + 1, 0
                if self.row == len(self.lines):
                    self.lines.append([])
                    self.seen_at.append(now)
            elif character == "\r":
                self.column = 0
            elif character >= " ":
                line = self.lines[self.row]
                line += [(" ", ("", False, False))] * (self.column - len(line))
                line[self.column : self.column + 1] = [(character, self.style)]
                self.seen_at[self.row] = now
                self.column += 1

    def _obey(self, parameters: str, command: str) -> None:
        match command:
            case "A":
                self.row = max(0, self.row - int(parameters or 1))
            case "K":
                line = self.lines[self.row]
                del line[0 if parameters == "2" else self.column :]
            case "m":
                for code in (parameters or "0").split(";"):
                    self._paint(code)

    def _paint(self, code: str) -> None:
        colour, is_bold, is_dim = self.style
        match code:
            case "0" | "":
                self.style = ("", False, False)
            case "1":
                self.style = (colour, True, is_dim)
            case "2":
                self.style = (colour, is_bold, True)
            case "22":
                self.style = (colour, False, False)
            case "39":
                self.style = ("", is_bold, is_dim)
            case _ if code in _COLOURS:
                self.style = (_COLOURS[code], is_bold, is_dim)


def record(command: str, folder: Path) -> Shot:
    """Run a command in a terminal of its own; raises RuntimeError where it fails."""
    screen, begun = Screen(), time.monotonic()
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm-256color", PAGER="cat", COLUMNS=str(COLUMNS), LINES=str(ROWS))
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.executable, [*_PROGRAM, *command.split()[1:]])  # noqa: S606
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so that the program has closed its end
            break
        if not piece:
            break
        screen.write(decoder.decode(piece), time.monotonic() - begun)
    os.close(terminal)
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise RuntimeError(f"{command} ended with exit code {code}: {_read_text(screen.lines)}")
    while len(screen.lines) > 1 and not screen.lines[-1]:
        screen.lines.pop()
    return _shorten(Shot(command, screen.lines, screen.seen_at, time.monotonic() - begun))


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


def _shorten(shot: Shot) -> Shot:
    """A shot without the lines of a long output that nobody reads in a film."""
    shown = next((pattern for name, pattern in _SHOWN.items() if f" {name} " in f"{shot.command} "), None)
    if shown is None:
        return shot
    lines: list[Line] = []
    seen: list[float] = []
    for line, at in zip(shot.lines, shot.seen_s, strict=False):
        is_shown = re.match(shown, _read_text([line]))
        if is_shown or (lines and _read_text(lines[-1:]) != _LEFT_OUT):
            lines.append(line if is_shown else [(_LEFT_OUT, ("", False, True))])
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


def _arrange(shots: list[Shot]) -> tuple[list[Line], list[float], list[tuple[int, float, float, int]]]:
    """All lines below one another, when each is shown, and which of them are typed."""
    rows: list[Line] = []
    times: list[float] = []
    typed = []
    now = 0.6
    for shot in shots:
        ended = now + _KEY_S * len(shot.command) + 0.3
        typed.append((len(rows), now, ended - 0.3, len(shot.command)))
        prompt: Line = [(character, (_COLOURS["32"], True, False)) for character in "$ "]
        rows.append(prompt + [(character, ("", True, False)) for character in shot.command])
        times.append(now)
        now, before = ended, 0.0
        for line, seen in zip(shot.lines, shot.seen_s, strict=False):
            now += min(max(0.0, seen - before), _LONGEST_WAIT_S)
            before = max(before, seen)
            for part in _wrap(line):
                rows.append(part)
                times.append(round(now, 2))
        rows.append([])
        times.append(round(now, 2))
        now += _READING_S
    return rows[:-1], times[:-1], typed


def _wrap(line: Line) -> Iterator[Line]:
    """A line in parts that fit the terminal, divided at spaces where there are any."""
    while len(line) > COLUMNS:
        place = next((at for at in range(COLUMNS, 0, -1) if line[at - 1][0] == " "), COLUMNS)
        yield line[:place]
        line = line[place:]
    yield line


def _render_line(line: Line) -> str:
    parts, last = [], 0
    text = "".join(character for character, _ in line).rstrip()
    for place in range(1, len(text) + 1):
        if place == len(text) or line[place][1] != line[last][1]:
            colour, is_bold, is_dim = line[last][1]
            words = html.escape(text[last:place], quote=False)
            classes = " ".join(name for name, is_on in (("b", is_bold), ("d", is_dim)) if is_on)
            marks = (f' class="{classes}"' if classes else "") + (f' style="fill:{colour}"' if colour else "")
            parts.append(f"<tspan{marks}>{words}</tspan>" if marks else words)
            last = place
    return "".join(parts)


def _read_text(lines: list[Line]) -> str:
    return "\n".join("".join(character for character, _ in line) for line in lines)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        film = render(list(record_month(Path(scratch))))
    Path(sys.argv[1]).write_text(film, encoding="utf-8")
    print(f"wrote {sys.argv[1]}: {len(film.encode()) // 1024} kB")
