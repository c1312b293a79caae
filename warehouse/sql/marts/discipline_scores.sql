-- How does each candidate do in each discipline?
-- One row per month, candidate, prompt style and discipline. discipline_score is on a 0 to 10 scale, mean of the repeats;
-- over ten disciplines in equal shares the ten add up to S. Unparsed judgements are left out and counted.
-- A candidate that sat in two runs of a month is taken from the later one.
WITH by_session AS (
    SELECT
        er.run_id,
        er.month,
        er.planned_at,
        er.session_id,
        er.model,
        er.organisation,
        er.prompt_style,
        er.discipline,
        count(*) AS question_count,
        count(er.stars) AS scored_count,
        count(*) FILTER (er.score_status = 'unparsed') AS unparsed_count,
        sum(er.stars) / (3 * nullif(count(er.stars), 0)) * 10 AS discipline_score,
        er.is_simulated
    FROM edition_responses AS er
    SEMI JOIN (SELECT run_id, session_id FROM repeat_scores WHERE is_complete) AS complete
        ON complete.run_id = er.run_id AND complete.session_id = er.session_id
    GROUP BY ALL
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
FROM by_session
GROUP BY month, run_id, planned_at, model, organisation, prompt_style, discipline, is_simulated
QUALIFY dense_rank() OVER (
    PARTITION BY month, model, prompt_style, is_simulated
    ORDER BY planned_at DESC, run_id DESC
) = 1
