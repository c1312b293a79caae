-- Where do the candidates of a league stand in the exam?
-- One row per league, domain and candidate of the league: its rank and score in both, null in the exam for who did not sit it. The
-- exam's place is that of `standings` among all, simulated candidates for a simulated league.
-- Parameters: $league_id (default null)
-- Shown: domain, model, league_rank, league_score, exam_rank, exam_score, sat_month
-- Marks of: every month
-- No rows: no statistics of a league were computed: `proctor league report NAME` does it once the league is played.
SELECT
    s.league_id,
    s.domain,
    s.model,
    s.rank AS league_rank,
    s.score AS league_score,
    s.answer_low AS league_low,
    s.answer_high AS league_high,
    e.rank AS exam_rank,
    e.standing_score AS exam_score,
    e.standing_low AS exam_low,
    e.standing_high AS exam_high,
    e.sat_month,
    s.is_imported,
    s.is_simulated
FROM league_scores AS s
LEFT JOIN current_standings AS e ON e.model = s.model AND e.is_simulated = s.is_simulated
WHERE s.run_type = 'full' AND s.league_id = coalesce($league_id::VARCHAR, s.league_id)
ORDER BY s.league_id, s.domain, s.rank NULLS LAST, s.model
