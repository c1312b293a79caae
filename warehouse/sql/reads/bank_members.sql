-- Which questions are in the latest bank version?
-- One row per question, with its lineage, revision, document and the version in which it entered; no content.
SELECT question_uuid, lineage_uuid, revision, document_id, from_version
FROM bank_entries
WHERE until_version IS NULL
