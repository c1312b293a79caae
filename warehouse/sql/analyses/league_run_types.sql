-- What changes when a league is judged without reference answers?
-- One row per league, domain and candidate that has scores of both types of run: both scores and ranks, their differences, and the rank
-- correlation of the two rankings.
-- Parameters: $league_id (default null)
-- Shown: domain, model, full_score, without_score, score_change, full_rank, without_rank, rank_correlation
-- No rows: no league has statistics of both types of run: `proctor league run NAME --without-reference`, then `proctor league report NAME`.
WITH both_types AS (
    SELECT
        f.league_id,
        f.domain,
        f.model,
        f.score AS full_score,
        w.score AS without_score,
        w.score - f.score AS score_change,
        rank() OVER (PARTITION BY f.league_id, f.domain ORDER BY f.score DESC) AS full_rank,
        rank() OVER (PARTITION BY f.league_id, f.domain ORDER BY w.score DESC) AS without_rank,
        f.is_imported,
        f.is_simulated
    FROM league_scores AS f
    JOIN league_scores AS w ON w.league_id = f.league_id AND w.domain = f.domain AND w.model = f.model
    WHERE f.run_type = 'full'
        AND w.run_type = 'without_reference'
        AND f.score IS NOT NULL
        AND w.score IS NOT NULL
        AND f.league_id = coalesce($league_id::VARCHAR, f.league_id)
)

SELECT
    * EXCLUDE (is_imported, is_simulated),
    corr(full_rank, without_rank) OVER (PARTITION BY league_id, domain) AS rank_correlation,
    is_imported,
    is_simulated
FROM both_types
ORDER BY league_id, domain, full_rank, model
