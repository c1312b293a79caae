-- Which questions can a run's control answers be given to?
-- One row per question of the sets, as it was in the bank version that they were drawn from. Questions on one text have the same cluster.
-- Parameters: $set_ids
WITH drawn AS (
    SELECT DISTINCT question_uuid, lineage_uuid, bank_version
    FROM sets
    WHERE list_contains($set_ids::VARCHAR[], set_id)
)

SELECT
    c.question_uuid,
    CASE WHEN regexp_matches(c.material, '\S') THEN md5(regexp_replace(c.material, '\s+', '', 'g')) ELSE c.lineage_uuid END AS cluster,
    c.discipline,
    c.question_type,
    c.language,
    c.stem,
    c.material,
    c.options,
    c.answer,
    c.explanation,
    c.pictures
FROM bank_contents AS c
JOIN drawn ON drawn.question_uuid = c.question_uuid AND c.from_version <= drawn.bank_version
QUALIFY row_number() OVER (PARTITION BY c.question_uuid ORDER BY c.from_version DESC, c.lineage_uuid) = 1
ORDER BY c.question_uuid
