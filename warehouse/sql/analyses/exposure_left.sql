-- How many questions has each organisation not met yet, and how many sets can still be drawn for it?
-- One row per organisation and discipline of the latest bank version. A lineage counts as met once any set with it was sat by
-- the organisation, those of the reference included; simulated runs consume nothing. sets_left is what the discipline
-- allows at $lineages_per_set lineages each: the smallest over the disciplines is what the organisation has left.
-- Parameters: $lineages_per_set (default 100)
-- No rows: only real runs count, as simulated ones take nothing from the bank: `proctor monthly` with a candidate that is registered as real.
WITH banked AS (
    SELECT DISTINCT discipline, lineage_uuid
    FROM current_bank
    WHERE discipline IS NOT NULL
),

met AS (
    SELECT DISTINCT s.organisation, sets.lineage_uuid
    FROM sessions AS s
    JOIN sets ON sets.set_id = s.set_id
    WHERE NOT s.is_simulated
),

organisations AS (
    SELECT DISTINCT organisation FROM sessions WHERE NOT is_simulated
)

SELECT
    o.organisation,
    banked.discipline,
    count(*) AS lineage_count,
    count(met.lineage_uuid) AS met_count,
    count(*) - count(met.lineage_uuid) AS left_count,
    (count(*) - count(met.lineage_uuid)) // $lineages_per_set::BIGINT AS sets_left
FROM organisations AS o
CROSS JOIN banked
LEFT JOIN met ON met.organisation = o.organisation AND met.lineage_uuid = banked.lineage_uuid
GROUP BY o.organisation, banked.discipline
ORDER BY o.organisation, sets_left, banked.discipline
