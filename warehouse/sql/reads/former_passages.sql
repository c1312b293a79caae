-- Which lineages asked about which texts in earlier bank versions?
-- One row per lineage and text of a question that has left the bank, or was edited since. passage is as in `bank_index.sql`.
SELECT DISTINCT
    lineage_uuid,
    md5(regexp_replace(material, '\s+', '', 'g')) AS passage
FROM bank_entries
WHERE until_version IS NOT NULL AND regexp_matches(material, '\S')
ORDER BY ALL
