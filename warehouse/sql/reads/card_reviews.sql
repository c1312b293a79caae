-- What did review say of a question?
-- One row per batch, oldest first.
-- Parameters: $question_uuid
SELECT batch_id, outcome, reject_reason, accept_count, reject_count, was_edited, was_adjudicated, revision, decided_at
FROM review_decisions
WHERE question_uuid = $question_uuid
ORDER BY decided_at, batch_id
