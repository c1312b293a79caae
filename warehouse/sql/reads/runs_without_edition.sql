-- Which runs of a kind are not published yet?
-- One row per run, by month.
-- Parameters: $is_simulated
SELECT run_id, month
FROM runs
ANTI JOIN editions ON editions.run_id = runs.run_id
WHERE is_simulated = $is_simulated
ORDER BY month, run_id
