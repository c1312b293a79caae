"""The page in a real browser, offline: what it asks the network for, what its console says, what its controls do."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlparse

import pytest
from lxml import html

from tasks.report.page import NamedQuery

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(
        CHROMIUM is None, reason="Chromium is not installed; the page's behaviour is not checked."
    ),
]


def run_browser(page: Path, profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    return subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run", "--enable-logging=stderr",
            f"--user-data-dir={profile}", "--window-size=1400,2400", *arguments, page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


def read_requests(net_log: Path) -> list[str]:
    """What pages asked the network for; the browser's own calls home are not theirs."""
    text = net_log.read_text("utf-8", errors="replace").rstrip().rstrip(",")
    try:
        events = json.loads(text)["events"]
    except json.JSONDecodeError:  # the browser ended before it closed the file
        events = json.loads(text + "]}")["events"]
    asked = [event["params"] for event in events if "url" in event.get("params", {})]
    return [
        request["url"]
        for request in asked
        if request.get("network_isolation_key", "").startswith("file:")
        and urlparse(request["url"]).scheme in ("http", "https", "ws", "wss")
    ]


def act_on(page: Path, folder: Path, script: str) -> Path:
    """A copy of the page that runs `script` (a body returning a value) and shows the value as JSON."""
    probe = folder / "probe.html"
    act = f"<script>(function(){{var pre=document.createElement('pre');pre.id='found';pre.textContent=JSON.stringify((function(){{{script}}})());document.body.appendChild(pre)}})()</script>"
    probe.write_text(page.read_text("utf-8").replace("</body>", f"{act}</body>"), "utf-8")
    return probe


def read_found(dom: str) -> object:
    return json.loads(html.document_fromstring(dom).xpath("string(//pre[@id='found'])"))


def test_the_page_draws_without_a_network_request_or_a_console_message(
    report_path: Path, tmp_path: Path
) -> None:
    net_log, picture = tmp_path / "net.json", tmp_path / "page.png"

    done = run_browser(
        report_path, tmp_path / "profile", f"--screenshot={picture}", f"--log-net-log={net_log}"
    )

    assert "CONSOLE" not in done.stderr
    assert read_requests(net_log) == []
    assert picture.read_bytes().startswith(b"\x89PNG")
    # A blank page of this size compresses to a few kilobytes.
    assert picture.stat().st_size > 100_000


def test_a_broken_page_and_a_foreign_image_would_be_noticed(report_path: Path, tmp_path: Path) -> None:
    page = act_on(report_path, tmp_path, "return noSuchThing;")
    open_policy = page.read_text("utf-8").replace("img-src data:", "img-src *")
    page.write_text(
        open_policy.replace("</body>", '<img src="http://example.invalid/x.png"></body>'), "utf-8"
    )
    net_log = tmp_path / "net.json"

    done = run_browser(page, tmp_path / "profile", "--dump-dom", f"--log-net-log={net_log}")

    assert "CONSOLE" in done.stderr and "noSuchThing" in done.stderr
    assert read_requests(net_log) == ["http://example.invalid/x.png"]


def test_the_page_may_not_load_anything_from_elsewhere(report_path: Path, tmp_path: Path) -> None:
    page = act_on(
        report_path,
        tmp_path,
        "var image = new Image(); image.src = 'http://example.invalid/x.png'; document.body.appendChild(image); return 1;",
    )
    net_log = tmp_path / "net.json"

    done = run_browser(page, tmp_path / "profile", "--dump-dom", f"--log-net-log={net_log}")

    assert "Content Security Policy" in done.stderr
    assert read_requests(net_log) == []


def test_filters_and_headings_do_what_they_say(season: NamedQuery, report_path: Path, tmp_path: Path) -> None:
    script = """
        function shown(index) {
          return Array.from(document.querySelectorAll('#board tbody tr')).filter(function (row) { return !row.hidden; })
            .map(function (row) { return row.cells[index].dataset.value || row.cells[index].firstChild.textContent.trim(); });
        }
        function choose(id, value) { var s = document.getElementById(id); s.value = value; s.dispatchEvent(new Event('change')); }
        var found = {};
        choose('month', '2025-06'); choose('style', 'few_shot');
        found.models = shown(1);
        found.editions = Array.from(document.querySelectorAll('.edition')).filter(function (p) { return !p.hidden; }).length;
        choose('weights', 'open');
        found.open = shown(1).sort();
        choose('weights', 'all');
        var heads = document.querySelectorAll('#board thead th');
        heads[3].querySelector('button').click();
        found.falling = shown(3).map(Number); found.sorted = heads[3].getAttribute('aria-sort');
        heads[3].querySelector('button').click();
        found.rising = shown(3).map(Number);
        document.querySelector('.languages [data-language=en]').click();
        found.language = document.documentElement.lang;
        found.option = document.querySelector('#style').selectedOptions[0].textContent;
        found.heading = document.querySelector('h1').innerText;
        return found;
    """
    page = act_on(report_path, tmp_path, script)

    found = read_found(run_browser(page, tmp_path / "profile", "--dump-dom").stdout)

    expected = season("leaderboard_history", {}).filter(month="2025-06", prompt_style="few_shot")
    scores = expected["score"].to_list()
    assert isinstance(found, dict)
    assert found["models"] == expected["model"].to_list()
    assert found["editions"] == 1
    assert found["open"] == sorted(expected.filter(is_open=True)["model"])
    assert found["falling"] == pytest.approx(sorted(scores, reverse=True))
    assert found["rising"] == pytest.approx(sorted(scores))
    assert (found["sorted"], found["language"], found["option"]) == ("descending", "en", "Few-shot")
    assert found["heading"] == "LLM exam leaderboard"
