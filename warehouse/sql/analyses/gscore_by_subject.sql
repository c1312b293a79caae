-- How does each model do on the subjects of a question file, CG-Eval's or of our bank?
-- One row per run, model, profile, similarity model and subject, with rank among the models of the subject (simulated ones
-- apart). Every score is reported x 100; the parts are means over the texts, accuracy is over the calculations. Items without a
-- Gscore are left out of it and counted; a subject without any has no rank.
-- Parameters: $category (default null), $model (default null)
-- No rows: no answer has a Gscore: `proctor cgeval import FILE`, then `proctor cgeval run --models … --references FILE`.
WITH subjects AS (
    SELECT
        run_id,
        model,
        is_simulated,
        profile,
        similarity_model,
        coalesce(category, 'unknown') AS category,
        coalesce(subject, 'unknown') AS subject,
        avg(gscore::DECIMAL(38, 18)) * 100 AS gscore,
        avg(bleu4::DECIMAL(38, 18)) * 100 AS bleu4,
        avg(rouge2::DECIMAL(38, 18)) * 100 AS rouge2,
        avg(chrf::DECIMAL(38, 18)) * 100 AS chrf,
        avg(similarity::DECIMAL(38, 18)) * 100 AS similarity,
        avg(accuracy::DECIMAL(38, 18)) * 100 AS accuracy,
        count(gscore) AS scored_count,
        count(*) - count(gscore) AS unscored_count
    FROM gscores
    GROUP BY ALL
),

ranked AS (
    SELECT
        *,
        CASE WHEN gscore IS NOT NULL THEN rank() OVER (
            PARTITION BY run_id, profile, similarity_model, category, subject, is_simulated
            ORDER BY round(gscore, 9) DESC NULLS LAST
        ) END AS rank
    FROM subjects
)

SELECT *
FROM ranked
WHERE category = coalesce($category::VARCHAR, category)
    AND model = coalesce($model::VARCHAR, model)
ORDER BY run_id, profile, similarity_model, category, subject, rank NULLS LAST, model
