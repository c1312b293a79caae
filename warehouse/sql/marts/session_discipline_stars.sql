-- What are the scores of an edition added up from?
-- One row per edition (run), session and discipline: counts and sums of stars, from which edition_repeat_scores
-- and discipline_scores are made. The pair columns cover the questions for which the reference has stars and the candidate was
-- judged; a judgement of the candidate that nobody could read counts 0 in them, as in S.
SELECT
    run_id,
    month,
    planned_at,
    bank_version,
    reference_model,
    is_reference,
    is_borrowed,
    session_id,
    set_id,
    model,
    organisation,
    prompt_style,
    repeat,
    judge,
    discipline,
    count(*) AS question_count,
    count(stars) AS scored_count,
    count(*) FILTER (score_status = 'resolved') AS resolved_count,
    count(*) FILTER (score_status = 'unparsed') AS unparsed_count,
    count(*) FILTER (score_status = 'unjudged') AS unjudged_count,
    coalesce(sum(stars), 0)::BIGINT AS star_count,
    count(*) FILTER (score_status <> 'unjudged' AND reference_stars IS NOT NULL) AS pair_count,
    sum(coalesce(stars, 0)) FILTER (score_status <> 'unjudged' AND reference_stars IS NOT NULL) AS pair_stars,
    sum(reference_stars) FILTER (score_status <> 'unjudged') AS reference_pair_stars,
    is_provisional,
    is_simulated
FROM edition_responses
GROUP BY ALL
