-- Do two candidates differ in a discipline?
-- One row per discipline of an edition that both sat, the largest difference first: means on the scale of 0 to 10 over the
-- questions that both were put, repeats averaged, what nobody could judge counted 0 as in S; the paired difference (first less second) with its 95% interval. Questions
-- about one text count as one in it. p_holm corrects over the disciplines; verdict says who is better, or that they cannot be told apart. together_low and together_high
-- are the ends of an interval that allows for all disciplines: it holds 0 exactly where they cannot.
-- Parameters: $model_a (default null), $model_b (default null), $month (default null), $prompt_style (default zero_shot)
-- A null month is the last in which both sat the same questions; null candidates are those with the highest S of that
-- month (or the last one) that were put the same questions.
-- Shown: discipline, score_a, score_b, difference, together_low, together_high, verdict
WITH best AS (
    SELECT s.edition_id, s.month, s.model, s.score
    FROM edition_scores AS s
    JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
    WHERE s.prompt_style = $prompt_style
        AND s.discipline = 'all'
        AND s.score IS NOT NULL
        AND e.is_shown_by_default
        AND NOT e.is_repetition
        AND s.month = coalesce($month::VARCHAR, (SELECT max(month) FROM current_editions WHERE is_shown_by_default))
),

named AS (
    SELECT coalesce($model_a::VARCHAR, $model_b::VARCHAR, (SELECT arg_min(model, (-score, model)) FROM best)) AS model
),

-- Who sat another set has nothing in common with it to be compared on.
beside AS (
    SELECT arg_min(b.model, (-b.score, b.model)) AS model
    FROM best AS b
    CROSS JOIN named AS n
    WHERE b.model <> n.model
        AND EXISTS (
            SELECT 1
            FROM edition_stars AS own
            JOIN edition_stars AS other ON other.edition_id = own.edition_id AND other.question_uuid = own.question_uuid
            WHERE own.edition_id = b.edition_id
                AND own.month = b.month
                AND other.month = b.month
                AND own.model = b.model
                AND other.model = n.model
                AND own.prompt_style = $prompt_style
                AND other.prompt_style = $prompt_style
        )
),

chosen AS (
    SELECT
        coalesce($model_a::VARCHAR, if($model_b::VARCHAR IS NULL, n.model, b.model)) AS model_a,
        coalesce($model_b::VARCHAR, b.model) AS model_b
    FROM named AS n
    CROSS JOIN beside AS b
),

marks AS (
    SELECT
        s.edition_id,
        s.month,
        s.model,
        s.question_uuid,
        s.discipline,
        s.is_simulated,
        coalesce(s.passage, s.lineage_uuid) AS cluster,
        (s.stars_1_count + 2 * s.stars_2_count + 3 * s.stars_3_count)
            / (s.stars_0_count + s.stars_1_count + s.stars_2_count + s.stars_3_count + s.unparsed_count) AS stars
    FROM edition_stars AS s
    JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
    JOIN chosen AS c ON s.model IN (c.model_a, c.model_b)
    WHERE s.prompt_style = $prompt_style
        AND NOT e.is_repetition
        AND s.month = coalesce($month::VARCHAR, s.month)
),

pairs AS (
    SELECT a.edition_id, a.month, a.discipline, a.is_simulated, a.cluster, a.stars AS stars_a, b.stars AS stars_b
    FROM marks AS a
    JOIN marks AS b ON b.edition_id = a.edition_id AND b.question_uuid = a.question_uuid
    JOIN chosen AS c ON c.model_a = a.model AND c.model_b = b.model
    QUALIFY a.month = max(a.month) OVER ()
),

deviations AS (
    SELECT
        *,
        (stars_a - stars_b - avg(stars_a - stars_b) OVER (PARTITION BY month, edition_id, discipline, is_simulated)) / 3 * 10 AS deviation
    FROM pairs
),

clusters AS (
    SELECT
        month,
        edition_id,
        discipline,
        is_simulated,
        count(*) AS size,
        sum(stars_a) / 3 * 10 AS total_a,
        sum(stars_b) / 3 * 10 AS total_b,
        sum(deviation) AS deviation
    FROM deviations
    GROUP BY month, edition_id, discipline, is_simulated, cluster
),

-- The variance of a mean by cluster, without bias where they are of different size; clusters of equal size that say as much are effective_count.
means AS (
    SELECT
        month,
        edition_id,
        discipline,
        is_simulated,
        sum(size)::BIGINT AS pair_count,
        sum(total_a) / sum(size) AS score_a,
        sum(total_b) / sum(size) AS score_b,
        (sum(total_a) - sum(total_b)) / sum(size) AS difference,
        sqrt(sum(deviation ** 2) / nullif(sum(size) ** 2 - sum(size ** 2), 0)) AS difference_se,
        sum(size) ** 2 / sum(size ** 2) AS effective_count
    FROM clusters
    GROUP BY month, edition_id, discipline, is_simulated
),

-- Student's t as a normal variable: Wallace 1959. From 5 questions on its 97.5% point is within half a percent, below that too wide
-- (by 4% with 3). The two-sided p of that by formula 7.1.26 of Abramowitz and Stegun (error below 1.5e-7).
scaled AS (
    SELECT
        *,
        sqrt(degrees * (exp(3.841458820694124 / degrees * (1 / shrinkage) ** 2) - 1)) AS reach,
        shrinkage * sqrt(degrees * ln(1 + (difference / nullif(difference_se, 0)) ** 2 / degrees)) / sqrt(2) AS x
    FROM (
        SELECT *, nullif(effective_count - 1, 0) AS degrees, (8 * (effective_count - 1) + 1) / (8 * (effective_count - 1) + 3) AS shrinkage
        FROM means
    )
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
        -- As `reach`, with the normal deviate of 2.5% over all disciplines: formula 26.2.23 of Abramowitz and Stegun (error below 4.5e-4).
        sqrt(degrees * (exp(
            ((u - (2.515517 + 0.802853 * u + 0.010328 * u ** 2) / (1 + 1.432788 * u + 0.189269 * u ** 2 + 0.001308 * u ** 3)) / shrinkage) ** 2
            / degrees
        ) - 1)) AS reach_together,
        CASE
            WHEN p_value IS NOT NULL THEN least(1, max(p_value * (test_count - place + 1)) OVER (ORDER BY place))
        END AS p_holm
    FROM (
        SELECT
            *,
            sqrt(-2 * ln(0.025 / greatest(1, count(p_value) OVER ()))) AS u,
            count(p_value) OVER () AS test_count,
            row_number() OVER (ORDER BY p_value NULLS LAST, discipline) AS place
        FROM tested
    )
)

SELECT
    month,
    discipline,
    model_a,
    model_b,
    score_a,
    score_b,
    difference,
    difference - reach * difference_se AS difference_low,
    difference + reach * difference_se AS difference_high,
    p_value,
    p_holm,
    CASE
        WHEN p_holm <= 0.05 AND difference > 0 THEN greatest(0, difference - reach_together * difference_se)
        WHEN p_holm <= 0.05 THEN difference - reach_together * difference_se
        WHEN p_holm > 0.05 THEN least(0, difference - reach_together * difference_se)
    END AS together_low,
    CASE
        WHEN p_holm <= 0.05 AND difference < 0 THEN least(0, difference + reach_together * difference_se)
        WHEN p_holm <= 0.05 THEN difference + reach_together * difference_se
        WHEN p_holm > 0.05 THEN greatest(0, difference + reach_together * difference_se)
    END AS together_high,
    CASE
        WHEN p_holm IS NULL THEN 'no error is known'
        WHEN p_holm > 0.05 THEN 'not distinguishable'
        WHEN difference > 0 THEN model_a || ' is better'
        ELSE model_b || ' is better'
    END AS verdict,
    pair_count,
    edition_id,
    is_simulated
FROM corrected
CROSS JOIN chosen
ORDER BY abs(difference) DESC, discipline
