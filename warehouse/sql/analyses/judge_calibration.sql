-- How far does each judge agree with people?
-- One row per judge, version of its prompt, occasion, round and weighting: mean of Cohen's kappa over the
-- candidates (the table of kappas itself is calibration). Candidates whose kappa is undefined are left out and counted.
-- Parameters: $weighting (default null)
-- A null weighting is `none` (unweighted).
-- No rows: no judge was compared with people: `proctor calibrate draw RUN --raters …`, stars by people, then `proctor calibrate report`.
SELECT
    judge,
    prompt_version,
    occasion,
    round,
    weighting,
    avg(kappa ORDER BY kappa) AS mean_kappa,
    min(kappa) AS lowest_kappa,
    max(kappa) AS highest_kappa,
    count(kappa) AS candidate_count,
    count(*) - count(kappa) AS undefined_count,
    sum(pair_count)::BIGINT AS pair_count,
    coalesce(
        (SELECT bool_and(p.is_simulated) FROM calibration_pairs AS p WHERE p.occasion = c.occasion AND p.judge = c.judge),
        false
    ) AS is_simulated
FROM calibration AS c
WHERE weighting = coalesce($weighting::VARCHAR, 'none')
GROUP BY judge, prompt_version, occasion, round, weighting
ORDER BY occasion, round, mean_kappa DESC NULLS LAST, judge, prompt_version
