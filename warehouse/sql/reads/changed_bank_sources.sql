-- Which units have changed since a bank was last published from them?
-- One row per table and unit, with the content it has now. Variants are made and decisions taken in units of a review batch,
-- documents land by themselves, retirements by question.
WITH taken AS (
    SELECT table_name, unit, max_by(content_hash, publication) AS content_hash
    FROM bank_sources
    GROUP BY table_name, unit
)

SELECT landings.table_name, landings.unit, landings.content_hash
FROM landings
LEFT JOIN taken ON taken.table_name = landings.table_name AND taken.unit = landings.unit
WHERE
    landings.table_name IN ('review_decisions', 'variants', 'questions', 'bank_retirements')
    AND landings.content_hash IS DISTINCT FROM taken.content_hash
ORDER BY ALL
