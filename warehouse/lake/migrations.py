"""Bring the rows of an older lake to this version's form: renamed columns, values of added columns, renamed units.

What the contract adds (tables, columns, comments, views) comes from `definitions`; here stands only what it cannot know:
what became of what was there. Everything runs inside the one transaction that brings the lake up to date, and the form
reached is kept in the comment of `landings`: a kill leaves the old form whole, and opening again finds nothing to do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schemas.errors import StoreError
from warehouse.lake.attach import ALIAS, is_postgres, read_stored_comment

if TYPE_CHECKING:
    import duckdb

    from schemas.settings import Settings

# Raised with every change below.
FORM = 4
_FORM_IN_COMMENT = re.compile(r"\[form (\d+)\]")

# Before the contract is applied, by the form that they lead to.
_RENAMES: dict[int, tuple[str, ...]] = {
    2: (
        'ALTER TABLE access_log RENAME COLUMN "at" TO accessed_at',
        'ALTER TABLE access_log RENAME COLUMN "status" TO http_status',
    ),
    # The bank was a table that held every version whole; it is a view now.
    4: ("ALTER TABLE bank RENAME TO bank_before_form_4",),
}

# Versions that follow each other and hold a question unchanged are one entry.
_CONTENT = (
    "revision, parent_uuid, method, document_id, question_type, discipline, sub_discipline, source_kind, language, stem, "
    "material, options, answer, explanation"
)
_ENTRIES = f"""
    WITH held AS (
        SELECT *, hash({_CONTENT}) AS content
        FROM bank_before_form_4
    ),

    counted AS (
        SELECT
            *,
            bank_version
            - row_number() OVER (PARTITION BY question_uuid, lineage_uuid, content ORDER BY bank_version) AS run
        FROM held
    ),

    entries AS (
        SELECT
            *,
            min(bank_version) OVER (PARTITION BY question_uuid, lineage_uuid, content, run) AS from_version,
            max(bank_version) OVER (PARTITION BY question_uuid, lineage_uuid, content, run) + 1 AS until_version
        FROM counted
        QUALIFY row_number() OVER (PARTITION BY question_uuid, lineage_uuid, content, run ORDER BY bank_version) = 1
    )
"""

# Units of judgements name the version of the prompt since form 2. A unit that landed no row was judged by the first one.
_WORDINGS = """
    SELECT l.unit, coalesce(min(split_part(j.prompt_version, '/', 1)), '1') AS wording
    FROM landings AS l
    LEFT JOIN judgements AS j ON j.landing_unit = l.unit
    WHERE l.table_name = 'judgements'
    GROUP BY l.unit
"""

# After it, in this order: units are looked up in `landings` and `judgements` until those are renamed themselves.
_UPDATES: dict[int, tuple[str, ...]] = {
    2: (
        f"""
        UPDATE llm_calls SET landing_unit = llm_calls.landing_unit || '/prompt-' || w.wording
        FROM ({_WORDINGS}) AS w WHERE w.unit = llm_calls.landing_unit AND llm_calls.purpose = 'judge'
        """,
        f"""
        UPDATE quarantine
        SET
            unit = quarantine.unit || '/prompt-' || w.wording,
            landing_unit = quarantine.landing_unit || '/prompt-' || w.wording
        FROM ({_WORDINGS}) AS w
        WHERE w.unit = quarantine.unit AND quarantine.table_name IN ('judgements', 'llm_calls')
        """,
        f"""
        UPDATE landings
        SET
            unit = landings.unit || '/prompt-' || w.wording,
            landing_unit = landings.landing_unit || '/prompt-' || w.wording
        FROM ({_WORDINGS}) AS w
        WHERE w.unit = landings.unit AND landings.table_name IN ('judgements', 'llm_calls')
        """,
        "UPDATE judgements SET landing_unit = landing_unit || '/prompt-' || split_part(prompt_version, '/', 1)",
        "UPDATE calibration SET prompt_version = '1', occasion = 'first' WHERE prompt_version IS NULL",
        """
        UPDATE error_labels SET parse_status = 'parsed', prompt_version = if(is_human, NULL, '1')
        WHERE parse_status IS NULL
        """,
        *(
            f"UPDATE {table} SET parse_status = 'parsed', prompt_version = 'unknown', occasion = 'round' "
            "WHERE parse_status IS NULL"
            for table in ("league_questions", "league_answers")
        ),
        """
        UPDATE league_evaluations
        SET
            parse_status = if(score IS NULL AND rank IS NULL, 'unparsed', 'parsed'),
            prompt_version = 'unknown',
            occasion = 'round'
        WHERE parse_status IS NULL
        """,
    ),
    # Judgements can be asked for again; the audit log lies in pages of 10,000 entries by number, no longer in days.
    # Sets had no anchors, either.
    3: (
        "UPDATE sets SET is_anchor = FALSE WHERE is_anchor IS NULL",
        "UPDATE judgements SET occasion = 'first' WHERE occasion IS NULL",
        "UPDATE access_log SET landing_unit = 'page-' || lpad((access_id // 10000)::VARCHAR, 8, '0')",
        """
        INSERT INTO landings BY NAME
        SELECT
            'access_log/' || log.landing_unit AS landing_unit,
            'access_log' AS table_name,
            log.landing_unit AS unit,
            count(*) AS row_count,
            0 AS rejected_count,
            'moved from days to pages' AS content_hash,
            last.code_version,
            last.landed_at
        FROM access_log AS log
        CROSS JOIN (
            SELECT max(code_version) AS code_version, max(landed_at) AS landed_at
            FROM landings
            WHERE table_name = 'access_log'
        ) AS last
        GROUP BY log.landing_unit, last.code_version, last.landed_at
        """,
        "DELETE FROM landings WHERE table_name = 'access_log' AND unit NOT LIKE 'page-%'",
    ),
    # Content is kept once, with the versions that hold it. What a version took in is not known of earlier ones: the next
    # publication compares everything, and finds nothing to change.
    4: (
        f"""
        INSERT INTO bank_contents BY NAME
        {_ENTRIES}
        SELECT question_uuid, lineage_uuid, {_CONTENT}, from_version, from_version::VARCHAR AS landing_unit
        FROM entries
        """,
        f"""
        INSERT INTO bank_exits BY NAME
        {_ENTRIES}
        SELECT
            question_uuid,
            lineage_uuid,
            from_version,
            until_version,
            'left_before' AS reason,
            until_version::VARCHAR AS landing_unit
        FROM entries
        WHERE until_version <= (SELECT max(bank_version) FROM bank_versions)
        """,
        *(
            f"""
            INSERT INTO landings BY NAME
            SELECT
                '{table}/' || moved.landing_unit AS landing_unit,
                '{table}' AS table_name,
                moved.landing_unit AS unit,
                count(*) AS row_count,
                0 AS rejected_count,
                'moved from whole versions' AS content_hash,
                before.code_version,
                before.landed_at
            FROM {table} AS moved
            INNER JOIN landings AS before ON before.table_name = 'bank' AND before.unit = moved.landing_unit
            GROUP BY moved.landing_unit, before.code_version, before.landed_at
            """
            for table in ("bank_contents", "bank_exits")
        ),
        "DELETE FROM landings WHERE table_name = 'bank'",
        "DROP TABLE bank_before_form_4",
    ),
}


def read_form(connection: duckdb.DuckDBPyConnection) -> int | None:
    """The form of the lake's rows; null for a lake without tables.

    Raises StoreError for a form that only a newer version of Proctor knows.
    """
    found = connection.execute(
        f"SELECT comment FROM duckdb_tables() WHERE database_name = '{ALIAS}' AND table_name = 'landings'"
    ).fetchone()
    if found is None:
        return None
    return _parse_form(found[0])


def has_older_form(settings: Settings, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the lake was written by an earlier version, whose names this one does not read."""
    if is_postgres(settings.catalog_address):
        return (read_form(connection) or FORM) < FORM
    # A reader must not wait for DuckDB's list of all tables (50 ms) to learn what it knows already.
    comment = read_stored_comment(settings, "landings")
    return comment is not None and _parse_form(comment) < FORM


def describe_form() -> str:
    """What the comment of `landings` says of the form."""
    return f"[form {FORM}]"


def list_renames(form: int) -> list[str]:
    """The statements to run before the contract is applied to a lake of that form."""
    return [statement for step in range(form + 1, FORM + 1) for statement in _RENAMES.get(step, ())]


def list_updates(form: int) -> list[str]:
    """The statements to run after the contract was applied to a lake of that form."""
    return [statement for step in range(form + 1, FORM + 1) for statement in _UPDATES.get(step, ())]


def _parse_form(comment: str | None) -> int:
    """The first form was not named; raises StoreError for one that only a newer version of Proctor knows."""
    named = _FORM_IN_COMMENT.search(comment or "")
    form = 1 if named is None else int(named[1])
    if form > FORM:
        raise StoreError(
            f"The lake was written by a newer version of Proctor (its rows have form {form}, this one knows up to "
            f"{FORM}). Use the newer Proctor, or restore a backup."
        )
    return form
