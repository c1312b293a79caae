-- What did a state of the ratings correct the scores of an edition to?
-- One row per candidate, prompt style and estimator, as it was landed.
-- Parameters: $unit
SELECT * EXCLUDE (landing_unit)
FROM corrected_scores
WHERE landing_unit = $unit
ORDER BY prompt_style, model, estimator
