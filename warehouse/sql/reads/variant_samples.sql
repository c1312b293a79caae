-- What did people decide on the variants drawn for review from the batches that are held back?
-- One row per drawn variant with its content, in order of batch and question; outcome is null until a closed batch has settled
-- it, decided_answer is the key as they left it.
WITH settled AS (
    SELECT question_uuid, outcome, answer AS decided_answer
    FROM review_decisions
    WHERE outcome <> 'undecided'
    QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY decided_at DESC, batch_id DESC) = 1
)

SELECT
    d.* EXCLUDE (landing_unit, is_sampled),
    s.outcome,
    s.decided_answer
FROM variant_drafts AS d
INNER JOIN variant_batches AS b ON b.variant_batch_id = d.variant_batch_id AND b.status = 'held'
LEFT JOIN settled AS s ON s.question_uuid = d.question_uuid
WHERE d.is_sampled
ORDER BY d.variant_batch_id, d.question_uuid
