-- Who beats whom on the same questions?
-- One row per pair of candidates of one month: on how many questions of the same sets each had more stars than the other
-- (repeats averaged), and on how many they were equal. Input of Elo and Bradley-Terry (tasks/statistics/elo.py).
-- Parameters: $month (default null), $prompt_style (default zero_shot)
WITH answers AS (
    SELECT month, model, judge, set_id, question_uuid, is_simulated, avg(stars) AS stars
    FROM edition_responses
    WHERE stars IS NOT NULL
        AND prompt_style = $prompt_style
        AND month = coalesce($month::VARCHAR, (SELECT max(month) FROM edition_responses))
    GROUP BY ALL
)

SELECT
    a.month,
    a.model AS model_a,
    b.model AS model_b,
    count(*) FILTER (a.stars > b.stars) AS win_a_count,
    count(*) FILTER (a.stars < b.stars) AS win_b_count,
    count(*) FILTER (a.stars = b.stars) AS tie_count,
    a.is_simulated
FROM answers AS a
JOIN answers AS b
    ON b.set_id = a.set_id
    AND b.question_uuid = a.question_uuid
    AND b.judge = a.judge
    AND b.is_simulated = a.is_simulated
    AND b.model > a.model
GROUP BY a.month, a.model, b.model, a.is_simulated
ORDER BY a.month, a.model, b.model
