-- What scores does an edition hold?
-- One row per candidate, prompt style and discipline, the best first; disciplines after the whole.
-- Parameters: $edition_id, $month
SELECT * EXCLUDE (landing_unit)
FROM edition_scores
WHERE edition_id = $edition_id AND month = $month
ORDER BY prompt_style DESC, discipline <> 'all', rank NULLS LAST, model, discipline
