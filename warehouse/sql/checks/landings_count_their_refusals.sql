-- Of which units does the quarantine hold other rows than their landing refused, or of which that were never landed?
-- One row per table and unit; passes when empty.
WITH refused AS (
    SELECT table_name, unit, count(DISTINCT row_json) AS distinct_count
    FROM quarantine
    GROUP BY table_name, unit
)

SELECT
    coalesce(landings.table_name, refused.table_name) AS table_name,
    coalesce(landings.unit, refused.unit) AS unit,
    landings.rejected_count,
    coalesce(refused.distinct_count, 0) AS quarantined_count
FROM landings
FULL JOIN refused ON refused.table_name = landings.table_name AND refused.unit = landings.unit
WHERE
    landings.unit IS NULL
    -- Rows that are alike in every column are refused each, but told apart by nothing.
    OR (landings.rejected_count > 0) <> (refused.unit IS NOT NULL)
    OR landings.rejected_count < coalesce(refused.distinct_count, 0)
ORDER BY ALL
