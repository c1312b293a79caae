-- Which of two candidates is better, by how much, since when, on which evidence, and what would decide it?
-- One row per pair: its difference of S (first less second) in the last month in which both stood, with the interval that holds for
-- all pairs of that month at once, and whether it tells them apart. since_month: the first of the months in a row, up to that one, that told
-- them apart in the same direction; null where the last does not. better_count, worse_count and alike_count: in how many months the
-- first was better, was worse, or was not told apart. equated_difference compares their equated scores, corrected_difference S as
-- people would have judged it, both with 95% intervals (errors of both squared and added; they stand beside, and decide nothing).
-- pooled_difference: the mean difference of the last $month_count of those months, each weighed by its precision, with an interval as
-- wide as those of one month are that hold for all pairs at once; where months rest on the same answers of a reference, it is no narrower.
-- needed_count: how many more questions each would have to answer until a difference as large as this one is told apart in 80% of
-- months; needed_usd: what those would cost for both, answers and judge, at the prices of that month; null where they are told
-- apart, where nothing separates them, or where a price is not known. A null name means every candidate.
-- Parameters: $model_a (default null), $model_b (default null), $prompt_style (default zero_shot), $month_count (default 12), $simulated (default null)
-- Repetitions of a month are left out. pair_history has the months.
-- Marks of: edition_id
-- No rows: no edition has two candidates of that name, or of these names, under the prompt style; `proctor sql standings` names who stood, `proctor publish` publishes what was judged.
-- Shown: model_a, model_b, month, difference, together_low, together_high, verdict, since_month, needed_count
WITH pairs AS MATERIALIZED (
    -- Read apart: a join would be tried on every row of every discipline.
    SELECT
        edition_id,
        month,
        prompt_style,
        model_a,
        model_b,
        difference,
        difference_se,
        together_low,
        together_high,
        p_together,
        p_holm,
        is_distinguishable,
        is_paired,
        pair_count,
        is_simulated
    FROM edition_pairs
    WHERE prompt_style = $prompt_style
        AND discipline = 'all'
        AND coalesce($model_a::VARCHAR IN (model_a, model_b), true)
        AND coalesce($model_b::VARCHAR IN (model_a, model_b), true)
),

chosen AS (
    SELECT
        p.* EXCLUDE (is_distinguishable),
        e.overridden_gates,
        e.is_provisional,
        e.judge,
        CASE
            WHEN p.is_distinguishable AND p.difference > 0 THEN 1
            WHEN p.is_distinguishable AND p.difference < 0 THEN -1
            WHEN p.is_distinguishable IS NOT NULL THEN 0
        END AS side
    FROM pairs AS p
    JOIN current_editions AS e ON e.edition_id = p.edition_id AND e.month = p.month
    WHERE NOT e.is_repetition
        AND coalesce($simulated::BOOLEAN OR NOT p.is_simulated, e.is_shown_by_default)
),

months AS (
    SELECT
        model_a,
        model_b,
        is_simulated,
        count(side) AS month_count,
        count(*) FILTER (side = 1) AS better_count,
        count(*) FILTER (side = -1) AS worse_count,
        count(*) FILTER (side = 0) AS alike_count,
        arg_max_null(side, month) AS last_side,
        max(month) AS month,
        coalesce(max(month) FILTER (side IS DISTINCT FROM 1), '') AS not_better_month,
        coalesce(max(month) FILTER (side IS DISTINCT FROM -1), '') AS not_worse_month
    FROM chosen
    GROUP BY model_a, model_b, is_simulated
),

streaks AS (
    SELECT
        c.model_a,
        c.model_b,
        c.is_simulated,
        min(c.month) AS since_month,
        count(*) AS since_count
    FROM chosen AS c
    JOIN months AS m USING (model_a, model_b, is_simulated)
    WHERE c.month > CASE m.last_side WHEN 1 THEN m.not_better_month WHEN -1 THEN m.not_worse_month END
    GROUP BY ALL
),

last_months AS MATERIALIZED (
    SELECT *
    FROM chosen
    WHERE difference_se > 0 AND together_low IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY model_a, model_b, is_simulated ORDER BY month DESC) <= $month_count
),

-- What a reference answered once stands in several months, whose errors then are not independent.
answered_once AS (
    SELECT DISTINCT model_a, model_b, is_simulated
    FROM (
        SELECT l.model_a, l.model_b, l.is_simulated
        FROM last_months AS l
        JOIN edition_sessions AS s ON s.edition_id = l.edition_id AND s.month = l.month AND s.model IN (l.model_a, l.model_b)
        WHERE s.session_id IN (
            SELECT session_id FROM edition_sessions WHERE is_borrowed AND is_complete AND prompt_style = $prompt_style
        )
        GROUP BY l.model_a, l.model_b, l.is_simulated, s.session_id
        HAVING count(*) > 1
    )
),

pooled AS (
    SELECT
        l.model_a,
        l.model_b,
        l.is_simulated,
        count(*) AS pooled_count,
        min(l.month) AS pooled_from,
        sum(l.difference / l.difference_se ** 2 ORDER BY l.month) / sum(1 / l.difference_se ** 2 ORDER BY l.month) AS pooled_difference,
        avg(greatest(l.together_high - l.difference, l.difference - l.together_low) / l.difference_se ORDER BY l.month) * if(
            any_value(a.model_a) IS NULL,
            1 / sqrt(sum(1 / l.difference_se ** 2 ORDER BY l.month)),
            sum(1 / l.difference_se ORDER BY l.month) / sum(1 / l.difference_se ** 2 ORDER BY l.month)
        ) AS pooled_reach
    FROM last_months AS l
    LEFT JOIN answered_once AS a ON a.model_a = l.model_a AND a.model_b = l.model_b AND a.is_simulated = l.is_simulated
    GROUP BY l.model_a, l.model_b, l.is_simulated
    HAVING count(*) > 1
),

latest AS MATERIALIZED (
    SELECT c.*
    FROM chosen AS c
    JOIN months AS m USING (model_a, model_b, is_simulated, month)
),

people AS (
    SELECT *
    FROM corrected_scores
    WHERE prompt_style = $prompt_style AND estimator = 'prediction_powered'
    QUALIFY row_number() OVER (PARTITION BY edition_id, model, is_simulated ORDER BY corrected_at DESC) = 1
),

prices AS (
    SELECT month, model, purpose, sum(priced_usd::DECIMAL(38, 18))::DOUBLE / nullif(sum(call_count - unpriced_count), 0) AS usd
    FROM monthly_costs
    WHERE month IN (SELECT month FROM latest) AND purpose IN ('exam', 'judge')
    GROUP BY month, model, purpose
),

scores AS MATERIALIZED (
    SELECT s.*
    FROM edition_scores AS s
    JOIN (SELECT DISTINCT edition_id, month, prompt_style FROM latest) USING (edition_id, month, prompt_style)
    WHERE s.discipline = 'all'
),

beside AS (
    SELECT
        l.*,
        a.score AS score_a,
        b.score AS score_b,
        a.equated_score - b.equated_score AS equated_difference,
        1.959963984540054 * sqrt(a.equated_se ** 2 + b.equated_se ** 2) AS equated_reach,
        ca.corrected_score - cb.corrected_score AS corrected_difference,
        sqrt((ca.corrected_score - ca.corrected_low) ** 2 + (cb.corrected_high - cb.corrected_score) ** 2) AS corrected_down,
        sqrt((ca.corrected_high - ca.corrected_score) ** 2 + (cb.corrected_score - cb.corrected_low) ** 2) AS corrected_up,
        if(l.is_paired, l.pair_count, least(a.item_count, b.item_count)) AS item_count,
        if(l.is_paired, a.item_count + b.item_count - 2 * l.pair_count, NULL) AS single_count,
        pa.usd + pb.usd + 2 * pj.usd AS usd
    FROM latest AS l
    JOIN scores AS a ON a.edition_id = l.edition_id AND a.month = l.month AND a.model = l.model_a
    JOIN scores AS b ON b.edition_id = l.edition_id AND b.month = l.month AND b.model = l.model_b
    LEFT JOIN people AS ca ON ca.edition_id = l.edition_id AND ca.model = l.model_a AND ca.is_simulated = l.is_simulated
    LEFT JOIN people AS cb ON cb.edition_id = l.edition_id AND cb.model = l.model_b AND cb.is_simulated = l.is_simulated
    LEFT JOIN prices AS pa ON pa.month = l.month AND pa.model = l.model_a AND pa.purpose = 'exam'
    LEFT JOIN prices AS pb ON pb.month = l.month AND pb.model = l.model_b AND pb.purpose = 'exam'
    LEFT JOIN prices AS pj ON pj.month = l.month AND pj.model = l.judge AND pj.purpose = 'judge'
),

-- The standard error falls with the root of the number of questions; 0.8416 standard errors above the bar are passed in 80% of months.
needed AS (
    SELECT
        *,
        CASE
            WHEN side = 0 AND difference_se > 0 AND round(difference, 9) <> 0 THEN greatest(1, ceil(item_count * (
                ((greatest(1.959963984540054, (together_high - together_low) / 2 / difference_se) + 0.8416212335729143) * difference_se / difference) ** 2
                - 1
            )))
        END AS needed_count
    FROM beside
)

SELECT
    n.model_a,
    n.model_b,
    n.month,
    n.score_a,
    n.score_b,
    n.difference,
    n.together_low,
    n.together_high,
    coalesce(n.p_together, n.p_holm) AS p_together,
    CASE n.side
        WHEN 1 THEN n.model_a || ' is better'
        WHEN -1 THEN n.model_b || ' is better'
        WHEN 0 THEN 'not told apart'
        ELSE 'no comparison'
    END AS verdict,
    s.since_month,
    s.since_count,
    m.month_count,
    m.better_count,
    m.worse_count,
    m.alike_count,
    p.pooled_count,
    p.pooled_from,
    p.pooled_difference,
    -- Of null and a bound DuckDB takes the bound.
    if(p.pooled_reach IS NOT NULL, greatest(-100, p.pooled_difference - p.pooled_reach), NULL) AS pooled_low,
    if(p.pooled_reach IS NOT NULL, least(100, p.pooled_difference + p.pooled_reach), NULL) AS pooled_high,
    n.is_paired,
    n.item_count,
    n.single_count,
    n.equated_difference,
    n.equated_difference - n.equated_reach AS equated_low,
    n.equated_difference + n.equated_reach AS equated_high,
    n.corrected_difference,
    n.corrected_difference - n.corrected_down AS corrected_low,
    n.corrected_difference + n.corrected_up AS corrected_high,
    n.needed_count::BIGINT AS needed_count,
    n.needed_count * n.usd AS needed_usd,
    n.is_provisional,
    n.overridden_gates,
    coalesce(g.grade, 'self-attested') AS grade,
    n.edition_id,
    n.is_simulated
FROM needed AS n
JOIN months AS m USING (model_a, model_b, is_simulated)
LEFT JOIN streaks AS s USING (model_a, model_b, is_simulated)
LEFT JOIN pooled AS p USING (model_a, model_b, is_simulated)
LEFT JOIN edition_grades AS g ON g.edition_id = n.edition_id
ORDER BY n.is_simulated, n.model_a, n.model_b
