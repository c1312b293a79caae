-- Who judged each run, and by which version of the prompt does each judge count there?
-- One row per run and judge. prompt_wording is prompt_version without its language ('1' of '1/zh'). A judge counts by the
-- version with which the run was first judged in full (the earliest last judgement); where it never was, by the one with
-- most judgements, then by the earliest. A later version of the prompt therefore changes no run that was judged before.
-- Judgements asked for again, because nothing could be read, are left out; who only gave such (a person) is no judge of the run.
WITH wordings AS (
    SELECT
        month,
        run_id,
        judge,
        split_part(prompt_version, '/', 1) AS prompt_wording,
        count(*) AS judged_count,
        max(judged_at) AS last_judged_at
    FROM judgements
    WHERE NOT starts_with(occasion, 'again-')
    GROUP BY month, run_id, judge, prompt_wording
),

-- Empty and refused answers count on both sides: they get their 0 stars in each judge's name. A failed call is not judged.
to_be_judged AS (
    SELECT month, run_id, count(*) AS needed_count
    FROM responses
    WHERE answer_status <> 'error'
    GROUP BY month, run_id
)

SELECT
    wordings.month,
    wordings.run_id,
    wordings.judge,
    wordings.prompt_wording,
    wordings.judged_count,
    coalesce(to_be_judged.needed_count, 0) AS needed_count,
    wordings.judged_count >= coalesce(to_be_judged.needed_count, 0) AS is_judged_in_full,
    wordings.last_judged_at
FROM wordings
LEFT JOIN to_be_judged ON to_be_judged.month = wordings.month AND to_be_judged.run_id = wordings.run_id
QUALIFY row_number() OVER (
    PARTITION BY wordings.month, wordings.run_id, wordings.judge
    ORDER BY
        is_judged_in_full DESC,
        if(is_judged_in_full, 0, wordings.judged_count) DESC,
        wordings.last_judged_at,
        wordings.prompt_wording
) = 1
