-- Of which types are the questions of each discipline?
-- One row per discipline and question type of one bank version. lineage_count counts the lineages with a question of the type, so that a lineage
-- with variants of several types stands in several rows; original_count counts the originals.
-- Parameters: $bank_version (default null)
-- A null version is the latest.
-- No rows: no version of the bank was published: `proctor ingest FOLDER` reads papers, and the last decision of their review publishes one.
SELECT
    bank_version,
    coalesce(discipline, 'unknown') AS discipline,
    question_type,
    count(DISTINCT lineage_uuid) AS lineage_count,
    count(*) AS question_count,
    count(*) FILTER (method = 'original') AS original_count
FROM bank
WHERE bank_version = coalesce($bank_version::BIGINT, (SELECT max(bank_version) FROM bank_versions))
GROUP BY ALL
ORDER BY discipline, question_type
