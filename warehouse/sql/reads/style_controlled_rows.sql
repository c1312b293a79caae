-- What did scores of an edition come to without the form of responses, by a state of the ratings?
-- One row per candidate and prompt style, as it was landed.
-- Parameters: $unit
SELECT * EXCLUDE (landing_unit)
FROM style_controlled_scores
WHERE landing_unit = $unit
ORDER BY prompt_style, model
