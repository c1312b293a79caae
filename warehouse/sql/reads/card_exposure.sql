-- Who has met a lineage?
-- One row per organisation, with its sittings of sets that hold the lineage and the last month; simulations not counted.
-- Parameters: $lineage_uuid
SELECT
    sessions.organisation,
    count(*) AS session_count,
    max(sessions.month) AS last_month
FROM sets
INNER JOIN sessions ON sessions.set_id = sets.set_id
WHERE sets.lineage_uuid = $lineage_uuid AND NOT sessions.is_simulated
GROUP BY sessions.organisation
ORDER BY sessions.organisation
