-- What was published of these runs?
-- One row per edition, revisions in order.
-- Parameters: $run_id (default null)
SELECT * EXCLUDE (landing_unit)
FROM editions
WHERE run_id = coalesce($run_id::VARCHAR, run_id)
ORDER BY planned_at, run_id, revision
