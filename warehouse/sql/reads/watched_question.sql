-- What was asked?
-- One row per question: one, or none, as it stood in the bank version that was drawn from. Nothing that a candidate may not see is read.
-- Parameters: $question_uuid, $bank_version
SELECT
    question_type,
    language,
    stem,
    material,
    options,
    list_filter(pictures, lambda one: one.place IN ('material', 'stem', 'option')) AS pictures
FROM bank_contents
WHERE question_uuid = $question_uuid AND from_version <= $bank_version::BIGINT
ORDER BY from_version DESC
LIMIT 1
