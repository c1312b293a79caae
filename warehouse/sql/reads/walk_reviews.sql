-- Who decided what on a question of a batch, as it was landed?
-- One row per annotator.
-- Parameters: $batch_id, $question_uuid
SELECT landing_unit AS unit, annotator, decision
FROM reviews
WHERE batch_id = $batch_id AND question_uuid = $question_uuid
ORDER BY annotator
