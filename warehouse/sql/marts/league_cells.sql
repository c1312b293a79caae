-- How does each judge score each answerer in a league?
-- One row per league, domain, type of run, judge and answerer: the mean score over all runs and rounds, with both families.
-- Scores that a file gives as means over judges are left out. Nobody judges itself: the diagonal has no row.
SELECT
    m.league_id,
    m.domain,
    m.run_type,
    m.judge,
    j.family AS judge_family,
    m.answerer,
    a.family AS answerer_family,
    coalesce(j.family = a.family, FALSE) AS is_in_family,
    avg(m.score ORDER BY m.score) AS score,
    count(m.score) AS score_count,
    count(*) - count(m.score) AS void_count,
    any_value(m.most_points) AS most_points,
    any_value(m.is_imported) AS is_imported,
    any_value(m.is_simulated) AS is_simulated
FROM league_marks AS m
LEFT JOIN league_candidates AS j ON j.league_id = m.league_id AND j.model = m.judge
LEFT JOIN league_candidates AS a ON a.league_id = m.league_id AND a.model = m.answerer
WHERE m.judge IS NOT NULL
GROUP BY m.league_id, m.domain, m.run_type, m.judge, j.family, m.answerer, a.family
