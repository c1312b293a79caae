-- Which lineages lost a question because one of these says the same?
-- One row per lineage.
-- Parameters: $question_uuids
WITH dropped AS (
    SELECT DISTINCT dropped_uuid AS question_uuid
    FROM duplicates
    WHERE kept_uuid IN (SELECT unnest($question_uuids::VARCHAR[]))
)

SELECT lineage_uuid
FROM review_decisions
SEMI JOIN dropped USING (question_uuid)
UNION
SELECT lineage_uuid
FROM variants
SEMI JOIN dropped USING (question_uuid)
ORDER BY lineage_uuid
