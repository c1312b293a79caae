-- On which questions are the scores of a scale expected?
-- One row per question of its first edition.
-- Parameters: $edition_id
SELECT
    question_uuid,
    lineage_uuid,
    discipline,
    format,
    passage,
    difficulty,
    difficulty_se,
    discrimination,
    discrimination_se,
    error_correlation
FROM edition_items
WHERE edition_id = $edition_id AND is_on_form
ORDER BY question_uuid
