-- Which questions of a review batch passed the gate?
-- One row per accepted question with the content that passed, in order of question.
-- Parameters: $batch_id
SELECT * EXCLUDE (landing_unit)
FROM review_decisions
WHERE batch_id = $batch_id AND outcome = 'accepted'
ORDER BY question_uuid
