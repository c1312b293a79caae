-- What did these candidates get for every question of an edition under a prompt style?
-- One row per candidate and question.
-- Parameters: $edition_id, $month, $prompt_style, $models
SELECT * EXCLUDE (landing_unit)
FROM edition_stars
WHERE month = $month
    AND edition_id = $edition_id
    AND prompt_style = $prompt_style
    AND list_contains($models, model)
ORDER BY model, question_uuid
