-- Which candidates improved since a month, and is it more than noise?
-- One row per candidate that sat in two months from $since_month on: its first edition there, its latest, and the change of S
-- with its 95% interval (from the intervals of both scores, squared and added: Newcombe 1998); the largest change first. The two
-- editions put different questions, so that the errors of both are in the interval. p_holm corrects for having looked at every
-- candidate (Holm); verdict says in words whether it is more than noise at 5%. together_low and together_high are the ends of an
-- interval that allows for the same: it holds 0 exactly where the verdict is noise.
-- equated_change is the change of the equated score, which allows for harder or easier questions; null where nothing is equated.
-- Parameters: $since_month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- A null month is the first that was published. Repetitions of a month are left out.
-- Shown: model, from_month, to_month, change, together_low, together_high, verdict
WITH sat AS (
    SELECT s.*
    FROM edition_scores AS s
    JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
    WHERE s.prompt_style = $prompt_style
        AND s.discipline = 'all'
        AND s.score IS NOT NULL
        AND NOT e.is_repetition
        AND coalesce($simulated::BOOLEAN OR NOT s.is_simulated, e.is_shown_by_default)
        AND s.month >= coalesce($since_month::VARCHAR, s.month)
),

changes AS (
    SELECT
        model,
        is_simulated,
        any_value(organisation) AS organisation,
        min(month) AS from_month,
        max(month) AS to_month,
        arg_min(score, month) AS from_score,
        arg_max(score, month) AS to_score,
        arg_max(score, month) - arg_min(score, month) AS change,
        sqrt(arg_min(score_se, month) ** 2 + arg_max(score_se, month) ** 2) AS change_se,
        sqrt(
            (arg_max(score, month) - arg_max_null(score_low, month)) ** 2
            + (arg_min_null(score_high, month) - arg_min(score, month)) ** 2
        ) AS reach_low,
        sqrt(
            (arg_max_null(score_high, month) - arg_max(score, month)) ** 2
            + (arg_min(score, month) - arg_min_null(score_low, month)) ** 2
        ) AS reach_high,
        arg_max_null(equated_score, month) - arg_min_null(equated_score, month) AS equated_change,
        count(*) AS month_count
    FROM sat
    GROUP BY model, is_simulated
    HAVING count(*) > 1
),

-- The two-sided p of a normal variable, by formula 7.1.26 of Abramowitz and Stegun (error below 1.5e-7).
scaled AS (
    SELECT *, abs(change) / nullif(change_se, 0) / sqrt(2) AS x
    FROM changes
),

tested AS (
    SELECT
        *,
        list_aggregate([
            0.254829592 * t, -0.284496736 * t ** 2, 1.421413741 * t ** 3, -1.453152027 * t ** 4, 1.061405429 * t ** 5
        ], 'sum') * exp(-x * x) AS p_value
    FROM (SELECT *, 1 / (1 + 0.3275911 * x) AS t FROM scaled)
),

corrected AS (
    SELECT
        *,
        -- The normal deviate of 2.5% over all candidates (formula 26.2.23 of Abramowitz and Stegun, error below 4.5e-4) beside that of one.
        (u - (2.515517 + 0.802853 * u + 0.010328 * u ** 2) / (1 + 1.432788 * u + 0.189269 * u ** 2 + 0.001308 * u ** 3))
            / 1.959963984540054 AS widening,
        CASE
            WHEN p_value IS NOT NULL
                THEN least(1, max(p_value * (test_count - place + 1)) OVER (PARTITION BY is_simulated ORDER BY place))
        END AS p_holm
    FROM (
        SELECT
            *,
            sqrt(-2 * ln(0.025 / greatest(1, count(p_value) OVER (PARTITION BY is_simulated)))) AS u,
            count(p_value) OVER (PARTITION BY is_simulated) AS test_count,
            row_number() OVER (PARTITION BY is_simulated ORDER BY p_value NULLS LAST, model) AS place
        FROM tested
    )
)

SELECT
    model,
    organisation,
    from_month,
    to_month,
    from_score,
    to_score,
    change,
    change - reach_low AS change_low,
    change + reach_high AS change_high,
    p_value,
    p_holm,
    CASE
        WHEN p_holm <= 0.05 AND change > 0 THEN greatest(0, change - widening * reach_low)
        WHEN p_holm <= 0.05 THEN change - widening * reach_low
        WHEN p_holm > 0.05 THEN least(0, change - widening * reach_low)
    END AS together_low,
    CASE
        WHEN p_holm <= 0.05 AND change < 0 THEN least(0, change + widening * reach_high)
        WHEN p_holm <= 0.05 THEN change + widening * reach_high
        WHEN p_holm > 0.05 THEN greatest(0, change + widening * reach_high)
    END AS together_high,
    CASE
        WHEN p_holm IS NULL THEN 'no error is known'
        WHEN p_holm > 0.05 THEN 'no more than noise'
        WHEN change > 0 THEN 'improved'
        ELSE 'got worse'
    END AS verdict,
    equated_change,
    month_count,
    is_simulated
FROM corrected
ORDER BY is_simulated, change DESC, model
