-- Does the order of the candidates hold under the three prompt styles?
-- One row per candidate of one month: S under each style and the rank it gives. Null where the style was not sat.
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
    max(score) FILTER (prompt_style = 'zero_shot') AS zero_shot_score,
    max(score) FILTER (prompt_style = 'few_shot') AS few_shot_score,
    max(score) FILTER (prompt_style = 'chain_of_thought') AS chain_of_thought_score,
    max(rank) FILTER (prompt_style = 'zero_shot') AS zero_shot_rank,
    max(rank) FILTER (prompt_style = 'few_shot') AS few_shot_rank,
    max(rank) FILTER (prompt_style = 'chain_of_thought') AS chain_of_thought_rank,
    max(style_mean) AS style_mean,
    is_simulated
FROM shown
WHERE month = coalesce($month::VARCHAR, (
    SELECT max(month) FROM current_editions
    WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
))
GROUP BY month, model, organisation, is_simulated
ORDER BY is_simulated, zero_shot_rank NULLS LAST, model
