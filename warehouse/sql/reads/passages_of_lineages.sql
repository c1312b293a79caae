-- Which of these lineages ask about a text, and which of them about the same one?
-- One row per lineage that has a material. passage is the same for two lineages exactly when their materials were as first read, spaces left
-- aside.
-- Parameters: $lineage_uuids
WITH read_texts AS (
    SELECT
        lineage_uuid,
        arg_min(read_passage, (decided_at, question_uuid)) AS passage
    FROM review_decisions
    WHERE lineage_uuid IN (SELECT unnest($lineage_uuids::VARCHAR[])) AND read_passage IS NOT NULL
    GROUP BY lineage_uuid
),

banked_texts AS (
    SELECT
        lineage_uuid,
        arg_min(md5(regexp_replace(material, '\s+', '', 'g')), (from_version, question_uuid)) AS passage
    FROM bank_entries
    WHERE lineage_uuid IN (SELECT unnest($lineage_uuids::VARCHAR[])) AND regexp_matches(material, '\S')
    GROUP BY lineage_uuid
)

SELECT
    banked_texts.lineage_uuid,
    coalesce(read_texts.passage, banked_texts.passage) AS passage
FROM banked_texts
LEFT JOIN read_texts ON read_texts.lineage_uuid = banked_texts.lineage_uuid
ORDER BY banked_texts.lineage_uuid
