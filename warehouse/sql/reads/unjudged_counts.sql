-- How many answers of each run that is not published yet has nobody judged?
-- One row per run that was planned since a moment: older ones are looked at by name, not every minute.
-- Parameters: $planned_since
WITH waiting AS (
    SELECT run_id, month
    FROM runs
    ANTI JOIN editions ON editions.run_id = runs.run_id
    WHERE planned_at >= $planned_since::TIMESTAMPTZ
),

answered AS (
    SELECT run_id, count(*) AS answer_count
    FROM responses
    WHERE month IN (SELECT month FROM waiting)
    GROUP BY run_id
),

judged AS (
    SELECT run_id, count(DISTINCT (session_id, seq)) AS judged_count
    FROM judgements
    WHERE month IN (SELECT month FROM waiting)
    GROUP BY run_id
)

SELECT w.run_id, coalesce(a.answer_count, 0) - coalesce(j.judged_count, 0) AS unjudged_count
FROM waiting AS w
LEFT JOIN answered AS a USING (run_id)
LEFT JOIN judged AS j USING (run_id)
ORDER BY w.run_id
