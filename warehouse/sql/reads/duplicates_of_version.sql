-- Which questions were left out for a version of the bank?
-- One row per question and document, in order of question.
-- Parameters: $bank_version
SELECT * EXCLUDE (landing_unit)
FROM duplicates
WHERE bank_version = $bank_version
ORDER BY dropped_uuid, dropped_document_id, kept_uuid
