-- How many sessions, allocations and responses of runs have landed, by month?
-- One row per month that anything of a run was landed of.
WITH rows_by_month AS (
    SELECT month, 'sessions' AS table_name FROM sessions
    UNION ALL
    SELECT month, 'allocations' AS table_name FROM allocations
    UNION ALL
    SELECT month, 'responses' AS table_name FROM responses
)

SELECT
    month,
    count(*) FILTER (WHERE table_name = 'sessions') AS sessions,
    count(*) FILTER (WHERE table_name = 'allocations') AS allocations,
    count(*) FILTER (WHERE table_name = 'responses') AS responses
FROM rows_by_month
GROUP BY month
ORDER BY month
