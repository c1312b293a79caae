-- What would the scores be if people had judged: S, corrected for the judge?
-- One row per published run, prompt style, candidate and estimator, by the ratings of the last correction. S itself stays what was
-- published; corrected_score stands beside it. A candidate whose responses nobody rated has no row of `prediction_powered`.
-- Parameters: $month (default null), $style (default zero_shot), $simulated (default null)
-- Shown: model, estimator, score, corrected_score, corrected_low, corrected_high, rated_count
-- Marks of: edition_id
-- No rows: no published score was corrected: `proctor calibrate draw RUN --raters …`, stars by people, then `proctor calibrate report`.
SELECT
    c.edition_id,
    c.month,
    c.prompt_style,
    c.model,
    c.estimator,
    c.score,
    c.corrected_score,
    c.corrected_low,
    c.corrected_high,
    c.corrected_score - c.score AS correction,
    c.score NOT BETWEEN c.corrected_low AND c.corrected_high AS is_judged_apart,
    c.rated_count,
    c.judge_weight,
    c.judge,
    c.corrected_at,
    c.is_simulated
FROM corrected_scores AS c
JOIN current_editions AS e ON e.edition_id = c.edition_id AND e.month = c.month
WHERE coalesce($simulated::BOOLEAN OR NOT c.is_simulated, e.is_shown_by_default)
    AND ($month::VARCHAR IS NULL OR c.month = $month)
    AND c.prompt_style = $style
QUALIFY rank() OVER (PARTITION BY c.edition_id, c.prompt_style ORDER BY c.corrected_at DESC) = 1
ORDER BY c.month, c.edition_id, c.estimator DESC, c.corrected_score DESC, c.model
