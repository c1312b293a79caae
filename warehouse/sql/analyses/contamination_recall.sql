-- How many questions can each candidate complete from memory?
-- One row per replay, candidate and source (the bank or a public set). A question is recalled when at least two of its
-- completions are correct; completions that could not be compared are not correct, and are counted.
WITH questions_replayed AS (
    SELECT
        replay_id,
        model,
        source,
        item_id,
        count(*) FILTER (is_correct) AS correct_count,
        count(*) FILTER (is_correct IS NULL) AS uncompared_count
    FROM replays
    GROUP BY replay_id, model, source, item_id
)

SELECT
    replay_id,
    model,
    source,
    count(*) AS question_count,
    count(*) FILTER (correct_count >= 2) AS recalled_count,
    count(*) FILTER (correct_count >= 2) / count(*) * 100 AS recalled_rate,
    sum(uncompared_count)::BIGINT AS uncompared_count
FROM questions_replayed
GROUP BY replay_id, model, source
ORDER BY replay_id, model, source
