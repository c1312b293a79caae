-- Which judge's stars are published for each run, and by which version of its prompt?
-- One row per run that has judgements. First come judges that judged everything there was to judge in the run, among those
-- the one with the highest mean unweighted kappa against people (calibration of that version; on at least judge_ratings_gate
-- responses before one on fewer), then the alphabet.
-- A judge is chosen per run, so that a judge calibrated later does not take the stars from under a run it never judged;
-- of several versions of its prompt counts the one with which the run was first judged in full (run_judges).
-- A run that was published keeps the judge of its last edition.
-- is_provisional: no calibration stands behind this judge and version yet.
WITH agreement AS (
    SELECT
        judge,
        split_part(prompt_version, '/', 1) AS prompt_wording,
        -- As a publication takes it (edition_judges): the last bits of a sum choose no judge.
        round(avg(kappa ORDER BY kappa), 9) AS mean_kappa,
        sum(pair_count) AS rated_count,
        sum(pair_count) >= coalesce(max(least_ratings), 0) AS is_settled
    FROM calibration
    WHERE weighting = 'none' AND kappa IS NOT NULL
    GROUP BY judge, prompt_wording
)

SELECT
    r.month,
    r.run_id,
    r.judge,
    r.prompt_wording,
    agreement.mean_kappa,
    agreement.rated_count,
    r.judged_count,
    r.needed_count,
    agreement.mean_kappa IS NULL AS is_provisional
FROM run_judges AS r
LEFT JOIN current_editions AS e ON e.month = r.month AND e.run_id = r.run_id
LEFT JOIN agreement ON agreement.judge = r.judge AND agreement.prompt_wording = r.prompt_wording
QUALIFY row_number() OVER (
    PARTITION BY r.month, r.run_id
    ORDER BY
        coalesce(r.judge = e.judge AND r.prompt_wording = e.judge_prompt_version, false) DESC,
        r.is_judged_in_full DESC, coalesce(agreement.is_settled, false) DESC, agreement.mean_kappa DESC NULLS LAST, r.judge
) = 1
