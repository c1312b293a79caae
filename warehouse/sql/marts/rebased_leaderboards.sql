-- What would every published R be against one and the same reference?
-- One row per month, candidate and target reference (every candidate that was ever a reference). rebased_score is the
-- published R times the bridge between the two references, over a chain of bridges where they never sat together; null where
-- no chain joins them. The published R itself (relative_score) never changes.
WITH targets AS (
    SELECT DISTINCT reference_model AS target_reference, is_simulated FROM current_editions
)

SELECT
    l.month,
    targets.target_reference,
    l.model,
    l.organisation,
    l.reference_model,
    l.relative_score,
    CASE
        WHEN l.reference_model = targets.target_reference THEN l.relative_score
        ELSE l.relative_score * b.bridge
    END AS rebased_score,
    CASE WHEN l.reference_model = targets.target_reference THEN l.pair_count ELSE coalesce(b.pair_count, 0) END AS pair_count,
    coalesce(b.step_count, 0) AS step_count,
    l.is_provisional,
    l.is_simulated,
    l.is_shown_by_default
FROM leaderboards AS l
JOIN targets ON targets.is_simulated = l.is_simulated
LEFT JOIN reference_bridges AS b
    ON b.from_reference = l.reference_model
    AND b.to_reference = targets.target_reference
    AND b.is_simulated = l.is_simulated
WHERE NOT l.is_repetition
