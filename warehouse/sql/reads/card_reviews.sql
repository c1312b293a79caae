-- What did review say of a question?
-- One row per batch, oldest first. doubt is what was doubted of a question that was read again; null for the first time.
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
    m.message AS doubt,
    d.decided_at
FROM review_decisions AS d
LEFT JOIN review_messages AS m
    ON m.batch_id = d.batch_id
    AND m.question_uuid = d.question_uuid
    AND m.number = 1
    AND m.author = 'proctor review assign'
WHERE d.question_uuid = $question_uuid
ORDER BY d.decided_at, d.batch_id
