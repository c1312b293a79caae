-- How hard was a question found to be?
-- One row per edition that stands, oldest first.
-- Parameters: $question_uuid
SELECT
    edition_items.edition_id,
    edition_items.month,
    edition_items.difficulty,
    edition_items.difficulty_se,
    edition_items.discrimination,
    edition_items.answer_count,
    edition_items.is_misfit
FROM edition_items
INNER JOIN current_editions USING (edition_id, month)
WHERE edition_items.question_uuid = $question_uuid
ORDER BY edition_items.month, edition_items.edition_id
