-- Which questions of the bank descend from the same original?
-- One row per question that is in the bank, the original first.
-- Parameters: $lineage_uuid
SELECT question_uuid, method, question_type, revision, from_version
FROM bank_entries
WHERE lineage_uuid = $lineage_uuid AND until_version IS NULL
ORDER BY method <> 'original', question_uuid
