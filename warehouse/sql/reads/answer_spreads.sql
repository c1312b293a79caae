-- How far do the answers to a discipline's questions lie apart?
-- One row per candidate, prompt style and discipline of the last edition up to a month, its first planned run: the questions, and sums
-- over them of squared deviations from the candidate's mean, in points of 100, repeats averaged. cluster_squares sums the squared
-- sizes of what was drawn together (a passage, or a lineage alone), cluster_deviations the squared sums of its deviations. What
-- repeats of a question differ by is repeat_variance; inverse_repeats is the mean of 1 / repeats.
-- Parameters: $disciplines, $month, $is_simulated
WITH latest AS (
    SELECT edition_id, month, bank_version
    FROM current_editions
    WHERE is_simulated = $is_simulated AND month <= $month AND NOT is_repetition
    ORDER BY month DESC, planned_at DESC, edition_id
    LIMIT 1
),

marks AS (
    SELECT
        e.edition_id,
        e.bank_version,
        s.model,
        s.prompt_style,
        s.discipline,
        coalesce(s.passage, s.lineage_uuid) AS cluster,
        s.stars_0_count + s.stars_1_count + s.stars_2_count + s.stars_3_count + s.unparsed_count AS repeats,
        (s.stars_1_count + 2 * s.stars_2_count + 3 * s.stars_3_count) / 3 * 100 AS total,
        (s.stars_1_count + 4 * s.stars_2_count + 9 * s.stars_3_count) / 9 * 10000 AS squares
    FROM edition_stars AS s
    JOIN latest AS e ON e.edition_id = s.edition_id AND e.month = s.month
    WHERE s.discipline IN (SELECT unnest($disciplines))
),

deviations AS (
    SELECT
        *,
        total / repeats
            - avg(total / repeats ORDER BY total / repeats) OVER (PARTITION BY model, prompt_style, discipline) AS deviation,
        CASE WHEN repeats > 1 THEN (squares - total ** 2 / repeats) / (repeats - 1) END AS repeat_variance
    FROM marks
),

clusters AS (
    SELECT
        edition_id,
        bank_version,
        model,
        prompt_style,
        discipline,
        count(*) AS size,
        sum(deviation ORDER BY deviation) AS deviation,
        sum(deviation ** 2 ORDER BY deviation ** 2) AS squares,
        sum(1 / repeats ORDER BY repeats) AS inverse_repeats,
        sum(repeat_variance ORDER BY repeat_variance) AS repeat_variance,
        count(repeat_variance) AS repeated_count
    FROM deviations
    GROUP BY edition_id, bank_version, model, prompt_style, discipline, cluster
)

SELECT
    edition_id,
    bank_version,
    model,
    prompt_style,
    discipline,
    sum(size)::BIGINT AS question_count,
    sum(squares ORDER BY squares) AS squares,
    sum(size * size)::BIGINT AS cluster_squares,
    sum(deviation ** 2 ORDER BY deviation ** 2) AS cluster_deviations,
    sum(inverse_repeats ORDER BY inverse_repeats) / sum(size) AS inverse_repeats,
    sum(repeat_variance ORDER BY repeat_variance) / nullif(sum(repeated_count), 0) AS repeat_variance
FROM clusters
GROUP BY edition_id, bank_version, model, prompt_style, discipline
ORDER BY model, prompt_style, discipline
