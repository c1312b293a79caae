-- How many questions of papers may a set have?
-- One row per discipline of the latest published bank version: the lineages in it, and how many of them have pictures.
SELECT
    coalesce(discipline, 'unknown') AS discipline,
    count(DISTINCT lineage_uuid) AS lineage_count,
    count(DISTINCT lineage_uuid) FILTER (coalesce(len(pictures), 0) > 0) AS pictured_count
FROM current_bank
GROUP BY ALL
ORDER BY ALL
