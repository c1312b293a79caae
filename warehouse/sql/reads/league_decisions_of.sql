-- What has a person decided in a league so far?
-- One row per decision; answerer is null for a decision on a question, and filled for one on a flagged answer.
-- Parameters: $league_id, $person
SELECT
    league_question_id,
    NULL AS answerer,
    is_valid AS is_agreed,
    reason,
    decided_at
FROM league_validations
WHERE league_id = $league_id AND person = $person
UNION ALL
SELECT
    league_question_id,
    answerer,
    is_memorised AS is_agreed,
    reason,
    decided_at
FROM league_flag_decisions
WHERE league_id = $league_id AND person = $person
ORDER BY league_question_id, answerer
