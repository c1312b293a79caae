-- What did each session score?
-- One row per session of a run that has judgements. score is S = sum of stars / (3 N) x 100, where N (scored_count) is the
-- allocated count less the unparsed judgements, which are left out and counted. is_complete: the session is closed and
-- nothing in it is left to judge; only complete sessions are published.
SELECT
    run_id,
    month,
    session_id,
    set_id,
    model,
    organisation,
    prompt_style,
    repeat,
    is_reference,
    judge,
    count(*) AS question_count,
    count(stars) AS scored_count,
    count(*) FILTER (score_status = 'unanswered') AS unanswered_count,
    count(*) FILTER (score_status = 'unparsed') AS unparsed_count,
    count(*) FILTER (score_status = 'unjudged') AS unjudged_count,
    count(*) FILTER (answer_status IN ('empty', 'refused')) AS no_answer_count,
    sum(stars)::BIGINT AS star_count,
    sum(stars) / (3 * nullif(count(stars), 0)) * 100 AS score,
    bool_and(session_status = 'closed') AND count(*) FILTER (score_status = 'unjudged') = 0 AS is_complete,
    is_provisional,
    is_simulated
FROM scored_responses
GROUP BY ALL
