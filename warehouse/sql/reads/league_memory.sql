-- Which questions does a league remember: its own, and those of finished rounds of others before it was claimed?
-- One row per question with a text; round is null for those of other leagues.
-- Parameters: $league_id, $before
SELECT
    if(questions.league_id = $league_id, questions.round, NULL) AS round,
    questions.league_question_id,
    questions.stem
FROM league_questions AS questions
INNER JOIN league_rounds AS rounds
    ON
        rounds.league_id = questions.league_id
        AND rounds.domain = questions.domain
        AND rounds.league_run = questions.league_run
        AND rounds.round = questions.round
        AND rounds.run_type = 'full'
WHERE
    questions.stem IS NOT NULL
    AND (questions.league_id = $league_id OR rounds.finished_at < $before::TIMESTAMPTZ)
ORDER BY questions.league_id, questions.round, questions.league_question_id
