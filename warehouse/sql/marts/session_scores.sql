-- What did each session score?
-- One row per session of a run that has judgements. score is S = sum of stars / (3 N) x 100, where N (question_count) is always
-- the allocated count: what is unanswered counts 0, and so does a judgement that nobody could read, until somebody can.
-- score is null while the session is open or something in it is unjudged.
-- is_complete: there is a score, and at most 0.5% of the candidate's answers in the run (unparsed_rate) have no stars because
-- nobody could read a judgement of them; only complete sessions are published.
WITH session_counts AS (
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
        count(*) FILTER (score_status = 'error') AS error_count,
        count(*) FILTER (score_status = 'resolved') AS resolved_count,
        count(*) FILTER (score_status = 'unparsed') AS unparsed_count,
        count(*) FILTER (score_status = 'unjudged') AS unjudged_count,
        count(*) FILTER (answer_status IN ('empty', 'refused')) AS no_answer_count,
        coalesce(sum(stars), 0)::BIGINT AS star_count,
        bool_and(session_status = 'closed') AND count(*) FILTER (score_status = 'unjudged') = 0 AS is_judged,
        is_provisional,
        is_simulated
    FROM scored_responses
    GROUP BY ALL
)

SELECT
    * EXCLUDE (is_judged, is_provisional, is_simulated),
    -- As compute_score of tasks/statistics/score.py where the set holds disciplines in the shares that they weigh: held together
    -- by tests/tasks/editions/test_one_score.py.
    CASE WHEN is_judged THEN star_count / (3 * question_count) * 100 END AS score,
    sum(unparsed_count) OVER candidates / sum(question_count) OVER candidates AS unparsed_rate,
    is_judged AND sum(unparsed_count) OVER candidates <= 0.005 * sum(question_count) OVER candidates AS is_complete,
    is_provisional,
    is_simulated
FROM session_counts
WINDOW candidates AS (PARTITION BY month, run_id, model)
