-- How was everybody equated on a scale so far?
-- One row per edition in which a candidate sat; of who sat before the scale was set, as the edition that set it has it.
-- Parameters: $edition_ids
-- The first of $edition_ids set the scale.
SELECT
    s.model,
    s.edition_id AS sat_edition_id,
    s.equated_score,
    s.equated_low,
    s.equated_high
FROM edition_scores AS s
WHERE s.edition_id IN (SELECT unnest($edition_ids))
    AND s.discipline = 'all'
    AND s.prompt_style = 'zero_shot'
    AND s.equated_score IS NOT NULL
UNION ALL
SELECT
    s.model,
    s.sat_edition_id,
    s.standing_score,
    s.standing_low,
    s.standing_high
FROM edition_standings AS s
WHERE s.edition_id = $edition_ids[1] AND s.comparability = 'anchors'
ORDER BY s.model, sat_edition_id
