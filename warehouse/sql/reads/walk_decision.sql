-- What did the gate decide on a lineage or a variant, last?
-- One row per question of the lineage that was decided on; the one that is asked for first, then the newest.
-- Parameters: $question_uuid, $lineage_uuid
SELECT
    landing_unit AS unit,
    batch_id,
    question_uuid,
    outcome,
    accept_count,
    reject_count,
    was_edited,
    was_adjudicated
FROM review_decisions
WHERE lineage_uuid = $lineage_uuid AND outcome = 'accepted'
ORDER BY question_uuid = $question_uuid DESC, question_uuid = $lineage_uuid DESC, decided_at DESC
LIMIT 1
