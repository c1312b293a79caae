-- Which questions did a review batch accept as they had not been accepted before?
-- One row per accepted question with the content that passed, in order of question. A question that was accepted earlier in the same
-- revision has its variants already.
-- Parameters: $batch_id
SELECT passed.* EXCLUDE (landing_unit)
FROM review_decisions AS passed
ANTI JOIN review_decisions AS before
    ON before.question_uuid = passed.question_uuid
    AND before.revision = passed.revision
    AND before.outcome = 'accepted'
    AND (before.decided_at, before.batch_id) < (passed.decided_at, passed.batch_id)
WHERE passed.batch_id = $batch_id AND passed.outcome = 'accepted'
ORDER BY passed.question_uuid
