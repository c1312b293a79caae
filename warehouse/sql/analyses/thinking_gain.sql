-- What does thinking (or search) gain over the same model without it, by discipline?
-- One row per variant, its base and discipline, and one with discipline null over all. Paired: only questions of one set and
-- style with stars for both, each candidate's repeats averaged first. gain is in points of 100 and has a 95% interval.
-- Parameters: $month (default null), $prompt_style (default zero_shot)
-- A null month pools all months, each weighed by its questions. Over all disciplines each weighs as in S.
-- Marks of: every month
-- No rows: no candidate sat a month beside the model that it is a variant of: write `mode` and `base_model` in models.yaml, then `proctor monthly`.
WITH variants AS (
    SELECT m.model, m.base_model, m.mode, m.is_simulated
    FROM models AS m
    JOIN runs AS r ON r.run_id = m.run_id
    WHERE m.base_model IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY m.model, m.base_model, m.is_simulated ORDER BY r.planned_at DESC, m.run_id DESC
    ) = 1
),

gains AS (
    SELECT
        v.model,
        v.base_model,
        v.mode,
        nullif(p.discipline, 'all') AS discipline,
        p.pair_count,
        coalesce(
            avg(if(p.model_a = v.model, p.stars_a, p.stars_b) / p.pair_count) FILTER (p.discipline <> 'all') OVER pair,
            if(p.model_a = v.model, p.stars_a, p.stars_b) / p.pair_count
        ) AS pair_variant_stars,
        coalesce(
            avg(if(p.model_a = v.model, p.stars_b, p.stars_a) / p.pair_count) FILTER (p.discipline <> 'all') OVER pair,
            if(p.model_a = v.model, p.stars_b, p.stars_a) / p.pair_count
        ) AS pair_base_stars,
        if(p.model_a = v.model, p.stars_a, p.stars_b) / p.pair_count AS own_variant_stars,
        if(p.model_a = v.model, p.stars_b, p.stars_a) / p.pair_count AS own_base_stars,
        if(p.model_a = v.model, p.difference, -p.difference) AS gain,
        p.difference_se,
        v.is_simulated
    FROM variants AS v
    JOIN edition_pairs AS p
        ON p.model_a = least(v.model, v.base_model)
        AND p.model_b = greatest(v.model, v.base_model)
        AND p.is_simulated = v.is_simulated
    JOIN current_editions AS e ON e.edition_id = p.edition_id AND e.month = p.month
    WHERE p.prompt_style = $prompt_style
        AND p.is_paired
        AND ($month::VARCHAR IS NULL OR p.month = $month)
    WINDOW pair AS (PARTITION BY p.edition_id, p.model_a, p.model_b)
)

SELECT
    model,
    base_model,
    mode,
    discipline,
    -- As compute_score of tasks/statistics/score.py with one weight for all: held together by
    -- tests/tasks/editions/test_one_score.py.
    sum(if(discipline IS NULL, pair_variant_stars, own_variant_stars) * pair_count) / sum(pair_count) / 3 * 100
        AS variant_score,
    sum(if(discipline IS NULL, pair_base_stars, own_base_stars) * pair_count) / sum(pair_count) / 3 * 100 AS base_score,
    sum(gain * pair_count) / sum(pair_count) AS gain,
    sum(gain * pair_count) / sum(pair_count) - 1.96 * sqrt(sum((difference_se * pair_count) ** 2)) / sum(pair_count) AS gain_low,
    sum(gain * pair_count) / sum(pair_count) + 1.96 * sqrt(sum((difference_se * pair_count) ** 2)) / sum(pair_count) AS gain_high,
    sum(pair_count)::BIGINT AS pair_count,
    is_simulated
FROM gains
GROUP BY model, base_model, mode, discipline, is_simulated
ORDER BY model, base_model, discipline NULLS FIRST
