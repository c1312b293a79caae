-- Which lineages have been put to most organisations?
-- One row per lineage of the latest bank version that somebody has met, the most exposed first; simulated runs not counted.
-- Parameters: $limit (default 100)
-- No rows: only real runs count, as simulated ones take nothing from the bank: `proctor monthly` with a candidate that is registered as real.
WITH met AS (
    SELECT
        sets.lineage_uuid,
        count(DISTINCT sessions.organisation) AS organisation_count,
        count(DISTINCT sets.question_uuid) AS variant_count,
        count(DISTINCT sets.set_id) AS set_count,
        count(*) AS session_count,
        min(sessions.month) AS first_month,
        max(sessions.month) AS last_month
    FROM sets
    INNER JOIN sessions ON sessions.set_id = sets.set_id
    WHERE NOT sessions.is_simulated
    GROUP BY sets.lineage_uuid
),

banked AS (
    SELECT lineage_uuid, min(discipline) AS discipline FROM current_bank GROUP BY lineage_uuid
)

SELECT met.lineage_uuid, banked.discipline, met.* EXCLUDE (lineage_uuid)
FROM met
INNER JOIN banked ON banked.lineage_uuid = met.lineage_uuid
ORDER BY met.organisation_count DESC, met.session_count DESC, met.lineage_uuid
LIMIT $limit
