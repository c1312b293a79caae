-- Which candidates of a run are variants of which base?
-- One row per candidate as the run was planned.
-- Parameters: $run_id
SELECT model, base_model
FROM models
WHERE run_id = $run_id
ORDER BY model
