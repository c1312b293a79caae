-- How many corrected scores were landed?
-- One row per unit asked for that has any.
-- Parameters: $units
SELECT
    landing_unit AS unit,
    count(*) AS row_count
FROM corrected_scores
WHERE list_contains($units::VARCHAR[], landing_unit)
GROUP BY landing_unit
ORDER BY landing_unit
