-- Which questions have a decision that is known well enough to try annotators by?
-- One row per question, in drawn order; at most $most per discipline and outcome. Accepted by all or by an adjudicator, or
-- rejected for a fault that can be seen on its card. Drawn by a hash of $salt, which nobody outside knows.
-- Parameters: $salt, $most
WITH settled AS (
    SELECT * EXCLUDE (landing_unit)
    FROM review_decisions
    WHERE outcome = 'accepted'
        OR (
            outcome = 'rejected'
            AND reject_reason IN ('factual_error', 'irrelevant_answer', 'unclear', 'formatting')
        )
    QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY decided_at DESC, batch_id DESC) = 1
),

drawn AS (
    SELECT *, sha256($salt || question_uuid) AS draw
    FROM settled
    WHERE document_id IS NOT NULL AND len(answer) > 0
    QUALIFY row_number() OVER (PARTITION BY discipline, outcome ORDER BY sha256($salt || question_uuid)) <= $most
)

SELECT
    d.* EXCLUDE (draw),
    q.document_name,
    q.position,
    q.number_label,
    q.parse_notes,
    q.status
FROM drawn AS d
JOIN questions AS q ON q.question_uuid = d.question_uuid AND q.document_id = d.document_id
ORDER BY d.draw
