-- Which months have sessions of a run?
-- One row per month: of the run asked for, or of all runs that are simulated or are not.
-- Parameters: $is_simulated, $run_id (default null)
SELECT DISTINCT month
FROM sessions
WHERE is_simulated = $is_simulated AND run_id = coalesce($run_id::VARCHAR, run_id)
ORDER BY month
