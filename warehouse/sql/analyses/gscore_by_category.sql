-- How does each model do on the categories of a question file, CG-Eval's or of our bank?
-- One row per run, model, profile, similarity model and category, and one with category null: the unweighted mean of its
-- categories (category_count of them). Every score is reported x 100. The parts are means over the texts, accuracy is over the
-- calculations. Items without a Gscore are left out of it and counted; where a whole category has none, the overall mean is null.
-- No rows: no answer has a Gscore: `proctor cgeval import FILE`, then `proctor cgeval run --models … --references FILE`.
WITH categories AS (
    SELECT
        run_id,
        model,
        is_simulated,
        profile,
        similarity_model,
        coalesce(category, 'unknown') AS category,
        avg(gscore::DECIMAL(38, 18)) * 100 AS gscore,
        avg(bleu4::DECIMAL(38, 18)) * 100 AS bleu4,
        avg(rouge2::DECIMAL(38, 18)) * 100 AS rouge2,
        avg(chrf::DECIMAL(38, 18)) * 100 AS chrf,
        avg(similarity::DECIMAL(38, 18)) * 100 AS similarity,
        avg(accuracy::DECIMAL(38, 18)) * 100 AS accuracy,
        count(gscore) AS scored_count,
        count(*) - count(gscore) AS unscored_count,
        1 AS category_count
    FROM gscores
    GROUP BY ALL
),

overall AS (
    SELECT
        run_id,
        model,
        is_simulated,
        profile,
        similarity_model,
        NULL AS category,
        CASE WHEN count(gscore) = count(*) THEN avg(gscore ORDER BY category) END AS gscore,
        avg(bleu4 ORDER BY category) AS bleu4,
        avg(rouge2 ORDER BY category) AS rouge2,
        avg(chrf ORDER BY category) AS chrf,
        avg(similarity ORDER BY category) AS similarity,
        avg(accuracy ORDER BY category) AS accuracy,
        sum(scored_count)::BIGINT AS scored_count,
        sum(unscored_count)::BIGINT AS unscored_count,
        count(*) AS category_count
    FROM categories
    GROUP BY ALL
)

SELECT * FROM categories
UNION ALL
SELECT * FROM overall
ORDER BY run_id, profile, similarity_model, model, category NULLS FIRST
