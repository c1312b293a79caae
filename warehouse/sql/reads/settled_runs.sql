-- Which runs are in the lake as a whole?
-- One row per run that landed as closed: it does so after its last session.
SELECT run_id
FROM runs
WHERE status <> 'open'
ORDER BY run_id
