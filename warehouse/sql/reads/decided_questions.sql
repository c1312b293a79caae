-- What did the gate decide on every question of every closed batch?
-- One row per batch and question, in that order.
SELECT * EXCLUDE (landing_unit)
FROM review_decisions
ORDER BY batch_id, question_uuid
