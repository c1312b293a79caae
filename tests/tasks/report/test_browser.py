"""The page in a real browser, offline.

The tests check what it asks the network for, what its console says, and what its controls do.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.report.panels import NamedQuery
from tests.browser import act_on, needs_browser, read_found, read_requests, run_browser

pytestmark = needs_browser


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


@pytest.mark.long
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
        found.editions = document.querySelectorAll('.edition').length;
        choose('weights', 'open');
        found.open = shown(1).sort();
        choose('weights', 'all');
        choose('family', document.getElementById('family').options[1].value);
        found.family = shown(1).sort(); found.chosen = document.getElementById('family').value;
        choose('family', 'all');
        var search = document.getElementById('search');
        search.value = 'NORTH'; search.dispatchEvent(new Event('input'));
        found.searched = shown(1).sort();
        found.address = location.hash;
        search.value = ''; search.dispatchEvent(new Event('input'));
        var heads = document.querySelectorAll('#board thead th');
        heads[2].querySelector('button').click();
        found.falling = shown(2).map(Number); found.sorted = heads[2].getAttribute('aria-sort');
        heads[2].querySelector('button').click();
        found.rising = shown(2).map(Number);
        found.order = location.hash;
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
    assert found["family"] == sorted(expected.filter(family=found["chosen"])["model"])
    assert found["searched"] == sorted(name for name in expected["model"] if "north" in name)
    assert found["address"] == "#month=2025-06&style=few_shot&q=NORTH"
    assert found["order"] == "#month=2025-06&style=few_shot&sort=2a"
    assert found["falling"] == pytest.approx(
        sorted((score * 100 for score in scores), reverse=True), abs=0.51
    )
    assert found["rising"] == pytest.approx(sorted(score * 100 for score in scores), abs=0.51)
    assert (found["sorted"], found["language"], found["option"]) == ("descending", "en", "Few-shot")
    assert found["heading"] == "Leaderboard"
