-- Where did everybody stand before an edition?
-- One row per candidate: its latest published edition of an earlier month (repetitions left out), with S and R of then.
-- Parameters: $month, $is_simulated
SELECT
    s.model,
    s.organisation,
    s.edition_id AS sat_edition_id,
    s.month AS sat_month,
    e.reference_model,
    s.score,
    s.score_low,
    s.score_high,
    s.relative_score
FROM edition_scores AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
WHERE s.discipline = 'all'
    AND s.prompt_style = 'zero_shot'
    AND s.month < $month
    AND s.is_simulated = $is_simulated
    AND NOT e.is_repetition
QUALIFY row_number() OVER (PARTITION BY s.model ORDER BY s.month DESC) = 1
ORDER BY s.model
