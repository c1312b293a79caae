-- Where is each candidate strong and weak?
-- One row per candidate and discipline of one month and prompt style; discipline_score on 0 to 10.
-- gap is its distance to the mean of all candidates shown in the discipline.
-- Parameters: $month (default null), $prompt_style (default zero_shot), $simulated (default null)
-- Marks of: month
-- No rows: nothing was published in the month that is asked for: `proctor monthly` examines, judges and publishes one.
WITH shown AS (
    SELECT
        d.month, d.model, d.organisation, d.discipline, d.discipline_score, d.repeat_count, d.question_count,
        d.unparsed_count, s.score, s.rank, d.is_simulated
    FROM discipline_scores AS d
    JOIN style_scores AS s
        ON s.month = d.month
        AND s.model = d.model
        AND s.prompt_style = d.prompt_style
        AND s.is_simulated = d.is_simulated
        AND s.edition_id = d.edition_id
    WHERE d.prompt_style = $prompt_style
        AND coalesce($simulated::BOOLEAN OR NOT d.is_simulated, s.is_shown_by_default)
        AND NOT s.is_repetition
)

SELECT
    *,
    round(discipline_score - avg(discipline_score ORDER BY discipline_score) OVER (PARTITION BY discipline), 9) AS gap
FROM shown
WHERE month = coalesce($month::VARCHAR, (
    SELECT max(month) FROM current_editions
    WHERE NOT is_repetition AND coalesce($simulated::BOOLEAN OR NOT is_simulated, is_shown_by_default)
))
ORDER BY is_simulated, rank, model, discipline
