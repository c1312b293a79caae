-- What did annotators decide, as it was landed?
-- One row per batch, question and annotator.
SELECT batch_id, question_uuid, annotator, decision
FROM reviews
ORDER BY batch_id, question_uuid, annotator
