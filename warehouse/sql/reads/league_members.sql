-- Who takes part in a league, and of which family is it?
-- One row per candidate.
-- Parameters: $league_id
SELECT model, family, organisation, joined, is_simulated
FROM league_candidates
WHERE league_id = $league_id
ORDER BY model
