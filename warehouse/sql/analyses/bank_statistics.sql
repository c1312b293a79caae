-- How many questions does the bank hold by discipline, and by source, before and after augmentation?
-- One row per discipline, one per source kind, and one total, of one bank version. original_share and question_share are of the
-- total, increase_rate is the increase over the originals; all in percent.
-- Parameters: $bank_version (default null)
-- A null version is the latest.
-- No rows: no version of the bank was published: `proctor ingest FOLDER` reads papers, and the last decision of their review publishes one.
WITH version AS (
    SELECT *
    FROM bank_counts
    WHERE bank_version = coalesce($bank_version::BIGINT, (SELECT max(bank_version) FROM bank_versions))
),

counts AS (
    SELECT
        bank_version,
        CASE
            WHEN grouping(discipline) = 0 THEN 'discipline'
            WHEN grouping(source_kind) = 0 THEN 'source_kind'
            ELSE 'total'
        END AS grouped_by,
        coalesce(discipline, source_kind, 'all') AS name,
        sum(original_count)::BIGINT AS original_count,
        sum(question_count)::BIGINT AS question_count,
        sum(increase_count)::BIGINT AS increase_count
    FROM version
    GROUP BY GROUPING SETS ((bank_version, discipline), (bank_version, source_kind), (bank_version))
)

SELECT
    bank_version,
    grouped_by,
    name,
    original_count,
    question_count,
    increase_count,
    increase_count / nullif(original_count, 0) * 100 AS increase_rate,
    original_count / sum(original_count) OVER (PARTITION BY grouped_by) * 100 AS original_share,
    question_count / sum(question_count) OVER (PARTITION BY grouped_by) * 100 AS question_share
FROM counts
ORDER BY grouped_by, increase_rate DESC NULLS LAST, name
