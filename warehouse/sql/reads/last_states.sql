-- Which state of judgements and ratings was looked at last, of an edition?
-- One row per table that has rows of it: the state by its unit.
-- Parameters: $edition_id
SELECT 'corrected_scores' AS table_name, arg_max(landing_unit, corrected_at) AS unit
FROM corrected_scores
WHERE edition_id = $edition_id
HAVING count(*) > 0
UNION ALL
SELECT 'style_controlled_scores' AS table_name, arg_max(landing_unit, computed_at) AS unit
FROM style_controlled_scores
WHERE edition_id = $edition_id
HAVING count(*) > 0
UNION ALL
SELECT 'jury_scores' AS table_name, arg_max(landing_unit, computed_at) AS unit
FROM jury_scores
WHERE edition_id = $edition_id
HAVING count(*) > 0
ORDER BY table_name
