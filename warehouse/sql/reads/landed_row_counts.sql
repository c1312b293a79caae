-- How many rows were landed in each table?
-- One row per table that anything was landed in.
SELECT table_name, sum(row_count)::BIGINT AS row_count
FROM landings
GROUP BY ALL
ORDER BY ALL
