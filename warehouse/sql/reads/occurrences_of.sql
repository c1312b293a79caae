-- In which documents do these questions stand, and which questions stand in these documents?
-- One row per question and document.
-- Parameters: $question_uuids, $document_units
SELECT DISTINCT question_uuid, document_id
FROM questions
WHERE
    question_uuid IN (SELECT unnest($question_uuids::VARCHAR[]))
    OR landing_unit IN (SELECT unnest($document_units::VARCHAR[]))
ORDER BY ALL
