-- Which runs are in the lake as a whole?
-- One row per run that landed as closed (it does so after its last session), with the sessions that the lake has of it.
SELECT runs.run_id, count(sessions.session_id) AS session_count
FROM runs
LEFT JOIN sessions ON sessions.run_id = runs.run_id
WHERE runs.status <> 'open'
GROUP BY runs.run_id
ORDER BY runs.run_id
