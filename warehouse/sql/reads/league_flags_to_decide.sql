-- Which answers that judges took for memorised has nobody decided on yet?
-- One row per flagged answer of the full run.
-- Parameters: $league_id
SELECT
    flagged.league_question_id,
    flagged.answerer,
    flagged.templates,
    questions.stem,
    questions.reference_answer,
    answers.response
FROM league_memorised_answers AS flagged
INNER JOIN league_questions AS questions
    ON
        questions.league_id = flagged.league_id
        AND questions.league_question_id = flagged.league_question_id
INNER JOIN league_answers AS answers
    ON
        answers.league_id = flagged.league_id
        AND answers.league_question_id = flagged.league_question_id
        AND answers.answerer = flagged.answerer
WHERE flagged.league_id = $league_id AND flagged.decision = 'waiting'
ORDER BY flagged.league_question_id, flagged.answerer
