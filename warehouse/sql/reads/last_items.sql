-- What were the questions of a discipline like by the fit of an edition?
-- One row per question.
-- Parameters: $edition_id, $month, $discipline
SELECT question_uuid, difficulty, discrimination
FROM edition_items
WHERE month = $month AND edition_id = $edition_id AND discipline = $discipline
ORDER BY question_uuid
