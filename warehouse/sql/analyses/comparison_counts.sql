-- Who beats whom on the same questions?
-- One row per pair of candidates of one month: on how many questions of the same sets each had more stars than the other
-- (repeats averaged), and on how many they were equal; a repetition of the month is left out. Input of Elo and Bradley-Terry (tasks/statistics/ratings/elo.py).
-- Parameters: $month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- No rows: no two candidates sat the same questions of a published month: `proctor monthly` with two at least, or PROCTOR_SET_GROUPS=1 so that all share their sets.
SELECT
    p.month,
    p.model_a,
    p.model_b,
    sum(p.win_a_count)::BIGINT AS win_a_count,
    sum(p.win_b_count)::BIGINT AS win_b_count,
    sum(p.tie_count)::BIGINT AS tie_count,
    p.is_simulated
FROM edition_pairs AS p
JOIN current_editions AS e ON e.edition_id = p.edition_id AND e.month = p.month
WHERE p.prompt_style = $prompt_style
    AND p.discipline = 'all'
    AND NOT e.is_repetition
    AND p.pair_count > 0
    AND coalesce($simulated::BOOLEAN OR NOT p.is_simulated, e.is_shown_by_default)
    AND p.month = coalesce($month::VARCHAR, (
        SELECT max(month) FROM current_editions
        WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
    ))
GROUP BY p.month, p.model_a, p.model_b, p.is_simulated
ORDER BY p.month, p.model_a, p.model_b
