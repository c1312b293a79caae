-- What did every candidate get for every question of a month?
-- One row per candidate, set and question: stars averaged over its repeats; an answer that nobody could judge has none.
-- Input of the resamples (tasks/statistics/ratings/bootstrap.py) and of relative score against Elo (tasks/statistics/ratings/elo.py).
-- Parameters: $month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one.
SELECT
    s.month,
    s.model,
    s.set_id,
    s.question_uuid,
    s.discipline,
    (s.stars_1_count + 2 * s.stars_2_count + 3 * s.stars_3_count)
        / (s.stars_0_count + s.stars_1_count + s.stars_2_count + s.stars_3_count) AS stars,
    s.stars_0_count + s.stars_1_count + s.stars_2_count + s.stars_3_count AS repeat_count,
    s.is_simulated
FROM edition_stars AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
WHERE s.prompt_style = $prompt_style
    AND NOT e.is_repetition
    AND s.stars_0_count + s.stars_1_count + s.stars_2_count + s.stars_3_count > 0
    AND coalesce($simulated::BOOLEAN OR NOT s.is_simulated, e.is_shown_by_default)
    AND s.month = coalesce($month::VARCHAR, (
        SELECT max(month) FROM current_editions
        WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
    ))
ORDER BY s.model, s.set_id, s.question_uuid
