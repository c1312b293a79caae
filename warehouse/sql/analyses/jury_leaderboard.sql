-- What would the scores be by all judges together?
-- One row per published run, prompt style, candidate and estimator, by the last state of judgements and ratings. S itself stays what was
-- published; jury_score stands beside it. `prediction_powered` corrects the jury by the candidate's own ratings and holds where judges
-- err alike; a candidate whose responses nobody rated has no such row. is_apart where S lies outside of the jury's interval.
-- Parameters: $month (default null), $style (default zero_shot), $simulated (default null)
-- Shown: model, estimator, score, jury_score, jury_low, jury_high, rated_count, is_apart
-- Marks of: edition_id
-- No rows: no published run was judged by two judges and then looked at: `proctor calibrate report` does so for runs that several judges of the registry judged (`proctor judge`).
SELECT
    j.edition_id,
    j.month,
    j.prompt_style,
    j.model,
    j.estimator,
    j.score,
    j.jury_score,
    j.jury_se,
    j.jury_low,
    j.jury_high,
    j.jury_score - j.score AS correction,
    coalesce(j.score NOT BETWEEN j.jury_low AND j.jury_high, false) AS is_apart,
    j.judge_count,
    j.response_count,
    j.rated_count,
    j.computed_at,
    j.is_simulated
FROM jury_scores AS j
JOIN current_editions AS e ON e.edition_id = j.edition_id AND e.month = j.month
WHERE coalesce($simulated::BOOLEAN OR NOT j.is_simulated, e.is_shown_by_default)
    AND ($month::VARCHAR IS NULL OR j.month = $month)
    AND j.prompt_style = $style
QUALIFY rank() OVER (PARTITION BY j.edition_id, j.prompt_style ORDER BY j.computed_at DESC) = 1
ORDER BY j.month, j.edition_id, j.estimator, j.jury_score DESC, j.model
