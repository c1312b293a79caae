-- What did every candidate get for every question of a month?
-- One row per candidate, set and question: stars averaged over its repeats. As in S, what nobody could read
-- counts 0; what nobody has judged has no row.
-- Input of the resamples (tasks/statistics/bootstrap.py) and of relative score against Elo (tasks/statistics/elo.py).
-- Parameters: $month (default null), $prompt_style (default zero_shot), $simulated (default null)
WITH shown AS (
    SELECT DISTINCT month, run_id, model, prompt_style
    FROM style_scores
    WHERE prompt_style = $prompt_style
        AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
)

SELECT
    er.month,
    er.model,
    er.set_id,
    er.question_uuid,
    er.discipline,
    avg(coalesce(er.stars, 0)) AS stars,
    count(*) AS repeat_count
FROM edition_responses AS er
JOIN shown ON shown.run_id = er.run_id AND shown.model = er.model AND shown.prompt_style = er.prompt_style
WHERE er.score_status <> 'unjudged' AND er.month = coalesce($month::VARCHAR, (SELECT max(month) FROM shown))
GROUP BY er.month, er.model, er.set_id, er.question_uuid, er.discipline
ORDER BY er.model, er.set_id, er.question_uuid
