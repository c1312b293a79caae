-- What do these questions ask, as they stand in the latest bank version?
-- One row per question; without answers and explanations.
-- Parameters: $question_uuids
SELECT question_uuid, question_type, language, stem, material, options
FROM current_bank
WHERE question_uuid IN (SELECT unnest($question_uuids::VARCHAR[]))
