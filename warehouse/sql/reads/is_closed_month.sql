-- Is every run that was judged in a month published by the judge that its edition names?
-- One row. Then nothing but the month's own rows decides whose stars count in it.
-- Parameters: $month
SELECT coalesce(bool_and(coalesce(e.judge = p.judge AND e.judge_prompt_version = p.prompt_wording, false)), false) AS is_closed
FROM primary_judge AS p
LEFT JOIN current_editions AS e ON e.month = p.month AND e.run_id = p.run_id
WHERE p.month = $month
