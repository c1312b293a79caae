-- What entered, left or was edited between two versions of the bank?
-- One row per question, in order of change, discipline and question. reason says why a question left.
-- Parameters: $before_version, $after_version
WITH held AS (
    SELECT
        question_uuid,
        lineage_uuid,
        revision,
        method,
        discipline,
        exit_reason,
        from_version <= $before_version::BIGINT AND (until_version IS NULL OR until_version > $before_version::BIGINT) AS is_before,
        from_version <= $after_version::BIGINT AND (until_version IS NULL OR until_version > $after_version::BIGINT) AS is_after
    FROM bank_entries
),

questions AS (
    SELECT
        question_uuid,
        lineage_uuid,
        any_value(method) AS method,
        any_value(discipline) AS discipline,
        max(revision) FILTER (WHERE is_before) AS revision_before,
        max(revision) FILTER (WHERE is_after) AS revision_after,
        max(exit_reason) FILTER (WHERE is_before) AS exit_reason
    FROM held
    WHERE is_before OR is_after
    GROUP BY question_uuid, lineage_uuid
)

SELECT
    CASE
        WHEN revision_before IS NULL THEN 'entered'
        WHEN revision_after IS NULL THEN 'left'
        ELSE 'edited'
    END AS change,
    discipline,
    question_uuid,
    lineage_uuid,
    method,
    revision_before,
    revision_after,
    if(revision_after IS NULL, exit_reason, NULL) AS reason
FROM questions
-- One that left and came back is as it was.
WHERE revision_before IS DISTINCT FROM revision_after
ORDER BY ALL
