-- How fast do annotators decide?
-- One row per annotator and day (UTC) with a decision. hours_to_decision is the median time from assignment.
-- Parameters: $batch_id (default null)
-- A null batch gives all batches.
-- No rows: no batch of review was closed: `proctor review status` says who owes decisions.
SELECT
    (r.decided_at AT TIME ZONE 'UTC')::DATE AS decided_on,
    r.annotator,
    count(*) AS decided_count,
    count(*) FILTER (r.decision = 'accept') AS accept_count,
    count(*) FILTER (r.decision = 'edit') AS edit_count,
    count(*) FILTER (r.decision = 'reject') AS reject_count,
    quantile_cont(epoch(r.decided_at) - epoch(a.assigned_at), 0.5) / 3600 AS hours_to_decision
FROM reviews AS r
LEFT JOIN review_assignments AS a
    ON a.batch_id = r.batch_id AND a.question_uuid = r.question_uuid AND a.annotator = r.annotator
WHERE r.batch_id = coalesce($batch_id::VARCHAR, r.batch_id)
GROUP BY decided_on, r.annotator
ORDER BY decided_on, r.annotator
