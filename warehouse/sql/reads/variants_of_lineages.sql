-- Which questions were made from those of these lineages?
-- One row per variant, in order of question.
-- Parameters: $lineage_uuids
SELECT *
FROM variants
WHERE lineage_uuid IN (SELECT unnest($lineage_uuids::VARCHAR[]))
ORDER BY question_uuid
