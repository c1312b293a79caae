-- Which sessions of a run have landed, and what did those that are published score?
-- One row per session, by candidate, prompt style and repeat. score is S of the session alone, in the run's last edition; null where
-- nothing is published of it.
-- Parameters: $run_id, $month
SELECT
    s.session_id,
    s.model,
    s.prompt_style,
    s.repeat,
    s.status,
    s.answered_count,
    s.question_count,
    es.score
FROM sessions AS s
LEFT JOIN current_editions AS e ON e.run_id = s.run_id AND e.month = s.month
LEFT JOIN edition_sessions AS es ON es.month = $month AND es.edition_id = e.edition_id AND es.session_id = s.session_id
WHERE s.run_id = $run_id
ORDER BY s.model, s.prompt_style, s.repeat, s.session_id
