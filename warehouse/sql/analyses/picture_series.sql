-- How do the candidates stand with and without the questions that have pictures?
-- One row per candidate, prompt style and way of counting (series) of one month, over all disciplines or in each; ranks and R are within a series.
-- text_only counts the questions without pictures, of everybody; pictures all questions, of who saw the pictures; alt_text all questions, of
-- who was told in words what they show: two series that are never compared. A candidate that did both has text_only alone. on_board is the
-- series that the leaderboard rests on.
-- Parameters: $month (default null), $simulated (default null), $discipline (default all)
-- Shown: series, rank, model, score, score_low, score_high, relative_score, picture_count, on_board
-- Marks of: edition_id
-- No rows: no question with a picture was asked in the month that is asked for: `proctor settings set picture_share 0.1` lets a run draw them.
SELECT
    s.month,
    s.series,
    s.prompt_style,
    s.discipline,
    s.rank,
    s.rank_low,
    s.rank_high,
    s.model,
    s.organisation,
    s.score,
    s.score_low,
    s.score_high,
    s.relative_score,
    s.relative_low,
    s.relative_high,
    s.question_count,
    s.picture_count,
    s.series = e.picture_scope AS on_board,
    s.edition_id,
    s.is_simulated
FROM edition_series AS s
JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
WHERE coalesce($simulated::BOOLEAN OR NOT s.is_simulated, e.is_shown_by_default)
    AND s.discipline = $discipline
    AND s.month = coalesce($month::VARCHAR, (
        SELECT max(month) FROM current_editions
        WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
    ))
ORDER BY s.edition_id, s.prompt_style, s.series <> 'text_only', s.series <> 'pictures', s.rank NULLS LAST, s.model
