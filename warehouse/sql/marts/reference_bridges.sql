-- How do two reference candidates compare on the questions that both were judged on?
-- One row per ordered pair of references (and is_simulated). bridge is the factor that turns an R against from_reference
-- into an R against to_reference: stars of from_reference over stars of to_reference on the same set, style and question,
-- by the same judge, over all editions. A pair that never sat the same questions has no row: it needs a bridging run.
WITH reference_models AS (
    SELECT DISTINCT reference_model FROM runs
),

answers AS (
    SELECT ja.model, ja.judge, ja.set_id, ja.prompt_style, ja.question_uuid, ja.is_simulated, avg(ja.stars) AS stars
    FROM judged_allocations AS ja
    SEMI JOIN reference_models ON reference_models.reference_model = ja.model
    SEMI JOIN primary_judge AS p ON p.judge = ja.judge
    WHERE ja.stars IS NOT NULL AND ja.session_status = 'closed'
    GROUP BY ALL
)

SELECT
    f.model AS from_reference,
    t.model AS to_reference,
    CASE WHEN f.model = t.model THEN 1.0 ELSE sum(f.stars) / nullif(sum(t.stars), 0) END AS bridge,
    count(*) AS pair_count,
    f.is_simulated
FROM answers AS f
JOIN answers AS t USING (judge, set_id, prompt_style, question_uuid, is_simulated)
GROUP BY f.model, t.model, f.is_simulated
