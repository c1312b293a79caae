-- How far is each annotator with each review batch?
-- One row per batch and annotator. overdue_count is what was due before now and has no decision.
SELECT
    a.batch_id,
    a.annotator,
    count(*) AS assigned_count,
    count(r.decision) AS decided_count,
    count(*) - count(r.decision) AS open_count,
    count(*) FILTER (r.decision IS NULL AND a.due_at < now()) AS overdue_count,
    count(*) FILTER (r.decision = 'accept') AS accept_count,
    count(*) FILTER (r.decision = 'edit') AS edit_count,
    count(*) FILTER (r.decision = 'reject') AS reject_count,
    min(a.assigned_at) AS first_assigned_at,
    max(a.due_at) AS due_at,
    max(r.decided_at) AS last_decided_at
FROM review_assignments AS a
LEFT JOIN reviews AS r
    ON r.batch_id = a.batch_id AND r.question_uuid = a.question_uuid AND r.annotator = a.annotator
GROUP BY a.batch_id, a.annotator
