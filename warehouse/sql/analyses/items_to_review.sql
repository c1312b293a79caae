-- Which questions should an expert look at again, because their answers do not fit?
-- One row per question of the last published month's fit whose residuals are far from what the model of the scores expects.
-- Parameters: $month (default null)
-- Shown: question_uuid, discipline, difficulty, discrimination, fit, answer_count
SELECT
    i.month,
    i.question_uuid,
    i.lineage_uuid,
    i.discipline,
    i.difficulty,
    i.discrimination,
    i.fit,
    i.answer_count,
    i.first_month,
    i.is_simulated
FROM edition_items AS i
JOIN current_editions AS e ON e.edition_id = i.edition_id AND e.month = i.month
WHERE i.is_misfit AND i.month = coalesce($month::VARCHAR, (SELECT max(month) FROM current_editions))
ORDER BY i.fit DESC, i.question_uuid
