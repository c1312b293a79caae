-- What does thinking (or search) gain over the same model without it, by discipline?
-- One row per variant, its base and discipline, and one with discipline null over all, of the editions in which both sat at least half of
-- their questions together. gain is the published difference of S (of the discipline's score), in points of 100, with the 95% interval of
-- that pair alone (those of several editions squared and added, or added where they rest on the same answers of a reference); null where the error of one is not known. A base that is the reference
-- sat further sets: they count in its score as in S, and their error in the interval.
-- Parameters: $month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- A null month pools all months, each weighed by its common questions (pair_count). Repetitions of a month are left out.
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
        p.edition_id,
        p.month,
        v.model,
        v.base_model,
        v.mode,
        nullif(p.discipline, 'all') AS discipline,
        p.pair_count,
        own.score AS variant_score,
        base.score AS base_score,
        if(p.model_a = v.model, p.difference, -p.difference) AS gain,
        if(p.model_a = v.model, p.difference_low, -p.difference_high) AS gain_low,
        if(p.model_a = v.model, p.difference_high, -p.difference_low) AS gain_high,
        v.is_simulated
    FROM variants AS v
    JOIN edition_pairs AS p
        ON p.model_a = least(v.model, v.base_model)
        AND p.model_b = greatest(v.model, v.base_model)
        AND p.is_simulated = v.is_simulated
    JOIN current_editions AS e ON e.edition_id = p.edition_id AND e.month = p.month
    JOIN edition_scores AS own
        ON own.edition_id = p.edition_id
        AND own.month = p.month
        AND own.model = v.model
        AND own.prompt_style = p.prompt_style
        AND own.discipline = p.discipline
    JOIN edition_scores AS base
        ON base.edition_id = p.edition_id
        AND base.month = p.month
        AND base.model = v.base_model
        AND base.prompt_style = p.prompt_style
        AND base.discipline = p.discipline
    WHERE p.prompt_style = $prompt_style
        AND p.is_paired
        AND NOT e.is_repetition
        AND coalesce($simulated::BOOLEAN OR NOT p.is_simulated, e.is_shown_by_default)
        AND ($month::VARCHAR IS NULL OR p.month = $month)
),

-- What a reference answered once stands in several months, whose errors then are not independent.
answered_once AS (
    SELECT DISTINCT model, base_model, is_simulated
    FROM (
        SELECT g.model, g.base_model, g.is_simulated
        FROM gains AS g
        JOIN edition_sessions AS s ON s.edition_id = g.edition_id AND s.month = g.month AND s.model IN (g.model, g.base_model)
        WHERE g.discipline IS NULL AND s.session_id IN (
            SELECT session_id FROM edition_sessions WHERE is_borrowed AND is_complete AND prompt_style = $prompt_style
        )
        GROUP BY g.model, g.base_model, g.is_simulated, s.session_id
        HAVING count(*) > 1
    )
),

pooled AS (
    SELECT
        g.model,
        g.base_model,
        g.mode,
        g.discipline,
        sum(g.variant_score * g.pair_count ORDER BY g.month) / sum(g.pair_count) AS variant_score,
        sum(g.base_score * g.pair_count ORDER BY g.month) / sum(g.pair_count) AS base_score,
        sum(g.gain * g.pair_count ORDER BY g.month) / sum(g.pair_count) AS gain,
        -- A sum leaves out what is not known: one error that is missing would be one of 0.
        CASE WHEN count(g.gain_low) = count(*) THEN if(
            any_value(a.model) IS NULL,
            sqrt(sum(((g.gain - g.gain_low) * g.pair_count) ** 2 ORDER BY g.month)),
            sum((g.gain - g.gain_low) * g.pair_count ORDER BY g.month)
        ) / sum(g.pair_count) END AS reach_down,
        CASE WHEN count(g.gain_high) = count(*) THEN if(
            any_value(a.model) IS NULL,
            sqrt(sum(((g.gain_high - g.gain) * g.pair_count) ** 2 ORDER BY g.month)),
            sum((g.gain_high - g.gain) * g.pair_count ORDER BY g.month)
        ) / sum(g.pair_count) END AS reach_up,
        sum(g.pair_count)::BIGINT AS pair_count,
        g.is_simulated
    FROM gains AS g
    LEFT JOIN answered_once AS a ON a.model = g.model AND a.base_model = g.base_model AND a.is_simulated = g.is_simulated
    GROUP BY g.model, g.base_model, g.mode, g.discipline, g.is_simulated
)

SELECT
    model,
    base_model,
    mode,
    discipline,
    variant_score,
    base_score,
    gain,
    gain - reach_down AS gain_low,
    gain + reach_up AS gain_high,
    pair_count,
    is_simulated
FROM pooled
ORDER BY model, base_model, discipline NULLS FIRST
