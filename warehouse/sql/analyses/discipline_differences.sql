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
WITH marks AS (
    SELECT
        s.edition_id,
        s.month,
        s.model,
        s.question_uuid,
        s.discipline,
        s.is_simulated,
        coalesce(s.passage, s.lineage_uuid) AS cluster,
        (s.stars_1_count + 2 * s.stars_2_count + 3 * s.stars_3_count)
            / (s.stars_0_count + s.stars_1_count + s.stars_2_count + s.stars_3_count + s.unparsed_count) / 3 * 10 AS mark
    FROM edition_stars AS s
    JOIN current_editions AS e ON e.edition_id = s.edition_id AND e.month = s.month
    WHERE s.prompt_style = $prompt_style
        AND NOT e.is_repetition
        AND coalesce($simulated::BOOLEAN OR NOT s.is_simulated, e.is_shown_by_default)
        AND s.month = coalesce($month::VARCHAR, (
            SELECT max(month) FROM current_editions
            WHERE coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
        ))
),

clusters AS (
    SELECT
        a.edition_id,
        a.discipline,
        a.is_simulated,
        a.model AS model_a,
        b.model AS model_b,
        count(*) AS size,
        sum(a.mark - b.mark) AS total
    FROM marks AS a
    JOIN marks AS b
        ON b.edition_id = a.edition_id
        AND b.is_simulated = a.is_simulated
        AND b.question_uuid = a.question_uuid
        AND b.model > a.model
    GROUP BY a.edition_id, a.discipline, a.is_simulated, a.model, b.model, a.cluster
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
        sum(total) / sum(size) AS difference,
        sqrt(greatest(
            0, round(sum(total ** 2) - 2 * sum(total) / sum(size) * sum(total * size) + (sum(total) / sum(size)) ** 2 * sum(size ** 2), 9)
        ) / nullif(sum(size) ** 2 - sum(size ** 2), 0)) AS difference_se,
        nullif(sum(size) ** 2 / sum(size ** 2) - 1, 0) AS degrees
    FROM clusters
    GROUP BY edition_id, discipline, is_simulated, model_a, model_b
),

scores AS (
    SELECT s.*
    FROM edition_scores AS s
    JOIN (SELECT DISTINCT edition_id, month, model FROM marks) AS m
        ON m.edition_id = s.edition_id AND m.month = s.month AND m.model = s.model
    WHERE s.prompt_style = $prompt_style AND s.discipline <> 'all' AND s.score IS NOT NULL
),

differences AS (
    SELECT
        a.month,
        a.discipline,
        a.model AS model_a,
        b.model AS model_b,
        coalesce(d.is_paired, o.is_paired AND p.pair_count IS NOT NULL) AS is_paired,
        coalesce(d.difference / 10, if(o.is_paired AND p.pair_count IS NOT NULL, p.difference, (a.score - b.score) / 10)) AS difference,
        d.difference_low / 10 AS frozen_low,
        d.difference_high / 10 AS frozen_high,
        -- Student's t as a normal variable: Wallace 1959.
        p.difference_se * sqrt(p.degrees * (exp(3.841458820694124 / p.degrees * ((8 * p.degrees + 3) / (8 * p.degrees + 1)) ** 2) - 1)) AS reach,
        sqrt((a.score - a.score_low) ** 2 + (b.score_high - b.score) ** 2) / 10 AS apart_low,
        sqrt((a.score_high - a.score) ** 2 + (b.score - b.score_low) ** 2) / 10 AS apart_high,
        coalesce(d.pair_count, if(o.is_paired, p.pair_count, 0), 0) AS pair_count,
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
    JOIN edition_pairs AS o
        ON o.edition_id = a.edition_id
        AND o.month = a.month
        AND o.prompt_style = a.prompt_style
        AND o.discipline = 'all'
        AND o.model_a = a.model
        AND o.model_b = b.model
        AND o.is_simulated = a.is_simulated
    LEFT JOIN edition_pairs AS d
        ON d.edition_id = o.edition_id
        AND d.month = o.month
        AND d.prompt_style = o.prompt_style
        AND d.discipline = a.discipline
        AND d.model_a = o.model_a
        AND d.model_b = o.model_b
        AND d.is_simulated = o.is_simulated
    LEFT JOIN paired AS p
        ON p.edition_id = a.edition_id
        AND p.is_simulated = a.is_simulated
        AND p.discipline = a.discipline
        AND p.model_a = a.model
        AND p.model_b = b.model
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
