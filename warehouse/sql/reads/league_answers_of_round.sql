-- What was answered in a round of a league, in all domains and runs?
-- One row per question and answerer.
-- Parameters: $league_id, $round
SELECT
    league_question_id,
    answerer,
    response,
    execution
FROM league_answers
WHERE league_id = $league_id AND round = $round
ORDER BY league_question_id, answerer
