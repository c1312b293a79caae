-- How does a question stand in a bank version?
-- One row per question: one, or none, as the version has it.
-- Parameters: $question_uuid, $lineage_uuid, $bank_version
SELECT
    landing_unit AS unit,
    from_version,
    parent_uuid,
    method,
    document_id,
    question_type,
    language,
    stem,
    material,
    options,
    pictures
FROM bank_contents
WHERE
    question_uuid = $question_uuid
    AND lineage_uuid = $lineage_uuid
    AND from_version <= $bank_version::BIGINT
ORDER BY from_version DESC
LIMIT 1
