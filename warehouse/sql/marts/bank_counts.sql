-- How many questions does the bank hold, before and after augmentation?
-- One row per bank version, discipline and source kind. original_count counts lineages (each is one accepted question of a
-- paper), question_count everything in the bank with the variants.
SELECT
    bank_version,
    coalesce(discipline, 'unknown') AS discipline,
    coalesce(source_kind, 'unknown') AS source_kind,
    count(DISTINCT lineage_uuid) AS original_count,
    count(*) AS question_count,
    count(*) - count(DISTINCT lineage_uuid) AS increase_count
FROM bank
GROUP BY ALL
