-- What did the gate decide on the questions of these lineages?
-- One row per batch and question, in that order.
-- Parameters: $lineage_uuids
SELECT * EXCLUDE (landing_unit)
FROM review_decisions
WHERE lineage_uuid IN (SELECT unnest($lineage_uuids::VARCHAR[]))
ORDER BY batch_id, question_uuid
