-- Which questions say the same as this one?
-- One row per question left out for its sake, and one for each time that it was left out itself.
-- Parameters: $question_uuid
SELECT bank_version, kept_uuid, dropped_uuid, dropped_document_id, method, similarity, reason
FROM duplicates
WHERE kept_uuid = $question_uuid OR dropped_uuid = $question_uuid
ORDER BY ALL
