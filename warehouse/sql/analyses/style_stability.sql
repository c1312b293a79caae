-- How far do the three prompt styles agree for each candidate?
-- One row per candidate of one month with its S under each style, their mean and their population variance (that is what the
-- published tables of three styles contain). style_count says how many styles stand behind them.
-- Parameters: $month (default null), $simulated (default null)
-- Marks of: month
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one.
WITH shown AS (
    SELECT *
    FROM style_scores
    WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        AND NOT is_repetition
)

SELECT
    month,
    model,
    organisation,
    is_open,
    max(score) FILTER (prompt_style = 'zero_shot') AS zero_shot_score,
    max(score) FILTER (prompt_style = 'few_shot') AS few_shot_score,
    max(score) FILTER (prompt_style = 'chain_of_thought') AS chain_of_thought_score,
    max(style_mean) AS style_mean,
    max(style_variance) AS style_variance,
    max(style_count) AS style_count,
    is_simulated
FROM shown
WHERE month = coalesce($month::VARCHAR, (
    SELECT max(month) FROM current_editions
    WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
))
GROUP BY month, model, organisation, is_open, is_simulated
ORDER BY is_simulated, style_mean DESC, model
