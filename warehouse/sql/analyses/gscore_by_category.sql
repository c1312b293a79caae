-- How does each model do on CG-Eval's categories?
-- One row per model, profile, similarity model and category, and one with category null: the unweighted mean of its
-- categories. Gscore is reported x 100; items without a Gscore are left out and counted.
WITH categories AS (
    SELECT
        model,
        profile,
        similarity_model,
        coalesce(category, 'unknown') AS category,
        avg(gscore) * 100 AS gscore,
        count(gscore) AS scored_count,
        count(*) - count(gscore) AS unscored_count
    FROM gscores
    GROUP BY ALL
)

SELECT * FROM categories
UNION ALL
SELECT
    model, profile, similarity_model, NULL AS category, avg(gscore) AS gscore,
    sum(scored_count)::BIGINT AS scored_count, sum(unscored_count)::BIGINT AS unscored_count
FROM categories
GROUP BY model, profile, similarity_model
ORDER BY profile, similarity_model, model, category NULLS FIRST
