-- Which judge's stars are published for each run?
-- One row per run that has judgements. First come judges that judged everything there was to judge in the run, among those
-- the one with the highest mean unweighted kappa against people (calibration), then the alphabet.
-- A judge is chosen per run, so that a judge calibrated later does not take the stars from under a run it never judged.
-- is_provisional: no calibration stands behind this judge yet.
WITH judged AS (
    SELECT run_id, judge, count(*) AS judged_count
    FROM judgements
    GROUP BY run_id, judge
),

-- Empty and refused answers count on both sides: they get their 0 stars in each judge's name. A failed call is not judged.
to_be_judged AS (
    SELECT run_id, count(*) AS needed_count
    FROM responses
    WHERE answer_status <> 'error'
    GROUP BY run_id
),

agreement AS (
    SELECT judge, avg(kappa) AS mean_kappa, sum(pair_count) AS rated_count
    FROM calibration
    WHERE weighting = 'none' AND kappa IS NOT NULL
    GROUP BY judge
)

SELECT
    judged.run_id,
    judged.judge,
    agreement.mean_kappa,
    agreement.rated_count,
    judged.judged_count,
    coalesce(to_be_judged.needed_count, 0) AS needed_count,
    agreement.mean_kappa IS NULL AS is_provisional
FROM judged
LEFT JOIN to_be_judged ON to_be_judged.run_id = judged.run_id
LEFT JOIN agreement ON agreement.judge = judged.judge
QUALIFY row_number() OVER (
    PARTITION BY judged.run_id
    ORDER BY
        judged.judged_count >= coalesce(to_be_judged.needed_count, 0) DESC,
        agreement.mean_kappa DESC NULLS LAST,
        judged.judge
) = 1
