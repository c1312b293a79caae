-- How has the difference of two candidates moved over the months?
-- One row per pair and month in which both stood: the difference of S (first less second) with the interval that holds for all pairs of
-- the month at once, and whether it tells them apart. A null name means every candidate; $month_count is how many of the last months.
-- Parameters: $model_a (default null), $model_b (default null), $prompt_style (default zero_shot), $month_count (default null), $simulated (default null)
-- Repetitions of a month are left out.
-- Marks of: edition_id
-- No rows: the two never stood in the same month under the prompt style, or nothing was published; `proctor sql standings` names who stood.
-- Shown: month, model_a, model_b, difference, together_low, together_high, verdict
SELECT
    p.month,
    p.model_a,
    p.model_b,
    p.difference,
    p.together_low,
    p.together_high,
    coalesce(p.p_together, p.p_holm) AS p_together,
    CASE
        WHEN p.is_distinguishable IS NULL THEN 'no comparison'
        WHEN NOT p.is_distinguishable OR p.difference = 0 THEN 'not told apart'
        WHEN p.difference > 0 THEN p.model_a || ' is better'
        ELSE p.model_b || ' is better'
    END AS verdict,
    p.is_distinguishable,
    p.is_paired,
    p.pair_count,
    e.is_provisional,
    p.edition_id,
    p.is_simulated
FROM edition_pairs AS p
JOIN current_editions AS e ON e.edition_id = p.edition_id AND e.month = p.month
WHERE p.prompt_style = $prompt_style
    AND p.discipline = 'all'
    AND NOT e.is_repetition
    AND coalesce($simulated::BOOLEAN OR NOT p.is_simulated, e.is_shown_by_default)
    AND coalesce($model_a::VARCHAR IN (p.model_a, p.model_b), true)
    AND coalesce($model_b::VARCHAR IN (p.model_a, p.model_b), true)
    AND p.month IN (
        SELECT DISTINCT month
        FROM current_editions
        WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        ORDER BY month DESC
        LIMIT coalesce($month_count::BIGINT, 9999)
    )
ORDER BY p.is_simulated, p.model_a, p.model_b, p.month
