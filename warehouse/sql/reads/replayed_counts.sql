-- How many questions did each candidate of a replay recall, source by source?
-- One row per candidate and source. A question is recalled when at least two of its completions are right; one with
-- fewer completions, as its endpoint did not take it, is left out.
-- Parameters: $replay_id
SELECT
    model,
    source,
    is_simulated,
    count(*)::BIGINT AS question_count,
    (count(*) FILTER (correct_count >= 2))::BIGINT AS recalled_count,
    sum(uncompared_count)::BIGINT AS uncompared_count
FROM (
    SELECT
        model,
        source,
        is_simulated,
        item_id,
        count(*) FILTER (is_correct) AS correct_count,
        count(*) FILTER (is_correct IS NULL) AS uncompared_count
    FROM replays
    WHERE replay_id = $replay_id
    GROUP BY model, source, is_simulated, item_id
    HAVING count(*) >= 2
) AS questions_replayed
GROUP BY model, source, is_simulated
ORDER BY model, source
