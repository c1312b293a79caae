-- Which of these lineages ask about a text, and which of them about the same one?
-- One row per lineage that has a material. passage is the same for two lineages exactly when their materials are, spaces left aside.
-- Parameters: $lineage_uuids
SELECT
    lineage_uuid,
    arg_min(md5(regexp_replace(material, '\s+', '', 'g')), (from_version, question_uuid)) AS passage
FROM bank_entries
WHERE lineage_uuid IN (SELECT unnest($lineage_uuids::VARCHAR[])) AND regexp_matches(material, '\S')
GROUP BY lineage_uuid
ORDER BY lineage_uuid
