-- Which judged runs are not published yet?
-- One row per run, the oldest first.
SELECT r.run_id
FROM runs AS r
ANTI JOIN editions AS e ON e.run_id = r.run_id
SEMI JOIN judgements AS j ON j.month = r.month AND j.run_id = r.run_id
ORDER BY r.planned_at, r.run_id
