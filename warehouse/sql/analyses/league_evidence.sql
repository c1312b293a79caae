-- Which texts stand behind a candidate's place in a league?
-- One row per answer of the candidate and judge of it, the lowest scores first: question, reference answer, answer, and what the
-- judge wrote, each as it came. A score that could not be read has null and its raw text. Questions of a league are shown to
-- whoever may read the lake.
-- Parameters: $league_id (default null), $model (default null), $domain (default null), $run_type (default full)
-- Shown: model, domain, league_run, round, asker, judge, score, rank, reason
-- No rows: no league was played: `proctor league run NAME --candidates … --domain …` plays one.
SELECT
    e.league_id,
    e.domain,
    e.run_type,
    e.league_run,
    e.round,
    r.asker,
    e.answerer AS model,
    e.judge,
    e.score,
    e.rank,
    e.parse_status,
    e.label,
    e.reason,
    q.stem,
    q.reference_answer,
    a.response,
    q.raw AS question_raw,
    a.raw AS answer_raw,
    e.raw AS evaluation_raw,
    q.prompt_version AS question_prompt,
    a.prompt_version AS answer_prompt,
    e.prompt_version AS evaluation_prompt,
    e.league_question_id,
    leagues.is_simulated
FROM league_evaluations AS e
JOIN leagues ON leagues.league_id = e.league_id
JOIN league_rounds AS r ON
    r.league_id = e.league_id
    AND r.domain = e.domain
    AND r.run_type = e.run_type
    AND r.league_run = e.league_run
    AND r.round = e.round
LEFT JOIN league_questions AS q ON
    q.league_id = e.league_id
    AND q.league_question_id = e.league_question_id
    AND q.domain = e.domain
    AND q.league_run = e.league_run
    AND q.round = e.round
LEFT JOIN league_answers AS a ON
    a.league_id = e.league_id
    AND a.league_question_id = e.league_question_id
    AND a.domain = e.domain
    AND a.league_run = e.league_run
    AND a.round = e.round
    AND a.answerer = e.answerer
WHERE e.league_id = coalesce($league_id::VARCHAR, e.league_id)
    AND e.answerer = coalesce($model::VARCHAR, e.answerer)
    AND e.domain = coalesce($domain::VARCHAR, e.domain)
    AND e.run_type = $run_type
ORDER BY e.league_id, e.answerer, e.domain, e.score NULLS FIRST, e.league_run, e.round, e.judge
