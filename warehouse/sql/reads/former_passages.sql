-- Which lineages asked about which texts before, and which say the same as one that has left?
-- One row per lineage and text of a question that has left the bank, or was edited since or in review; passage is as in `bank_index.sql`.
-- And one for each of two lineages that were both in the bank and that `duplicates` names as saying the same.
SELECT
    lineage_uuid,
    md5(regexp_replace(material, '\s+', '', 'g')) AS passage
FROM bank_entries
WHERE until_version IS NOT NULL AND regexp_matches(material, '\S')
UNION
SELECT
    lineage_uuid,
    read_passage AS passage
FROM review_decisions
WHERE read_passage IS NOT NULL AND question_uuid IN (SELECT bank_contents.question_uuid FROM bank_contents)
UNION
SELECT
    unnest([kept.lineage_uuid, dropped.lineage_uuid]) AS lineage_uuid,
    md5(duplicates.kept_uuid || duplicates.dropped_uuid) AS passage
FROM duplicates
INNER JOIN bank_contents AS kept ON kept.question_uuid = duplicates.kept_uuid
INNER JOIN bank_contents AS dropped ON dropped.question_uuid = duplicates.dropped_uuid
WHERE kept.lineage_uuid <> dropped.lineage_uuid
ORDER BY ALL
