-- Which options of a review batch's questions have a statement by a model that was released?
-- One row per question and option, in that order: the template's variant of it is left out.
-- Parameters: $batch_id
SELECT DISTINCT parent_uuid, option_label
FROM variants
WHERE method = 'declarative_rewrite' AND split_part(landing_unit, '/', 1) = $batch_id
ORDER BY parent_uuid, option_label
