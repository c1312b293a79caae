-- How does each judge of a league score each answerer?
-- One row per league, domain, type of run, judge and answerer, families side by side: the mean score, and whether both are of
-- one family. Nobody judges itself.
-- Parameters: $league_id (default null), $domain (default null), $run_type (default full)
-- Shown: domain, judge, answerer, is_in_family, score, score_count, void_count
-- No rows: no league was played: `proctor league run NAME --candidates … --domain …` plays one.
SELECT *
FROM league_cells
WHERE league_id = coalesce($league_id::VARCHAR, league_id)
    AND domain = coalesce($domain::VARCHAR, domain)
    AND run_type = $run_type
ORDER BY league_id, domain, judge_family NULLS LAST, judge, answerer_family NULLS LAST, answerer
