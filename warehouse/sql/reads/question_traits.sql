-- What is there to guess in these questions?
-- One row per question that was ever in the bank, as it stood last.
-- Parameters: $question_uuids
SELECT
    question_uuid,
    question_type,
    coalesce(len(options), 0) AS option_count,
    coalesce(len(answer), 0) AS key_count
FROM bank_contents
WHERE question_uuid IN (SELECT unnest($question_uuids))
QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY from_version DESC, lineage_uuid) = 1
ORDER BY question_uuid
