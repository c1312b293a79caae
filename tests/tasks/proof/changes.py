"""Changes that an owner of a home's files can make past Proctor, and what must find each.

Each is a function of a home. What it does is its name; those that write to the lake also hash again what they changed where they can, so
that the lake agrees with itself.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from schemas.settings import Settings
from schemas.tables import TABLES
from warehouse.lake import hash_rows, open_lake
from warehouse.lake.upkeep import read_unit


@dataclass(frozen=True)
class Change:
    """One change.

    Attributes:
        act: makes it.
        finding: the name of what `proctor exam audit` finds.
        is_public: whether it is made in what is published, so that the verifier finds it.
    """

    act: Callable[[Path], None]
    finding: str
    is_public: bool = False


CHANGES: dict[str, Change] = {}


def finds(
    finding: str, *, is_public: bool = False
) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def register(act: Callable[[Path], None]) -> Callable[[Path], None]:
        CHANGES[act.__name__.replace("_", " ")] = Change(act, finding, is_public)
        return act

    return register


def add(name: str, finding: str, act: Callable[[Path], None], *, is_public: bool = False) -> None:
    CHANGES[name] = Change(act, finding, is_public)


def in_ledger(*statements: str) -> Callable[[Path], None]:
    """Statements over the ledger's file, with the exam's attached; each must change a row."""

    def act(home: Path) -> None:
        with closing(sqlite3.connect(home / "ledger.sqlite")) as connection:
            connection.execute("ATTACH ? AS exam", (str(home / "ledger.exam.sqlite"),))
            for statement in statements:
                assert connection.execute(statement).rowcount, statement
            connection.commit()

    return act


def in_lake(table: str, statement: str, *, is_hashed: bool = True) -> Callable[[Path], None]:
    """A statement over a table of the lake.

    `is_hashed`: its landings are given the hashes of what then is there.
    """

    def act(home: Path) -> None:
        settings = Settings(home=home)
        with open_lake(settings) as lake:
            with lake.transaction([table]) as connection:
                assert connection.execute(statement).fetchall()[0][0], statement
            if not is_hashed:
                return
            units = lake.query(
                f"SELECT unit, row_count, rows_hash FROM landings WHERE table_name = '{table}'"
            ).rows()
            for unit, row_count, rows_hash in units:
                rows = read_unit(lake, table, unit)
                found = hash_rows(rows)
                if row_count and found != rows_hash:
                    with lake.transaction(["landings"]) as connection:
                        connection.execute(
                            "UPDATE landings SET rows_hash = $found, row_count = $count WHERE landing_unit = $name",
                            {"found": found, "count": rows.height, "name": f"{table}/{unit}"},
                        )

    return act


def pick(table: str, where: str = "true") -> str:
    """A condition that holds for the first row of a table in order of its key."""
    key = ", ".join(TABLES[table].key)
    return f"({key}) IN (SELECT ({key}) FROM {table} WHERE {where} ORDER BY {key} LIMIT 1)".replace(
        "SELECT (", "SELECT "
    ).replace(") FROM", " FROM")


# --- review ------------------------------------------------------------------------------------------------

_ONE_REVIEW = "WHERE rowid = (SELECT min(rowid) FROM reviews WHERE decision = 'reject')"
add(
    "a reviewer's verdict is turned to accept",
    "stage_changed",
    in_ledger(f"UPDATE reviews SET decision = 'accept', reject_reason = NULL {_ONE_REVIEW}"),
)
add(
    "all verdicts are turned to accept",
    "stage_changed",
    in_ledger("UPDATE reviews SET decision = 'accept', reject_reason = NULL, edited_fields = NULL"),
)
add(
    "a reviewer is exchanged",
    "stage_changed",
    in_ledger(f"UPDATE reviews SET annotator = 'somebody-else' {_ONE_REVIEW}"),
)
add("a verdict is deleted", "stage_changed", in_ledger(f"DELETE FROM reviews {_ONE_REVIEW}"))
add(
    "a verdict is added",
    "stage_changed",
    in_ledger(
        "INSERT INTO reviews SELECT batch_id, question_uuid, 'somebody-else', decision, reject_reason, comment, edited_fields, channel, "
        "decided_at, guideline_version FROM reviews LIMIT 1"
    ),
)
add(
    "the time of a verdict is changed",
    "stage_changed",
    in_ledger(f"UPDATE reviews SET decided_at = '2020-01-01T00:00:00.000000+00:00' {_ONE_REVIEW}"),
)
add(
    "the remark of a verdict is changed",
    "stage_changed",
    in_ledger(f"UPDATE reviews SET comment = 'fine' {_ONE_REVIEW}"),
)
add(
    "a correction of a reviewer is changed",
    "stage_changed",
    in_ledger(
        "UPDATE reviews SET edited_fields = '{\"stem\": \"another\"}' WHERE rowid = (SELECT min(rowid) FROM reviews WHERE decision = 'edit')"
    ),
)
_ONE_TEXT = "WHERE rowid = (SELECT min(rowid) FROM review_questions)"
add(
    "a text under review is changed",
    "stage_changed",
    in_ledger(f"UPDATE review_questions SET content = json_set(content, '$.stem', 'another') {_ONE_TEXT}"),
)
add(
    "an answer under review is changed",
    "stage_changed",
    in_ledger(
        f"UPDATE review_questions SET content = json_set(content, '$.answer', json_array('Z')) {_ONE_TEXT}"
    ),
)
add(
    "a question is taken out of a batch",
    "stage_changed",
    in_ledger(f"DELETE FROM review_questions {_ONE_TEXT}"),
)
add(
    "a question under review is given to another discipline",
    "stage_changed",
    in_ledger(f"UPDATE review_questions SET discipline = discipline || 'x' {_ONE_TEXT}"),
)

# --- calls -------------------------------------------------------------------------------------------------

_ONE_JUDGED = "WHERE rowid = (SELECT min(rowid) FROM llm_calls WHERE purpose = 'judge' AND status = 'done' AND unit NOT LIKE 'controls%')"
_ONE_ASKED = "WHERE rowid = (SELECT min(rowid) FROM llm_calls WHERE purpose = 'exam' AND status = 'done')"
add(
    "a judge's cached reply is set to 3 stars",
    "stage_changed",
    in_ledger(
        f'UPDATE llm_calls SET reply = json_set(reply, \'$.text\', \'{{"stars": 3, "reason": "right"}}\') {_ONE_JUDGED}'
    ),
)
add(
    "the replies of a judge are deleted",
    "stage_changed",
    in_ledger("UPDATE llm_calls SET reply = NULL WHERE purpose = 'judge'"),
)
add(
    "a candidate's cached reply is changed",
    "stage_changed",
    in_ledger(f"UPDATE llm_calls SET reply = json_set(reply, '$.text', 'B') {_ONE_ASKED}"),
)
add("a call is deleted", "stage_changed", in_ledger(f"DELETE FROM llm_calls {_ONE_ASKED}"))
add(
    "all calls of judges are deleted",
    "stage_changed",
    in_ledger("DELETE FROM llm_calls WHERE purpose = 'judge'"),
)
add(
    "the cost of a call is set to 0",
    "stage_changed",
    in_ledger(
        "UPDATE llm_calls SET cost_usd = 0 WHERE rowid = (SELECT min(rowid) FROM llm_calls WHERE cost_usd > 0)"
    ),
)
add(
    "the tokens of a call are changed",
    "stage_changed",
    in_ledger(f"UPDATE llm_calls SET output_tokens = output_tokens + 1 {_ONE_ASKED}"),
)
add(
    "a call is said to be of another model",
    "stage_changed",
    in_ledger(f"UPDATE llm_calls SET model = 'another' {_ONE_ASKED}"),
)
add(
    "a call is said to be of another run",
    "stage_changed",
    in_ledger(f"UPDATE llm_calls SET run_id = 'another' {_ONE_ASKED}"),
)
add(
    "a call is said to have been sent elsewhere",
    "stage_changed",
    in_ledger(f"UPDATE llm_calls SET endpoint = 'elsewhere' {_ONE_JUDGED}"),
)
add(
    "calls are moved to another session",
    "stage_changed",
    in_ledger(f"UPDATE llm_calls SET unit = 'another' {_ONE_ASKED}"),
)

# --- who met what ------------------------------------------------------------------------------------------

add(
    "exposures are deleted",
    "stage_changed",
    in_ledger(
        "DELETE FROM exam.exposures WHERE organisation = (SELECT min(organisation) FROM exam.exposures)"
    ),
)
add(
    "one exposure is deleted",
    "stage_changed",
    in_ledger("DELETE FROM exam.exposures WHERE rowid = (SELECT min(rowid) FROM exam.exposures)"),
)
add(
    "the time of an exposure is changed",
    "stage_changed",
    in_ledger(
        "UPDATE exam.exposures SET exposed_at = '2020-01-01T00:00:00.000000+00:00' WHERE rowid = (SELECT min(rowid) FROM exam.exposures)"
    ),
)
add(
    "an exposure is given to a rival",
    "stage_changed",
    in_ledger(
        "UPDATE exam.exposures SET organisation = 'rival' WHERE rowid = (SELECT min(rowid) FROM exam.exposures)"
    ),
)
add(
    "claims of sets are deleted",
    "stage_changed",
    in_ledger(
        "DELETE FROM exam.set_claims WHERE organisation = (SELECT min(organisation) FROM exam.set_claims)"
    ),
)
add(
    "a claim is moved to another run",
    "stage_changed",
    in_ledger(
        "UPDATE exam.set_claims SET run_id = 'another' WHERE rowid = (SELECT min(rowid) FROM exam.set_claims)"
    ),
)
add(
    "a claim is said to be the reference's",
    "stage_changed",
    in_ledger(
        "UPDATE exam.set_claims SET is_reference = NOT is_reference WHERE rowid = (SELECT min(rowid) FROM exam.set_claims)"
    ),
)
add(
    "two rivals are declared one organisation",
    "stage_changed",
    in_ledger(
        "UPDATE exam.organisations SET same_as = (SELECT max(organisation) FROM exam.organisations) WHERE organisation = (SELECT min(organisation) FROM exam.organisations)"
    ),
)
add(
    "an organisation is renamed",
    "stage_changed",
    in_ledger(
        "UPDATE exam.organisations SET name = 'Another' WHERE organisation = (SELECT min(organisation) FROM exam.organisations)"
    ),
)
add(
    "an organisation is deleted",
    "stage_changed",
    in_ledger(
        "DELETE FROM exam.organisations WHERE organisation = (SELECT min(organisation) FROM exam.organisations)"
    ),
)
add(
    "an organisation is added",
    "stage_added",
    in_ledger(
        "INSERT INTO exam.organisations (organisation, name, created_at) VALUES ('new', 'New', '2026-01-01')"
    ),
)

# --- draws and editions ------------------------------------------------------------------------------------

_ONE_SEAL = "WHERE run_id = (SELECT min(run_id) FROM run_seals)"
add(
    "the operator's share is replaced after the close",
    "stage_changed",
    in_ledger(f"UPDATE run_seals SET share = '{'0' * 64}' {_ONE_SEAL}"),
)
add(
    "the plan that was committed to is replaced",
    "stage_changed",
    in_ledger(f"UPDATE run_seals SET plan = '{{}}' {_ONE_SEAL}"),
)
add(
    "who met what, as it was committed to, is replaced",
    "stage_changed",
    in_ledger(f"UPDATE run_seals SET exclusions = '{{}}' {_ONE_SEAL}"),
)
add("a seal of a run is deleted", "stage_changed", in_ledger(f"DELETE FROM run_seals {_ONE_SEAL}"))
add(
    "what is to be published of a set is replaced",
    "stage_changed",
    in_ledger("UPDATE set_proofs SET items = '[]' WHERE set_id = (SELECT min(set_id) FROM set_proofs)"),
)
add(
    "the root of an edition is replaced in the ledger",
    "stage_changed",
    in_ledger(
        f"UPDATE edition_roots SET root_hash = '{'0' * 64}' WHERE edition_id = (SELECT min(edition_id) FROM edition_roots)"
    ),
)
add(
    "an edition's root is deleted from the ledger",
    "stage_changed",
    in_ledger("DELETE FROM edition_roots WHERE edition_id = (SELECT min(edition_id) FROM edition_roots)"),
)

# --- the log of what was closed -----------------------------------------------------------------------------

add(
    "an entry that closes a unit is deleted",
    "entry_missing",
    in_ledger(
        "DELETE FROM exam.access_log WHERE number = (SELECT max(number) FROM exam.access_log WHERE action = 'close_unit' AND number < (SELECT max(number) FROM exam.access_log))"
    ),
)
add(
    "an entry that closes a unit is changed with the unit",
    "entry_changed",
    in_ledger(
        f"UPDATE reviews SET decision = 'accept' {_ONE_REVIEW}",
        f"UPDATE exam.access_log SET digest = '{'0' * 64}' WHERE number = (SELECT max(number) FROM exam.access_log WHERE action = 'close_unit')",
    ),
)
add(
    "an entry that closes a landing is changed",
    "entry_changed",
    in_ledger(
        f"UPDATE exam.access_log SET digest = '{'0' * 64}' WHERE number = (SELECT max(number) FROM exam.access_log WHERE action = 'land_unit')"
    ),
)
add(
    "verdict and leaves of its unit are changed together",
    "stage_changed",
    in_ledger(f"UPDATE reviews SET decision = 'accept' {_ONE_REVIEW}", "UPDATE stage_leaves SET leaves = ''"),
)

# --- the lake ----------------------------------------------------------------------------------------------

for _table, _what, _set in (
    ("documents", "a paper's hash in the lake", "sha256 = repeat('0', 64)"),
    ("document_texts", "an extracted text in the lake", "text = text || ' '"),
    ("questions", "a question as it was read", "stem = stem || ' '"),
    ("reviews", "a verdict in the lake", "annotator = annotator || 'x'"),
    ("review_decisions", "a decision of the gate", "outcome = 'rejected'"),
    ("review_assignments", "who was given a question", "annotator = annotator || 'x'"),
    ("variants", "a variant", "stem = stem || ' '"),
    ("bank_contents", "an answer in the bank", "answer = ['Z']"),
    ("bank_versions", "a bank version's account", "question_count = question_count + 1"),
    ("runs", "the bank version of a run in the lake", "bank_version = bank_version + 1"),
    ("models", "the organisation of a candidate in the lake", "organisation = 'another'"),
    ("sets", "a set in the lake", "discipline = discipline || 'x'"),
    ("sessions", "a session in the lake", "prompt_style = prompt_style || 'x'"),
    ("allocations", "the order of a session in the lake", "question_uuid = question_uuid || 'x'"),
    ("responses", "an answer in the lake", "response = response || ' '"),
    ("llm_calls", "the cost of a call in the lake", "cost_usd = 1"),
    ("judgements", "stars", "stars = (stars + 1) % 4"),
    ("judge_controls", "a control answer's stars", "stars = (stars + 1) % 4"),
    ("editions", "an edition's account", "candidate_count = candidate_count + 1"),
    ("edition_scores", "a published score", "score = if(score = 100, 99, 100)"),
    ("edition_stars", "the stars of an edition", "stars_3_count = stars_3_count + 1"),
    ("edition_pairs", "a published comparison", "p_value = if(p_value = 0, 1, 0)"),
    ("edition_sessions", "the sessions of an edition", "question_count = question_count + 1"),
    ("league_evaluations", "a verdict of a league", "score = if(score = 3, 2, 3)"),
    ("league_rankings", "a standing of a league", "model = model || 'x'"),
):
    add(
        f"{_what} is changed, and its hash",
        "landing_replaced",
        in_lake(_table, f"UPDATE {_table} SET {_set} WHERE {pick(_table)}"),
    )
add(
    "stars are changed, and nothing else",
    "landing_changed",
    in_lake(
        "judgements",
        f"UPDATE judgements SET stars = (stars + 1) % 4 WHERE {pick('judgements')}",
        is_hashed=False,
    ),
)
add(
    "an extracted text in the lake is changed, and nothing else",
    "landing_changed",
    in_lake("document_texts", "UPDATE document_texts SET text = text || ' '", is_hashed=False),
)
add(
    "judgements are deleted",
    "landing_replaced",
    in_lake("judgements", f"DELETE FROM judgements WHERE {pick('judgements')}"),
)
add(
    "a landing is deleted with its rows",
    "landing_missing",
    in_lake(
        "landings",
        "DELETE FROM landings WHERE landing_unit = (SELECT min(landing_unit) FROM landings WHERE table_name = 'judgements')",
        is_hashed=False,
    ),
)
add(
    "a landing is added",
    "landing_added",
    in_lake(
        "landings",
        "INSERT INTO landings BY NAME SELECT * REPLACE ('new' AS unit, 'judgements/new' AS landing_unit) FROM landings WHERE landing_unit = "
        "(SELECT min(landing_unit) FROM landings WHERE table_name = 'judgements')",
        is_hashed=False,
    ),
)


# --- files -------------------------------------------------------------------------------------------------


def list_originals(home: Path) -> list[Path]:
    """The originals in the archive of a home."""
    return sorted(
        path
        for path in (home / "archive").rglob("*.*")
        if path.is_file() and path.suffix not in (".txt", ".json", ".picture")
    )


@finds("original_changed")
def an_original_is_replaced(home: Path) -> None:
    list_originals(home)[0].write_bytes(b"another paper")


@finds("original_changed")
def a_byte_of_an_original_is_changed(home: Path) -> None:
    path = list_originals(home)[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@finds("original_changed")
def two_originals_are_exchanged(home: Path) -> None:
    papers = [path for path in list_originals(home) if path.suffix == list_originals(home)[0].suffix]
    first, second = papers[0].read_bytes(), list_originals(home)[-1].read_bytes()
    papers[0].write_bytes(second)
    list_originals(home)[-1].write_bytes(first)


@finds("original_missing")
def an_original_is_deleted(home: Path) -> None:
    list_originals(home)[0].unlink()


@finds("text_changed")
def an_extracted_text_is_changed(home: Path) -> None:
    path = sorted((home / "archive").rglob("*.txt"))[0]
    path.write_text(path.read_text("utf-8") + "another line", "utf-8")


@finds("text_changed")
def an_extracted_text_is_deleted(home: Path) -> None:
    sorted((home / "archive").rglob("*.txt"))[0].unlink()


@finds("registry_changed")
def the_address_of_a_judge_is_changed(home: Path) -> None:
    path = home / "models.yaml"
    path.write_text(path.read_text("utf-8").replace("simulated", "http://127.0.0.1:9/v1"), "utf-8")


@finds("registry_changed")
def a_model_is_added_to_the_registry(home: Path) -> None:
    path = home / "models.yaml"
    path.write_text(path.read_text("utf-8") + "  another:\n    provider: somewhere\n", "utf-8")


@finds("registry_missing")
def the_registry_is_deleted(home: Path) -> None:
    (home / "models.yaml").unlink()


@finds("report_changed")
def a_page_of_the_report_is_edited(home: Path) -> None:
    path = home / "reports" / "index.html"
    path.write_text(path.read_text("utf-8").replace("</body>", "<p>sim-aurora-2 is best</p></body>"), "utf-8")


@finds("report_changed")
def the_data_of_the_report_is_edited(home: Path) -> None:
    path = sorted((home / "reports").rglob("*.csv"))[0]
    path.write_text(path.read_text("utf-8") + " ", "utf-8")


@finds("report_changed")
def a_page_of_the_report_is_deleted(home: Path) -> None:
    sorted((home / "reports").rglob("*.html"))[-1].unlink()


@finds("home_key_replaced")
def the_blinding_key_is_replaced(home: Path) -> None:
    (path,) = (home / "secrets").glob("blinding*")
    text = path.read_text("utf-8")
    digit = next(sign for sign in reversed(text) if sign in "0123456789abcdef")
    at = text.rindex(digit)
    path.write_text(text[:at] + ("0" if digit != "0" else "1") + text[at + 1 :], "utf-8")


@finds("log_key_missing")
def the_key_of_the_log_is_deleted(home: Path) -> None:
    (home / "secrets" / "log-key.json").unlink()


@finds("kept_heads_missing")
def the_file_of_heads_is_deleted(home: Path) -> None:
    (home / "secrets" / "log-heads.jsonl").unlink()


# --- what is published -------------------------------------------------------------------------------------


@finds("public_file_changed", is_public=True)
def a_line_of_the_public_log_is_changed(home: Path) -> None:
    path = home / "public" / "log.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if '"kind":"close"' in line)
    lines[place] = lines[place].replace('"answer_count":', '"answer_count":1')
    path.write_text("".join(lines), "utf-8")


@finds("public_file_cut", is_public=True)
def the_public_log_is_cut(home: Path) -> None:
    path = home / "public" / "log.jsonl"
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:-2]), "utf-8")


def _change_edition(home: Path, name: str, change: Callable[[str], str]) -> None:
    path = sorted((home / "public" / "editions").rglob(name))[0]
    before = path.read_text("utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, "utf-8")


@finds("public_file_changed", is_public=True)
def a_published_score_is_raised_in_its_file(home: Path) -> None:
    def change(text: str) -> str:
        edition = json.loads(text)
        edition["scores"][0]["score"] = 99.0
        return json.dumps(edition)

    _change_edition(home, "edition.json", change)


@finds("public_file_changed", is_public=True)
def published_stars_are_raised_in_their_file(home: Path) -> None:
    _change_edition(
        home,
        "sessions.jsonl",
        lambda text: (
            text.replace('"stars":"0', '"stars":"3', 1)
            .replace('"stars": "0', '"stars": "3', 1)
            .replace("0", "1", 1)
        ),
    )


@finds("public_file_changed", is_public=True)
def a_file_of_a_disclosed_run_is_deleted(home: Path) -> None:
    sorted((home / "public" / "runs").rglob("seed.json"))[0].unlink()
