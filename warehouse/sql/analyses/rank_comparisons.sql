-- Which candidates of a month can be told apart?
-- One row per pair: the difference of S, and as all pairs of the month are told together: p, the ends of an interval that holds for
-- all of them at once in 95% of months (it holds 0 exactly where the verdict is that they cannot be told apart), and a verdict.
-- difference_low, difference_high and p_value are those of the pair alone. Months from before have p_holm instead, and no common
-- intervals. is_paired: both sat pair_count questions, at least half of theirs. A second run of the month has pairs of its own
-- (is_repetition). A null month is the latest.
-- Parameters: $month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- Shown: model_a, model_b, difference, together_low, together_high, verdict
-- Marks of: edition_id
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one; it needs two candidates.
SELECT
    p.month,
    p.model_a,
    p.model_b,
    p.difference,
    p.difference_low,
    p.difference_high,
    p.p_value,
    p.p_holm,
    p.p_together,
    p.together_low,
    p.together_high,
    CASE
        WHEN p.is_distinguishable IS NULL THEN 'no comparison'
        WHEN NOT p.is_distinguishable OR p.difference = 0 THEN 'not distinguishable'
        WHEN p.difference > 0 THEN p.model_a || ' is better'
        ELSE p.model_b || ' is better'
    END AS verdict,
    p.is_distinguishable,
    p.pair_count,
    p.is_paired,
    e.run_id,
    e.edition_id,
    e.is_repetition,
    p.is_simulated
FROM edition_pairs AS p
JOIN current_editions AS e ON e.edition_id = p.edition_id AND e.month = p.month
WHERE p.prompt_style = $prompt_style
    AND p.discipline = 'all'
    AND coalesce($simulated::BOOLEAN OR NOT p.is_simulated, e.is_shown_by_default)
    AND p.month = coalesce($month::VARCHAR, (
        SELECT max(month) FROM current_editions
        WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
    ))
ORDER BY p.is_simulated, e.is_repetition, e.run_id, coalesce(p.p_together, p.p_holm) NULLS LAST, p.model_a, p.model_b
