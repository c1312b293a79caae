-- Which sessions were erased, and when, among those asked for?
-- One row per session: of $session_ids, or of a whole run.
-- Parameters: $session_ids (default null), $run_id (default null)
SELECT session_id, erased_at
FROM erasures
WHERE list_contains($session_ids::VARCHAR[], session_id) OR run_id = $run_id::VARCHAR
ORDER BY session_id
