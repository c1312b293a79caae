-- How many lineages has each organisation met, by discipline?
-- One row per organisation and discipline. least_count is how many lineages the discipline had in the smallest bank version that a
-- set with it was drawn from.
-- Parameters: $is_simulated
WITH drawn AS (
    SELECT DISTINCT bank_version, discipline FROM sets WHERE is_simulated = $is_simulated
),

counted AS (
    SELECT drawn.discipline, drawn.bank_version, count(DISTINCT bank.lineage_uuid) AS lineage_count
    FROM drawn
    INNER JOIN bank ON bank.bank_version = drawn.bank_version AND bank.discipline = drawn.discipline
    GROUP BY drawn.discipline, drawn.bank_version
),

least AS (
    SELECT discipline, min(lineage_count) AS least_count FROM counted GROUP BY discipline
)

SELECT
    sessions.organisation,
    sets.discipline,
    count(DISTINCT sets.lineage_uuid) AS met_count,
    coalesce(any_value(least.least_count), 0) AS least_count
FROM sessions
INNER JOIN sets ON sets.set_id = sessions.set_id
LEFT JOIN least ON least.discipline = sets.discipline
WHERE sessions.is_simulated = $is_simulated
GROUP BY sessions.organisation, sets.discipline
ORDER BY sessions.organisation, sets.discipline
