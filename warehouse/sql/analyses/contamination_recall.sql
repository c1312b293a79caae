-- How many questions can each candidate complete from memory?
-- One row per replay, candidate and source (the bank or a public set). A question is recalled when at least two of its
-- completions are correct; completions that could not be compared are not correct, and are counted. A question that the
-- endpoint did not take (`quarantine`) is left out. The share has Wilson's 95% interval.
-- Parameters: $simulated (default null)
-- Simulated candidates are left out as soon as a real one was replayed, unless asked for.
-- Shown: model, source, question_count, recalled_count, recalled_rate, recalled_low, recalled_high
-- No rows: no questions were replayed: `proctor contamination run --models … --set bank`.
WITH questions_replayed AS (
    SELECT
        replay_id,
        model,
        source,
        item_id,
        is_simulated,
        count(*) FILTER (is_correct) AS correct_count,
        count(*) FILTER (is_correct IS NULL) AS uncompared_count
    FROM replays
    WHERE coalesce(
        $simulated::BOOLEAN OR NOT is_simulated,
        NOT is_simulated OR NOT EXISTS (FROM replays WHERE NOT is_simulated)
    )
    GROUP BY replay_id, model, source, item_id, is_simulated
    HAVING count(*) >= 2
),

counts AS (
    SELECT
        replay_id,
        model,
        source,
        is_simulated,
        count(*) AS question_count,
        count(*) FILTER (correct_count >= 2) AS recalled_count,
        sum(uncompared_count)::BIGINT AS uncompared_count,
        1.959964 AS reach
    FROM questions_replayed
    GROUP BY replay_id, model, source, is_simulated
)

SELECT
    replay_id,
    model,
    source,
    question_count,
    recalled_count,
    recalled_count / question_count * 100 AS recalled_rate,
    greatest(0, (
        recalled_count + reach ** 2 / 2
        - reach * sqrt(recalled_count * (question_count - recalled_count) / question_count + reach ** 2 / 4)
    ) / (question_count + reach ** 2)) * 100 AS recalled_low,
    least(1, (
        recalled_count + reach ** 2 / 2
        + reach * sqrt(recalled_count * (question_count - recalled_count) / question_count + reach ** 2 / 4)
    ) / (question_count + reach ** 2)) * 100 AS recalled_high,
    uncompared_count,
    is_simulated
FROM counts
ORDER BY replay_id, model, source
