-- Whose stars count in a run, and who else gave any where a judge's output could not be read?
-- One row per judge and version of its prompt, first the one whose stars are published: judges that judged everything there was
-- to judge, among those the one with the highest mean unweighted kappa against people (calibration of that version of its
-- prompt; on at least $least_ratings responses before one on fewer), then the alphabet. Who only stood in comes last.
-- Parameters: $run_id, $month, $least_ratings
WITH agreement AS (
    SELECT
        judge,
        split_part(prompt_version, '/', 1) AS prompt_wording,
        round(avg(kappa ORDER BY kappa), 9) AS mean_kappa,
        -- The lower end of the mean's interval, from those of kappas on different responses (Zou and Donner 2008); where one is not
        -- known, nothing is.
        round(
            avg(kappa ORDER BY kappa)
            - sqrt(sum(power(kappa - coalesce(kappa_low, -1), 2) ORDER BY power(kappa - coalesce(kappa_low, -1), 2))) / count(*),
            9
        ) AS mean_kappa_low,
        sum(pair_count)::BIGINT AS rated_count
    FROM calibration
    WHERE weighting = 'none' AND kappa IS NOT NULL
    GROUP BY judge, prompt_wording
),

stand_ins AS (
    SELECT DISTINCT judge, split_part(prompt_version, '/', 1) AS prompt_wording
    FROM judgements
    WHERE run_id = $run_id AND month = $month AND starts_with(occasion, 'again-')
)

SELECT
    coalesce(r.judge, s.judge) AS judge,
    coalesce(r.prompt_wording, s.prompt_wording) AS prompt_wording,
    coalesce(r.is_judged_in_full, false) AS is_judged_in_full,
    agreement.mean_kappa,
    agreement.mean_kappa_low,
    agreement.rated_count
FROM (SELECT * FROM run_judges WHERE run_id = $run_id AND month = $month) AS r
FULL JOIN stand_ins AS s ON s.judge = r.judge AND s.prompt_wording = r.prompt_wording
LEFT JOIN agreement
    ON agreement.judge = coalesce(r.judge, s.judge)
    AND agreement.prompt_wording = coalesce(r.prompt_wording, s.prompt_wording)
ORDER BY
    starts_with(coalesce(r.judge, s.judge), 'person:'),
    r.judge IS NULL,
    coalesce(r.is_judged_in_full, false) DESC,
    coalesce(agreement.rated_count >= $least_ratings, false) DESC,
    agreement.mean_kappa DESC NULLS LAST,
    coalesce(r.judge, s.judge)
