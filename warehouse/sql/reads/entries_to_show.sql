-- Which questions of some types are or were in the bank, and what else tells the answer of each?
-- One row per question, its latest entry, in order of discipline and question. is_retired: somebody took it out, or its original.
-- lineage_uuids are its lineage and those of copies of anything in it; is_live says whether one of these is in the bank. A parameter that
-- is null leaves nothing out.
-- Parameters: $question_types, $discipline (default null), $language (default null)
WITH RECURSIVE latest AS (
    SELECT *
    FROM bank_entries
    QUALIFY
        row_number() OVER (
            PARTITION BY question_uuid ORDER BY until_version IS NULL DESC, from_version DESC, lineage_uuid
        ) = 1
),

entries AS (
    SELECT *
    FROM latest
    WHERE
        question_type IN (SELECT unnest($question_types::VARCHAR[]))
        AND ($discipline IS NULL OR discipline = $discipline)
        AND ($language IS NULL OR language = $language)
),

pairs AS (
    SELECT kept_uuid AS question_uuid, dropped_uuid AS copy_uuid
    FROM duplicates
    UNION
    SELECT dropped_uuid AS question_uuid, kept_uuid AS copy_uuid
    FROM duplicates
),

copies AS (
    SELECT lineage_uuid, question_uuid
    FROM bank_entries
    SEMI JOIN (SELECT lineage_uuid FROM entries WHERE until_version IS NOT NULL) AS left_ones USING (lineage_uuid)
    UNION
    SELECT copies.lineage_uuid, pairs.copy_uuid AS question_uuid
    FROM copies
    INNER JOIN pairs ON copies.question_uuid = pairs.question_uuid
),

families AS (
    SELECT
        copies.lineage_uuid,
        list_sort(list(DISTINCT bank_entries.lineage_uuid)) AS lineage_uuids,
        bool_or(bank_entries.until_version IS NULL) AS is_live
    FROM copies
    INNER JOIN bank_entries ON copies.question_uuid = bank_entries.question_uuid
    GROUP BY copies.lineage_uuid
),

retired AS (
    SELECT question_uuid
    FROM bank_retirements
    QUALIFY
        row_number() OVER (PARTITION BY question_uuid ORDER BY retired_at DESC, landing_unit DESC) = 1 AND is_retired
)

SELECT
    entries.*,
    coalesce(
        entries.exit_reason = 'retired'
        AND (
            entries.question_uuid IN (SELECT question_uuid FROM retired)
            OR entries.lineage_uuid IN (SELECT question_uuid FROM retired)
        ),
        FALSE
    ) AS is_retired,
    coalesce(families.lineage_uuids, [entries.lineage_uuid]) AS lineage_uuids,
    coalesce(families.is_live, TRUE) AS is_live
FROM entries
LEFT JOIN families ON entries.lineage_uuid = families.lineage_uuid
ORDER BY entries.discipline NULLS LAST, entries.question_uuid
