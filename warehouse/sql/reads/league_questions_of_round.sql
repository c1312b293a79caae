-- Which questions were set in a round of a league, in all domains and runs?
-- One row per domain and run.
-- Parameters: $league_id, $round
SELECT
    domain,
    league_run,
    league_question_id,
    asker,
    topic,
    stem,
    reference_answer,
    principle,
    scoring_standard
FROM league_questions
WHERE league_id = $league_id AND round = $round
ORDER BY domain, league_run
