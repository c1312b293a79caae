-- What did each candidate score in each month under each prompt style?
-- One row per month, candidate, prompt style and is_simulated, from complete sessions.
--   score            S: mean of the repeats; score_sd their sample standard deviation (null for one repeat)
--   relative_score   R: stars over the reference's stars x 100, on the pair_count question-style pairs judged for both
--   style_mean, style_variance   over the styles that the candidate sat in the month; population variance
--   rank             by score within month, style and is_simulated; equal scores share a rank
-- Means are rounded to nine decimals: DuckDB adds up in any order, and the same lake is to give the same table.
-- A candidate that sat in two runs of a month is taken from the later one. is_shown_by_default is false for simulated
-- rows as soon as there is one that is not.
WITH by_run AS (
    SELECT
        month,
        run_id,
        planned_at,
        bank_version,
        reference_model,
        judge,
        model,
        organisation,
        prompt_style,
        is_reference,
        round(avg(score), 9) AS score,
        round(stddev_samp(score), 9) AS score_sd,
        min(score) AS lowest_score,
        max(score) AS highest_score,
        CASE
            WHEN is_reference THEN 100.0
            ELSE sum(pair_stars) / nullif(sum(reference_pair_stars), 0) * 100
        END AS relative_score,
        sum(pair_count)::BIGINT AS pair_count,
        count(*) AS repeat_count,
        sum(question_count)::BIGINT AS question_count,
        sum(scored_count)::BIGINT AS scored_count,
        sum(unparsed_count)::BIGINT AS unparsed_count,
        is_provisional,
        is_simulated
    FROM edition_repeat_scores
    WHERE is_complete AND score IS NOT NULL
    GROUP BY
        month, run_id, planned_at, bank_version, reference_model, judge, model, organisation, prompt_style,
        is_reference, is_provisional, is_simulated
    QUALIFY row_number() OVER (
        PARTITION BY month, model, prompt_style, is_simulated
        ORDER BY planned_at DESC, run_id DESC
    ) = 1
),

disciplines AS (
    SELECT
        month,
        model,
        prompt_style,
        is_simulated,
        max(discipline_score) FILTER (discipline = 'Engineering') AS engineering,
        max(discipline_score) FILTER (discipline = 'Economics') AS economics,
        max(discipline_score) FILTER (discipline = 'Education') AS education,
        max(discipline_score) FILTER (discipline = 'Law') AS law,
        max(discipline_score) FILTER (discipline = 'Literature') AS literature,
        max(discipline_score) FILTER (discipline = 'Management') AS management,
        max(discipline_score) FILTER (discipline = 'Science') AS science,
        max(discipline_score) FILTER (discipline = 'History') AS history,
        max(discipline_score) FILTER (discipline = 'Medicine') AS medicine,
        max(discipline_score) FILTER (discipline = 'Military Science') AS military_science
    FROM discipline_scores
    GROUP BY month, model, prompt_style, is_simulated
),

-- As last registered, so that a corrected release date or family holds for every month.
descriptions AS (
    SELECT models.*
    FROM models
    JOIN runs ON runs.run_id = models.run_id
    QUALIFY row_number() OVER (
        PARTITION BY models.model, models.is_simulated
        ORDER BY runs.planned_at DESC, models.run_id DESC
    ) = 1
)

SELECT
    s.month,
    s.prompt_style,
    rank() OVER (PARTITION BY s.month, s.prompt_style, s.is_simulated ORDER BY s.score DESC) AS rank,
    s.model,
    s.organisation,
    m.family,
    m.mode,
    m.base_model,
    m.is_open,
    m.release_date,
    s.score,
    s.score_sd,
    s.lowest_score,
    s.highest_score,
    s.relative_score,
    s.pair_count,
    s.reference_model,
    s.is_reference,
    d.engineering,
    d.economics,
    d.education,
    d.law,
    d.literature,
    d.management,
    d.science,
    d.history,
    d.medicine,
    d.military_science,
    round(avg(s.score) OVER styles, 9) AS style_mean,
    round(var_pop(s.score) OVER styles, 9) AS style_variance,
    count(*) OVER styles AS style_count,
    s.repeat_count,
    s.question_count,
    s.scored_count,
    s.unparsed_count,
    s.judge,
    s.run_id,
    s.bank_version,
    s.is_provisional,
    s.is_simulated,
    NOT s.is_simulated OR bool_and(s.is_simulated) OVER () AS is_shown_by_default
FROM by_run AS s
LEFT JOIN disciplines AS d USING (month, model, prompt_style, is_simulated)
LEFT JOIN descriptions AS m ON m.model = s.model AND m.is_simulated = s.is_simulated
WINDOW styles AS (PARTITION BY s.month, s.model, s.is_simulated)
