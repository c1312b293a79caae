-- What did every single repeat score?
-- One row per candidate, prompt style and repeat of one month; nothing is averaged. relative_score is R on its own pairs.
-- Parameters: $month (default null), $prompt_style (default null)
-- A null month is the latest, a null style is all of them.
SELECT
    month,
    run_id,
    model,
    organisation,
    prompt_style,
    repeat,
    set_id,
    score,
    pair_stars / nullif(reference_pair_stars, 0) * 100 AS relative_score,
    pair_count,
    question_count,
    scored_count,
    unparsed_count,
    unjudged_count,
    judge,
    is_borrowed,
    is_complete,
    is_provisional,
    is_simulated
FROM edition_repeat_scores
WHERE month = coalesce($month::VARCHAR, (SELECT max(month) FROM edition_repeat_scores))
    AND prompt_style = coalesce($prompt_style::VARCHAR, prompt_style)
ORDER BY is_simulated, model, prompt_style, repeat, set_id
