-- How has the bank grown from version to version?
-- One row per bank version, the first one first: what it holds, how many questions entered with it and how many left (a question that was
-- edited leaves and enters).
-- No rows: no version of the bank was published: `proctor ingest FOLDER` reads papers, and the last decision of their review publishes one.
WITH entered AS (
    SELECT from_version AS bank_version, count(*) AS entered_count FROM bank_contents GROUP BY from_version
),

gone AS (
    SELECT until_version AS bank_version, count(*) AS left_out_count FROM bank_exits GROUP BY until_version
)

SELECT
    v.bank_version,
    v.published_at,
    v.question_count,
    v.lineage_count,
    coalesce(entered.entered_count, 0) AS entered_count,
    coalesce(gone.left_out_count, 0) AS left_out_count,
    v.duplicate_count,
    v.content_hash
FROM bank_versions AS v
LEFT JOIN entered ON entered.bank_version = v.bank_version
LEFT JOIN gone ON gone.bank_version = v.bank_version
ORDER BY v.bank_version
