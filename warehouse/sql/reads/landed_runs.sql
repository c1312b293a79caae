-- Which runs have been landed?
-- One row per run.
SELECT DISTINCT run_id
FROM runs
ORDER BY run_id
