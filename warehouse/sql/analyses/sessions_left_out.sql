-- Which sessions are not on a leaderboard, and why?
-- One row per session of a run that is not complete: still open, or with responses that nobody judged.
SELECT
    month, run_id, session_id, model, prompt_style, repeat, question_count, scored_count, unanswered_count, unjudged_count,
    is_simulated
FROM session_scores
WHERE NOT is_complete
ORDER BY month, model, prompt_style, repeat
