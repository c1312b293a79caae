-- Which questions of a league is a person still to judge?
-- One row per question that fewer people than the league asks for have judged, this one not among them.
-- Parameters: $league_id, $person
SELECT
    questions.league_question_id,
    questions.domain,
    questions.stem,
    questions.reference_answer,
    questions.principle,
    questions.scoring_standard
FROM league_questions AS questions
INNER JOIN league_question_votes AS votes
    ON
        votes.league_id = questions.league_id
        AND votes.league_question_id = questions.league_question_id
WHERE
    questions.league_id = $league_id
    AND votes.validity = 'waiting'
    AND questions.league_question_id NOT IN (
        SELECT league_question_id
        FROM league_validations
        WHERE league_id = $league_id AND person = $person
    )
ORDER BY questions.league_question_id
