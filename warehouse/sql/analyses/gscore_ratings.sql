-- What did people give the answers that have a Gscore?
-- One row per rated answer, profile and similarity model: Gscore and its parts (0 to 1) next to human_score, the mean of its
-- raters' scores in the round (0 to 1). Answers that were rated and not scored have no row.
-- Parameters: $sample (default null), $round (default null)
-- No rows: nobody has scored answers that have a Gscore: `proctor cgeval sample`, `proctor cgeval ratings export FILE.xlsx`, then `proctor cgeval ratings import FILE.xlsx --rater NAME`.
WITH ratings AS (
    SELECT
        session_id,
        seq,
        round,
        avg(value ORDER BY value) AS human_score,
        min(value) AS lowest_score,
        max(value) AS highest_score,
        count(DISTINCT rater) AS rater_count
    FROM human_ratings
    WHERE scale = 'score_0_1'
        AND ($sample::VARCHAR IS NULL OR starts_with(landing_unit, 'cgeval/' || $sample::VARCHAR || '/'))
        AND round = coalesce($round::BIGINT, round)
    GROUP BY session_id, seq, round
)

SELECT
    gscores.run_id,
    gscores.item_id,
    gscores.model,
    gscores.is_simulated,
    gscores.category,
    gscores.subject,
    gscores.item_kind,
    gscores.profile,
    gscores.similarity_model,
    gscores.gscore,
    gscores.bleu4,
    gscores.rouge2,
    gscores.chrf,
    gscores.similarity,
    ratings.round,
    ratings.human_score,
    ratings.lowest_score,
    ratings.highest_score,
    ratings.rater_count
FROM gscores
JOIN ratings USING (session_id, seq)
ORDER BY gscores.run_id, gscores.profile, gscores.similarity_model, gscores.seq, gscores.model, ratings.round
