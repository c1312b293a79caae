-- What are the keys of these questions, and which options stand beside them?
-- One row per question, as it was in the bank version or in the last one before it that had it. One that no bank has is left out.
-- Parameters: $question_uuids, $bank_version
SELECT question_uuid, question_type, options, answer
FROM bank_contents
WHERE question_uuid IN (SELECT unnest($question_uuids::VARCHAR[]))
    AND from_version <= $bank_version
QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY from_version DESC, lineage_uuid) = 1
