-- Do two candidates differ in a discipline?
-- One row per discipline of an edition in which both were put the same questions (at least half of them), the largest difference first:
-- scores of 0 to 10, and their difference (first less second) with the 95% interval of that discipline alone. Questions about one text
-- count as one in it. A pair's disciplines are told together: p_together allows for having looked at all of them by the largest
-- difference that chance makes (step-down max-t), together_low and together_high are the ends of an interval that holds for all at once
-- in 95% of cases, and verdict says who is better: the interval holds 0 exactly where they cannot be told apart.
-- Parameters: $model_a (default null), $model_b (default null), $month (default null), $prompt_style (default zero_shot)
-- A null month is the last in which both sat the same questions; null candidates are those with the highest S of that
-- month (or the last one) that were put the same questions.
-- Shown: discipline, score_a, score_b, difference, together_low, together_high, verdict
-- Marks of: edition_id
-- No rows: no edition of the month compares these two candidates by discipline: either one did not sit it, or it was published before editions did so (`proctor publish RUN --revise --reason TEXT` publishes one that does); `proctor sql leaderboard` names who sat.
WITH best AS (
    SELECT s.edition_id, s.month, s.model, s.score
    FROM edition_scores AS s
    JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
    WHERE s.prompt_style = $prompt_style
        AND s.discipline = 'all'
        AND s.score IS NOT NULL
        AND e.is_shown_by_default
        AND NOT e.is_repetition
        AND s.month = coalesce($month::VARCHAR, (SELECT max(month) FROM current_editions WHERE NOT is_repetition AND is_shown_by_default))
),

-- Who sat another set has nothing in common with it to be compared on.
paired AS (
    SELECT b.model, b.score, p.other_model
    FROM best AS b
    JOIN (
        SELECT edition_id, month, unnest([model_a, model_b]) AS model, unnest([model_b, model_a]) AS other_model
        FROM edition_pairs
        WHERE prompt_style = $prompt_style AND discipline = 'all' AND is_paired AND month IN (SELECT month FROM best)
    ) AS p USING (edition_id, month, model)
),

named AS (
    SELECT coalesce($model_a::VARCHAR, $model_b::VARCHAR, (SELECT arg_min(model, (-score, model)) FROM paired)) AS model
),

beside AS (
    SELECT arg_min(p.model, (-p.score, p.model)) AS model
    FROM paired AS p
    JOIN named AS n ON n.model = p.other_model
),

chosen AS MATERIALIZED (
    SELECT
        coalesce($model_a::VARCHAR, if($model_b::VARCHAR IS NULL, n.model, b.model)) AS model_a,
        coalesce($model_b::VARCHAR, b.model) AS model_b
    FROM named AS n
    CROSS JOIN beside AS b
),

-- A pair stands in the table once, in the order of the names: turned round where it is asked for the other way. It is found before
-- editions are joined, which would be tried on every row.
pairs AS MATERIALIZED (
    SELECT
        p.edition_id,
        p.month,
        p.prompt_style,
        p.discipline,
        p.model_a,
        p.difference,
        p.difference_low,
        p.difference_high,
        p.p_value,
        p.p_together,
        p.together_low,
        p.together_high,
        p.pair_count,
        p.is_simulated,
        c.model_a AS first_model,
        c.model_b AS second_model
    FROM edition_pairs AS p
    JOIN chosen AS c
        ON p.model_a = least(c.model_a, c.model_b) AND p.model_b = greatest(c.model_a, c.model_b)
    WHERE p.prompt_style = $prompt_style
        AND p.discipline <> 'all'
        AND p.is_paired
        AND ($month::VARCHAR IS NULL OR p.month = $month)
),

told AS (
    SELECT
        p.edition_id,
        p.month,
        p.prompt_style,
        p.discipline,
        p.first_model AS model_a,
        p.second_model AS model_b,
        if(p.model_a = p.first_model, p.difference, -p.difference) / 10 AS difference,
        if(p.model_a = p.first_model, p.difference_low, -p.difference_high) / 10 AS difference_low,
        if(p.model_a = p.first_model, p.difference_high, -p.difference_low) / 10 AS difference_high,
        p.p_value,
        p.p_together,
        if(p.model_a = p.first_model, p.together_low, -p.together_high) / 10 AS together_low,
        if(p.model_a = p.first_model, p.together_high, -p.together_low) / 10 AS together_high,
        p.pair_count,
        p.is_simulated
    FROM pairs AS p
    JOIN current_editions AS e ON e.edition_id = p.edition_id AND e.month = p.month
    WHERE NOT e.is_repetition AND (p.p_value IS NULL) = (p.p_together IS NULL)
    QUALIFY p.month = max(p.month) OVER ()
)

SELECT
    t.month,
    t.discipline,
    t.model_a,
    t.model_b,
    a.score / 10 AS score_a,
    b.score / 10 AS score_b,
    t.difference,
    t.difference_low,
    t.difference_high,
    t.p_value,
    t.p_together,
    t.together_low,
    t.together_high,
    CASE
        WHEN t.p_together IS NULL THEN 'no error is known'
        WHEN t.p_together > 0.05 THEN 'not distinguishable'
        WHEN t.difference > 0 THEN t.model_a || ' is better'
        ELSE t.model_b || ' is better'
    END AS verdict,
    t.pair_count,
    t.edition_id,
    t.is_simulated
FROM told AS t
JOIN edition_scores AS a
    ON a.edition_id = t.edition_id
    AND a.month = t.month
    AND a.prompt_style = t.prompt_style
    AND a.discipline = t.discipline
    AND a.model = t.model_a
JOIN edition_scores AS b
    ON b.edition_id = t.edition_id
    AND b.month = t.month
    AND b.prompt_style = t.prompt_style
    AND b.discipline = t.discipline
    AND b.model = t.model_b
ORDER BY abs(t.difference) DESC, t.discipline
