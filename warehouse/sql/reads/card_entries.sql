-- Since when and until when is a question in the bank?
-- One row per revision that entered, oldest first.
-- Parameters: $question_uuid
SELECT lineage_uuid, revision, from_version, until_version, exit_reason
FROM bank_entries
WHERE question_uuid = $question_uuid
ORDER BY from_version, lineage_uuid
