-- By how much do any two candidates of a month differ in each discipline?
-- One row per pair and discipline: the difference, first less second, on the scale of 0 to 10 with its 95% interval, as published. In
-- editions from before that was, it is computed here; is_paired: on the pair_count questions that both were put, repeats averaged, what
-- nobody could judge counted 0 as in S; else both sat different questions, and it is the difference of their two scores (its interval is
-- that of both, squared and added). Questions about one text count
-- as one in the interval; of one question there is none. together_low and together_high are the ends of an interval that holds for all
-- disciplines of the pair at once in 95% of cases, as in discipline_comparison; null in editions from before it was made.
-- Parameters: $month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- A null month is the latest. Repetitions of a month are left out.
-- Marks of: edition_id
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one; it needs two candidates.
WITH chosen AS (
    SELECT edition_id, month
    FROM current_editions
    WHERE NOT is_repetition
        AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        AND month = coalesce($month::VARCHAR, (
            SELECT max(month) FROM current_editions
            WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        ))
),

marks AS (
    SELECT
        edition_id,
        month,
        model,
        question_uuid,
        discipline,
        is_simulated,
        coalesce(passage, lineage_uuid) AS cluster,
        (stars_1_count + 2 * stars_2_count + 3 * stars_3_count)
            / (stars_0_count + stars_1_count + stars_2_count + stars_3_count + unparsed_count) / 3 * 10 AS mark
    FROM edition_stars
    JOIN chosen USING (edition_id, month)
    WHERE prompt_style = $prompt_style
),

pairs AS MATERIALIZED (
    SELECT *
    FROM edition_pairs
    JOIN chosen USING (edition_id, month)
    WHERE prompt_style = $prompt_style
),

scores AS (
    SELECT *
    FROM edition_scores
    JOIN (SELECT DISTINCT edition_id, month, model FROM marks) USING (edition_id, month, model)
    WHERE prompt_style = $prompt_style AND discipline <> 'all' AND score IS NOT NULL
),

published AS (
    SELECT
        a.month,
        a.discipline,
        a.model AS model_a,
        b.model AS model_b,
        o.is_paired AS is_paired_over_all,
        d.is_paired AS is_paired_here,
        d.difference / 10 AS published_difference,
        d.difference_low / 10 AS frozen_low,
        d.difference_high / 10 AS frozen_high,
        (a.score - b.score) / 10 AS apart,
        sqrt((a.score - a.score_low) ** 2 + (b.score_high - b.score) ** 2) / 10 AS apart_low,
        sqrt((a.score_high - a.score) ** 2 + (b.score - b.score_low) ** 2) / 10 AS apart_high,
        d.pair_count AS published_count,
        d.together_low / 10 AS together_low,
        d.together_high / 10 AS together_high,
        d.is_distinguishable,
        a.edition_id,
        a.is_simulated
    FROM scores AS a
    JOIN scores AS b
        ON b.edition_id = a.edition_id
        AND b.is_simulated = a.is_simulated
        AND b.discipline = a.discipline
        AND b.model > a.model
    JOIN pairs AS o
        ON o.edition_id = a.edition_id
        AND o.discipline = 'all'
        AND o.model_a = a.model
        AND o.model_b = b.model
        AND o.is_simulated = a.is_simulated
    LEFT JOIN pairs AS d
        ON d.edition_id = a.edition_id
        AND d.discipline = a.discipline
        AND d.model_a = a.model
        AND d.model_b = b.model
        AND d.is_simulated = a.is_simulated
),

-- Marks of the first of each pair of which something was not published: none, as a rule, and then no mark meets another.
lacking AS MATERIALIZED (
    SELECT p.edition_id, p.discipline, p.is_simulated, p.model_a, p.model_b, a.question_uuid, a.cluster, a.mark
    FROM published AS p
    JOIN marks AS a
        ON a.edition_id = p.edition_id
        AND a.is_simulated = p.is_simulated
        AND a.discipline = p.discipline
        AND a.model = p.model_a
    WHERE p.is_paired_here IS NULL
        OR p.published_difference IS NULL
        OR p.published_count IS NULL
        OR p.frozen_low IS NULL
        OR p.frozen_high IS NULL
),

clusters AS (
    SELECT
        a.edition_id,
        a.discipline,
        a.is_simulated,
        a.model_a,
        a.model_b,
        count(*) AS size,
        sum((a.mark - b.mark)::DECIMAL(38, 18))::DOUBLE AS total
    FROM lacking AS a
    JOIN marks AS b
        ON b.edition_id = a.edition_id
        AND b.is_simulated = a.is_simulated
        AND b.question_uuid = a.question_uuid
        AND b.model = a.model_b
    GROUP BY a.edition_id, a.discipline, a.is_simulated, a.model_a, a.model_b, a.cluster
),

-- The variance of a mean by cluster, as in tasks/statistics/cells.py.
paired AS (
    SELECT
        edition_id,
        discipline,
        is_simulated,
        model_a,
        model_b,
        sum(size)::BIGINT AS pair_count,
        sum(total ORDER BY total) / sum(size) AS difference,
        sqrt(greatest(
            0, round(sum(total ** 2 ORDER BY total) - 2 * sum(total ORDER BY total) / sum(size) * sum(total * size ORDER BY total, size) + (sum(total ORDER BY total) / sum(size)) ** 2 * sum(size ** 2 ORDER BY size), 9)
        ) / nullif(sum(size) ** 2 - sum(size ** 2 ORDER BY size), 0)) AS difference_se,
        nullif(sum(size) ** 2 / sum(size ** 2 ORDER BY size) - 1, 0) AS degrees
    FROM clusters
    GROUP BY edition_id, discipline, is_simulated, model_a, model_b
),

differences AS (
    SELECT
        o.*,
        coalesce(o.is_paired_here, o.is_paired_over_all AND p.pair_count IS NOT NULL) AS is_paired,
        coalesce(o.published_difference, if(o.is_paired_over_all AND p.pair_count IS NOT NULL, p.difference, o.apart)) AS difference,
        -- Student's t as a normal variable: Wallace 1959.
        p.difference_se * sqrt(p.degrees * (exp(3.841458820694124 / p.degrees * ((8 * p.degrees + 3) / (8 * p.degrees + 1)) ** 2) - 1)) AS reach,
        coalesce(o.published_count, if(o.is_paired_over_all, p.pair_count, 0), 0) AS pair_count
    FROM published AS o
    LEFT JOIN paired AS p
        ON p.edition_id = o.edition_id
        AND p.is_simulated = o.is_simulated
        AND p.discipline = o.discipline
        AND p.model_a = o.model_a
        AND p.model_b = o.model_b
)

SELECT
    month,
    model_a,
    model_b,
    discipline,
    round(difference, 9) AS difference,
    round(coalesce(frozen_low, difference - if(is_paired, reach, apart_low)), 9) AS difference_low,
    round(coalesce(frozen_high, difference + if(is_paired, reach, apart_high)), 9) AS difference_high,
    round(together_low, 9) AS together_low,
    round(together_high, 9) AS together_high,
    is_distinguishable,
    is_paired,
    pair_count,
    edition_id,
    is_simulated
FROM differences
ORDER BY is_simulated, model_a, model_b, discipline
