-- Which landed sessions are there to judge?
-- One row per session of the run asked for (of all runs), by month; simulated ones, or the others: they never share a judge.
-- Parameters: $is_simulated, $run_id (default null)
SELECT session_id, run_id
FROM sessions
WHERE is_simulated = $is_simulated AND run_id = coalesce($run_id::VARCHAR, run_id)
ORDER BY month, session_id
