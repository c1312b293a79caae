-- Which of these questions show a picture to who answers them?
-- One row per question; a picture of its answer or explanation is none.
-- Parameters: $question_uuids
SELECT DISTINCT question_uuid
FROM bank_entries
WHERE question_uuid IN (SELECT unnest($question_uuids::VARCHAR[]))
    AND len(list_filter(pictures, lambda one: one.place IN ('material', 'stem', 'option'))) > 0
ORDER BY question_uuid
