-- Which questions of other lineages that are or were in the bank say the same as one of these?
-- One row per question and lineage, in order of question; is_in_bank says whether it may be examined now.
-- Parameters: $question_uuids (all of one lineage), $lineage_uuid
WITH RECURSIVE copies AS (
    SELECT unnest($question_uuids::VARCHAR[]) AS question_uuid
    UNION
    SELECT if(duplicates.kept_uuid = copies.question_uuid, duplicates.dropped_uuid, duplicates.kept_uuid)
    FROM copies
    INNER JOIN duplicates ON copies.question_uuid IN (duplicates.kept_uuid, duplicates.dropped_uuid)
)

SELECT
    question_uuid,
    lineage_uuid,
    bool_or(until_version IS NULL) AS is_in_bank
FROM bank_entries
SEMI JOIN copies USING (question_uuid)
WHERE lineage_uuid <> $lineage_uuid
GROUP BY question_uuid, lineage_uuid
ORDER BY question_uuid, lineage_uuid
