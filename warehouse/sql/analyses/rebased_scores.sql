-- What would all months look like against one reference?
-- One row per month and candidate. rebased_score is null where the month's reference and the chosen one never sat the same
-- questions; the published R stands next to it.
-- Parameters: $reference_model (default null), $simulated (default null)
-- A null reference is that of the latest run, of simulated candidates that of their own.
-- Marks of: month
-- No rows: nothing was published: `proctor monthly` examines, judges and publishes a month.
WITH shown AS (
    SELECT *
    FROM rebased_leaderboards
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
)

SELECT * EXCLUDE (is_shown_by_default)
FROM shown
WHERE target_reference = coalesce(
    $reference_model::VARCHAR,
    (SELECT max_by(e.reference_model, (e.month, e.planned_at)) FROM current_editions AS e WHERE e.is_simulated = shown.is_simulated)
)
ORDER BY is_simulated, month, rebased_score DESC NULLS LAST, model
