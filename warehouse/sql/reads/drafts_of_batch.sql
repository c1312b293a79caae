-- What did a model write in one batch of variants?
-- One row per variant with the columns of `variants`, in order of question.
-- Parameters: $variant_batch_id
SELECT * EXCLUDE (landing_unit, variant_batch_id, is_sampled)
FROM variant_drafts
WHERE variant_batch_id = $variant_batch_id
ORDER BY question_uuid
