-- How many questions does it take until the order is that of all questions, by the score, by Elo, by Bradley-Terry?
-- One row per edition of a month, set, method and sample size: the rank correlation with the order by S on all questions
-- (its mean and standard deviation over the samples), how many candidates have their final place, and by how many places
-- the one farthest from it is off. Made by `proctor stability RUN`.
-- Parameters: $month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- Shown: method, sample_size, spearman, spearman_sd, in_place_count, candidate_count, largest_rank_shift
-- No rows: no samples were drawn from a published edition: `proctor stability RUN`.
WITH curves AS (
    SELECT c.*
    FROM rating_curves AS c
    JOIN current_editions AS e ON e.edition_id = c.edition_id AND e.month = c.month
    WHERE c.prompt_style = $prompt_style
        AND coalesce($simulated::BOOLEAN OR NOT c.is_simulated, e.is_shown_by_default)
)

SELECT
    c.month,
    c.edition_id,
    c.set_id,
    c.method,
    c.sample_size,
    any_value(c.spearman) AS spearman,
    any_value(c.spearman_sd) AS spearman_sd,
    count_if(c.rank = c.full_rank) AS in_place_count,
    max(abs(c.rank - c.full_rank)) AS largest_rank_shift,
    count(*) AS candidate_count,
    any_value(c.sample_count) AS sample_count,
    any_value(c.question_count) AS question_count,
    c.is_simulated
FROM curves AS c
WHERE c.month = coalesce($month::VARCHAR, (SELECT max(month) FROM curves))
GROUP BY c.month, c.edition_id, c.set_id, c.method, c.sample_size, c.is_simulated
ORDER BY c.month, c.edition_id, c.set_id, c.sample_size, c.method DESC
