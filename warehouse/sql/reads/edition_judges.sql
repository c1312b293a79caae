-- Whose stars count in a run, and who comes next where a judge's output could not be read?
-- One row per judge of the run, first the one whose stars are published: judges that judged everything there was to judge,
-- among those the one with the highest mean unweighted kappa against people (calibration of that version of its prompt),
-- then the alphabet. People who gave stars where no judge could come last.
-- Parameters: $run_id, $month, $least_ratings
WITH agreement AS (
    SELECT
        judge,
        split_part(prompt_version, '/', 1) AS prompt_wording,
        avg(kappa) AS mean_kappa,
        sum(pair_count)::BIGINT AS rated_count
    FROM calibration
    WHERE weighting = 'none' AND kappa IS NOT NULL
    GROUP BY judge, prompt_wording
)

SELECT
    r.judge,
    r.prompt_wording,
    r.judged_count,
    r.needed_count,
    r.is_judged_in_full,
    agreement.mean_kappa,
    agreement.rated_count
FROM run_judges AS r
LEFT JOIN agreement ON agreement.judge = r.judge AND agreement.prompt_wording = r.prompt_wording
WHERE r.run_id = $run_id AND r.month = $month
ORDER BY
    starts_with(r.judge, 'person:'),
    r.is_judged_in_full DESC,
    coalesce(agreement.rated_count >= $least_ratings, false) DESC,
    agreement.mean_kappa DESC NULLS LAST,
    r.judge
