-- Which run is to be published?
-- One row per run of that id: itself, and whether it is a further run of its month: it has a name of its own, whenever it was
-- planned, or (runs of earlier versions have none) the month's own run was planned before it.
-- Parameters: $run_id
SELECT
    r.* EXCLUDE (landing_unit),
    r.repetition IS NOT NULL OR EXISTS (
        SELECT 1
        FROM runs AS earlier
        WHERE earlier.month = r.month
            AND earlier.is_simulated = r.is_simulated
            AND earlier.repetition IS NULL
            AND (earlier.planned_at, earlier.run_id) < (r.planned_at, r.run_id)
    ) AS is_repetition
FROM runs AS r
WHERE r.run_id = $run_id
