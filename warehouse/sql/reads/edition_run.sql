-- Which run is to be published?
-- One row per run of that id: itself, and whether its month has an earlier one.
-- Parameters: $run_id
SELECT
    r.* EXCLUDE (landing_unit),
    EXISTS (
        SELECT 1
        FROM runs AS earlier
        WHERE earlier.month = r.month
            AND earlier.is_simulated = r.is_simulated
            AND (earlier.planned_at, earlier.run_id) < (r.planned_at, r.run_id)
    ) AS is_repetition
FROM runs AS r
WHERE r.run_id = $run_id
