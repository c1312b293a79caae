-- How many questions of a league have people refused?
-- One row per league.
-- Parameters: $league_id
SELECT count(*) AS refused_count
FROM league_question_votes
WHERE league_id = $league_id AND validity = 'refused'
