-- Which sessions are not on a leaderboard, and why?
-- One row per session of a month's runs that is not complete: still open, with responses that nobody judged, or of a candidate of
-- whose answers more than 0.5% have judgements that nobody could read.
-- Parameters: $month (default null)
-- A null month is every month; naming one reads only that one.
-- Frozen in order of: month, model, prompt_style, repeat, session_id
-- Shown: month, model, prompt_style, repeat, question_count, unanswered_count, unjudged_count, unparsed_count
-- No rows: every session is complete, or none was sat: `proctor exam sessions` lists them.
SELECT
    month, run_id, session_id, model, prompt_style, repeat, question_count, scored_count, unanswered_count, unjudged_count,
    unparsed_count, unparsed_rate, is_simulated
FROM session_scores
WHERE NOT is_complete AND ($month::VARCHAR IS NULL OR month = $month)
ORDER BY month, model, prompt_style, repeat, session_id
