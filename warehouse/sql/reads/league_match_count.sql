-- How many matches of an entrant have landed in a domain?
-- One row per answer to the question: always one.
-- Parameters: $league_id, $domain, $entrant
SELECT count(*) AS match_count
FROM league_matches
WHERE league_id = $league_id AND domain = $domain AND entrant = $entrant
