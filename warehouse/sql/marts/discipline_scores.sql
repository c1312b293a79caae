-- How does each candidate do in each discipline?
-- One row per month, candidate, prompt style and discipline. discipline_score is on a 0 to 10 scale, mean of the repeats;
-- over ten disciplines in equal shares the ten add up to S. N is the allocated count, as in S; only sessions that are complete
-- in edition_repeat_scores speak here.
-- A candidate that sat in two runs of a month is taken from the later one.
WITH complete_sessions AS (
    SELECT
        *,
        star_count / (3 * question_count) * 10 AS discipline_score
    FROM session_discipline_stars
    QUALIFY
        sum(unjudged_count) OVER (PARTITION BY run_id, session_id) = 0
        AND sum(unparsed_count) OVER (PARTITION BY run_id, model)
        <= 0.005 * sum(question_count) OVER (PARTITION BY run_id, model)
)

SELECT
    month,
    run_id,
    model,
    organisation,
    prompt_style,
    discipline,
    avg(discipline_score) AS discipline_score,
    stddev_samp(discipline_score) AS discipline_score_sd,
    count(*) AS repeat_count,
    sum(question_count)::BIGINT AS question_count,
    sum(scored_count)::BIGINT AS scored_count,
    sum(unparsed_count)::BIGINT AS unparsed_count,
    is_simulated
FROM complete_sessions
GROUP BY month, run_id, planned_at, model, organisation, prompt_style, discipline, is_simulated
QUALIFY dense_rank() OVER (
    PARTITION BY month, model, prompt_style, is_simulated
    ORDER BY planned_at DESC, run_id DESC
) = 1
