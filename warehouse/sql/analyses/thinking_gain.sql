-- What does thinking (or search) gain over the same model without it, by discipline?
-- One row per variant, its base and discipline, and one with discipline null over all. Paired: only questions of one set and
-- style with stars for both, each candidate's repeats averaged first. gain is in points of 100; gain_low and gain_high are
-- its 95% interval by the normal approximation, null for fewer than two pairs.
-- Parameters: $month (default null), $prompt_style (default zero_shot)
-- A null month pools all months.
WITH stars_by_question AS (
    SELECT month, model, judge, set_id, question_uuid, discipline, is_simulated, avg(stars) / 3 * 100 AS points
    FROM edition_responses
    WHERE prompt_style = $prompt_style
        AND stars IS NOT NULL
        AND month = coalesce($month::VARCHAR, month)
    GROUP BY ALL
),

pairs AS (
    SELECT DISTINCT model, base_model, mode, is_simulated
    FROM style_scores
    WHERE base_model IS NOT NULL
),

gains AS (
    SELECT
        pairs.model,
        pairs.base_model,
        pairs.mode,
        v.discipline,
        v.points AS variant_points,
        b.points AS base_points,
        v.points - b.points AS gain,
        pairs.is_simulated
    FROM pairs
    JOIN stars_by_question AS v ON v.model = pairs.model AND v.is_simulated = pairs.is_simulated
    JOIN stars_by_question AS b
        ON b.model = pairs.base_model
        AND b.month = v.month
        AND b.judge = v.judge
        AND b.set_id = v.set_id
        AND b.question_uuid = v.question_uuid
        AND b.is_simulated = v.is_simulated
)

SELECT
    model,
    base_model,
    mode,
    discipline,
    avg(variant_points) AS variant_score,
    avg(base_points) AS base_score,
    avg(gain) AS gain,
    avg(gain) - 1.96 * stddev_samp(gain) / sqrt(count(*)) AS gain_low,
    avg(gain) + 1.96 * stddev_samp(gain) / sqrt(count(*)) AS gain_high,
    count(*) AS pair_count,
    is_simulated
FROM gains
GROUP BY GROUPING SETS (
    (model, base_model, mode, discipline, is_simulated),
    (model, base_model, mode, is_simulated)
)
ORDER BY model, base_model, discipline NULLS FIRST
