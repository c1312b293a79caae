-- What do people say of each question of a league?
-- One row per question with a text. validity: accepted, refused (as many people as the league asks for judged it, the majority
-- decides, a tie refuses), waiting (some are still to judge it), or unasked (the league asks for none, and none judged it).
WITH votes AS (
    SELECT
        league_id,
        league_question_id,
        count(*) AS person_count,
        count(*) FILTER (WHERE is_valid) AS valid_count
    FROM league_validations
    GROUP BY league_id, league_question_id
)

SELECT
    questions.league_id,
    questions.domain,
    questions.league_run,
    questions.round,
    questions.league_question_id,
    questions.asker,
    coalesce(votes.person_count, 0) AS person_count,
    coalesce(votes.valid_count, 0) AS valid_count,
    leagues.validator_count,
    CASE
        WHEN coalesce(votes.person_count, 0) < coalesce(leagues.validator_count, 0) THEN 'waiting'
        WHEN votes.person_count IS NULL THEN 'unasked'
        WHEN votes.valid_count * 2 > votes.person_count THEN 'accepted'
        ELSE 'refused'
    END AS validity
FROM league_questions AS questions
INNER JOIN leagues ON leagues.league_id = questions.league_id
LEFT JOIN votes
    ON votes.league_id = questions.league_id AND votes.league_question_id = questions.league_question_id
WHERE questions.stem IS NOT NULL
