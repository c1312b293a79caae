-- What did a lineage hold in a bank version?
-- One row per question, with what is right and what a draw depends on.
-- Parameters: $lineage_uuid, $bank_version
SELECT
    $bank_version::BIGINT AS bank_version,
    lineage_uuid,
    question_uuid,
    revision,
    discipline,
    method,
    question_type,
    language,
    stem,
    material,
    options,
    answer,
    pictures
FROM bank_entries
WHERE
    lineage_uuid = $lineage_uuid
    AND from_version <= $bank_version
    AND (until_version IS NULL OR until_version > $bank_version)
ORDER BY question_uuid
