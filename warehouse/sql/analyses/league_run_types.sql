-- What changes when a league is judged without reference answers?
-- One row per league, domain and candidate that has scores of both types of run: both scores and ranks, their differences, and the rank
-- correlation of the two rankings (Spearman's; equal scores share their mean rank, null for fewer than three candidates,
-- and where one list is all equal).
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
        -- What differs in the last bits only is equal.
        rank() OVER (PARTITION BY f.league_id, f.domain ORDER BY round(f.score, 9) DESC) AS full_rank,
        rank() OVER (PARTITION BY f.league_id, f.domain ORDER BY round(w.score, 9) DESC) AS without_rank,
        f.is_imported,
        f.is_simulated
    FROM league_scores AS f
    JOIN league_scores AS w ON w.league_id = f.league_id AND w.domain = f.domain AND w.model = f.model
    WHERE f.run_type = 'full'
        AND w.run_type = 'without_reference'
        AND f.score IS NOT NULL
        AND w.score IS NOT NULL
        AND f.league_id = coalesce($league_id::VARCHAR, f.league_id)
),

shared AS (
    SELECT
        *,
        full_rank + count(*) OVER (PARTITION BY league_id, domain, full_rank) / 2 AS full_mean_rank,
        without_rank + count(*) OVER (PARTITION BY league_id, domain, without_rank) / 2 AS without_mean_rank
    FROM both_types
)

SELECT
    * EXCLUDE (full_mean_rank, without_mean_rank, is_imported, is_simulated),
    CASE
        WHEN count(*) OVER domains >= 3 THEN nullif(round(corr(full_mean_rank, without_mean_rank ORDER BY full_mean_rank, without_mean_rank) OVER domains, 9), 'nan'::DOUBLE)
    END AS rank_correlation,
    is_imported,
    is_simulated
FROM shared
WINDOW domains AS (PARTITION BY league_id, domain)
ORDER BY league_id, domain, full_rank, model
