-- How do two reference candidates compare?
-- One row per ordered pair of references (and is_simulated). bridge is the factor that turns an R against from_reference into
-- an R against to_reference: stars of from_reference over stars of to_reference on the questions that both sat in one
-- published run, zero-shot and each discipline in its weight, as in R. Where they never did, a chain over other references is taken, the shortest one (of two equally short ones
-- that with more questions); step_count says how many bridges it has, pair_count is that of its weakest.
-- A pair that no chain joins has no row: it needs a bridging run.
WITH RECURSIVE reference_models AS (
    SELECT DISTINCT reference_model, is_simulated FROM current_editions
),

parts AS (
    SELECT
        p.edition_id,
        p.model_a,
        p.model_b,
        p.discipline,
        p.stars_a,
        p.stars_b,
        p.pair_count,
        (e.weights ->> ('$."' || p.discipline || '"'))::DOUBLE AS weight,
        p.is_simulated
    FROM edition_pairs AS p
    JOIN current_editions AS e ON e.edition_id = p.edition_id AND e.month = p.month
    SEMI JOIN reference_models AS a ON a.reference_model = p.model_a AND a.is_simulated = p.is_simulated
    SEMI JOIN reference_models AS b ON b.reference_model = p.model_b AND b.is_simulated = p.is_simulated
    WHERE p.prompt_style = 'zero_shot' AND p.pair_count > 0
),

-- Editions from before they compared by discipline have the sum of all alone.
paired AS (
    SELECT
        a.model_a,
        a.model_b,
        coalesce(sum(d.weight * d.stars_a / d.pair_count ORDER BY d.discipline) * a.pair_count, a.stars_a) AS stars_a,
        coalesce(sum(d.weight * d.stars_b / d.pair_count ORDER BY d.discipline) * a.pair_count, a.stars_b) AS stars_b,
        a.pair_count,
        a.is_simulated
    FROM parts AS a
    LEFT JOIN parts AS d
        ON d.edition_id = a.edition_id AND d.model_a = a.model_a AND d.model_b = a.model_b AND d.weight > 0
    WHERE a.discipline = 'all'
    GROUP BY a.edition_id, a.model_a, a.model_b, a.stars_a, a.stars_b, a.pair_count, a.is_simulated
),

bridges AS (
    SELECT
        from_reference,
        to_reference,
        sum(from_stars ORDER BY from_stars) / nullif(sum(to_stars ORDER BY to_stars), 0) AS bridge,
        sum(pair_count)::BIGINT AS pair_count,
        is_simulated
    FROM (
        SELECT model_a AS from_reference, model_b AS to_reference, stars_a AS from_stars, stars_b AS to_stars, pair_count, is_simulated
        FROM paired
        UNION ALL
        SELECT model_b, model_a, stars_b, stars_a, pair_count, is_simulated FROM paired
    )
    GROUP BY from_reference, to_reference, is_simulated
),

chains AS (
    SELECT
        reference_model AS from_reference,
        reference_model AS to_reference,
        1.0::DOUBLE AS bridge,
        NULL::BIGINT AS pair_count,
        0 AS step_count,
        [reference_model] AS passed,
        is_simulated
    FROM reference_models

    UNION ALL

    SELECT
        c.from_reference,
        b.to_reference,
        c.bridge * b.bridge,
        least(coalesce(c.pair_count, b.pair_count), b.pair_count),
        c.step_count + 1,
        list_append(c.passed, b.to_reference),
        c.is_simulated
    FROM chains AS c
    JOIN bridges AS b ON b.from_reference = c.to_reference AND b.is_simulated = c.is_simulated
    WHERE NOT list_contains(c.passed, b.to_reference) AND c.step_count < 6 AND b.bridge IS NOT NULL
)

SELECT from_reference, to_reference, bridge, coalesce(pair_count, 0) AS pair_count, step_count, is_simulated
FROM chains
QUALIFY row_number() OVER (
    PARTITION BY from_reference, to_reference, is_simulated
    ORDER BY step_count, pair_count DESC, passed
) = 1
