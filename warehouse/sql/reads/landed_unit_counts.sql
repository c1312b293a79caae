-- How many units were landed in each table?
-- One row per table that anything was landed in.
SELECT table_name, count(*) AS unit_count
FROM landings
GROUP BY ALL
ORDER BY ALL
