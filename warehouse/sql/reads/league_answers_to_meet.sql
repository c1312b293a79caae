-- Which answers of a domain can an entrant meet, and to which questions?
-- One row per readable answer; of questions that people refused, none.
-- Parameters: $league_id, $domain
SELECT
    questions.league_run,
    questions.round,
    questions.league_question_id,
    questions.stem,
    questions.reference_answer,
    questions.principle,
    questions.scoring_standard,
    answers.answerer,
    answers.response,
    answers.execution
FROM league_questions AS questions
INNER JOIN league_answers AS answers
    ON
        answers.league_id = questions.league_id
        AND answers.league_question_id = questions.league_question_id
LEFT JOIN league_question_votes AS votes
    ON
        votes.league_id = questions.league_id
        AND votes.league_question_id = questions.league_question_id
WHERE
    questions.league_id = $league_id
    AND questions.domain = $domain
    AND questions.stem IS NOT NULL
    AND answers.response IS NOT NULL
    AND votes.validity <> 'refused'
ORDER BY questions.league_run, questions.round, answers.answerer
