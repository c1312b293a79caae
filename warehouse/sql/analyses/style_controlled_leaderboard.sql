-- What would S be if all responses had the usual length and markup?
-- One row per published run, prompt style and candidate, by the ratings of the last calibration. controlled_score takes off what the
-- judge gives for form alone (judge_style); S itself stays what was published. rank and controlled_rank count the candidates shown.
-- Parameters: $month (default null), $style (default zero_shot), $simulated (default null)
-- Shown: model, score, controlled_score, controlled_low, controlled_high, style_points, rank, controlled_rank
-- Marks of: edition_id
-- No rows: no judge was compared with people since form is looked at: `proctor calibrate draw RUN --raters …`, stars by people, then `proctor calibrate report`.
WITH shown AS (
    SELECT c.*
    FROM style_controlled_scores AS c
    JOIN current_editions AS e ON e.edition_id = c.edition_id AND e.month = c.month
    WHERE coalesce($simulated::BOOLEAN OR NOT c.is_simulated, e.is_shown_by_default)
        AND ($month::VARCHAR IS NULL OR c.month = $month)
        AND c.prompt_style = $style
    QUALIFY rank() OVER (PARTITION BY c.edition_id, c.prompt_style ORDER BY c.computed_at DESC) = 1
)

SELECT
    edition_id,
    month,
    prompt_style,
    model,
    score,
    controlled_score,
    controlled_se,
    controlled_low,
    controlled_high,
    score - controlled_score AS style_points,
    rank() OVER (PARTITION BY edition_id, prompt_style ORDER BY round(score, 9) DESC) AS rank,
    rank() OVER (PARTITION BY edition_id, prompt_style ORDER BY round(controlled_score, 9) DESC) AS controlled_rank,
    pow(2, length_mean) AS typical_length,
    judge,
    prompt_version,
    rated_count,
    computed_at,
    is_simulated
FROM shown
ORDER BY month, edition_id, controlled_score DESC, model
