-- Who was put these lineages, in which variant, and when?
-- One row per organisation and question; a set counts from the planning of a session with it, those of the reference included.
-- Parameters: $lineage_uuids, $is_simulated
SELECT
    sessions.organisation,
    sets.lineage_uuid,
    sets.question_uuid,
    count(*) AS session_count,
    min(sessions.month) AS first_month,
    max(sessions.month) AS last_month,
    min(sessions.opened_at) AS first_opened_at
FROM sets
INNER JOIN sessions ON sessions.set_id = sets.set_id
WHERE
    sets.lineage_uuid IN (SELECT unnest($lineage_uuids::VARCHAR[]))
    AND sessions.is_simulated = $is_simulated
GROUP BY sessions.organisation, sets.lineage_uuid, sets.question_uuid
ORDER BY sessions.organisation, sets.lineage_uuid, sets.question_uuid
