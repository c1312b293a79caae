-- What did every single repeat score?
-- One row per session of one month's editions; nothing is averaged. relative_score is R on its own pairs.
-- Parameters: $month (default null), $prompt_style (default null), $simulated (default null)
-- A null month is the latest, a null style is all of them.
-- Marks of: run_id
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one.
SELECT
    s.month,
    s.run_id,
    s.model,
    s.organisation,
    s.prompt_style,
    s.repeat,
    s.set_id,
    s.score,
    s.pair_stars / nullif(s.reference_pair_stars, 0) * 100 AS relative_score,
    s.pair_count,
    s.question_count,
    s.scored_count,
    s.unparsed_count,
    s.unjudged_count,
    e.judge,
    s.is_borrowed,
    s.is_complete,
    e.is_provisional,
    s.is_simulated
FROM edition_sessions AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
WHERE coalesce($simulated::BOOLEAN OR NOT s.is_simulated, e.is_shown_by_default)
    AND s.month = coalesce($month::VARCHAR, (
        SELECT max(month) FROM current_editions
        WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
    ))
    AND s.prompt_style = coalesce($prompt_style::VARCHAR, s.prompt_style)
ORDER BY s.is_simulated, s.run_id, s.model, s.prompt_style, s.repeat, s.set_id
