-- What did review say of a question?
-- One row per batch, oldest first. doubt is what was doubted of a question that was read again, a line for each reason; null for the
-- first time.
-- Parameters: $question_uuid
SELECT
    d.batch_id,
    d.outcome,
    d.reject_reason,
    d.accept_count,
    d.reject_count,
    d.was_edited,
    d.was_adjudicated,
    d.revision,
    m.doubt,
    d.decided_at
FROM review_decisions AS d
LEFT JOIN (
    SELECT batch_id, string_agg(message, chr(10) ORDER BY number) AS doubt
    FROM review_messages
    WHERE question_uuid = $question_uuid AND author = 'proctor review assign'
    GROUP BY batch_id
) AS m ON m.batch_id = d.batch_id
WHERE d.question_uuid = $question_uuid
ORDER BY d.decided_at, d.batch_id
