-- What did a judge give the control answers of a run?
-- One row per kind and stars (null: unparsed), those that the judge was asked for. None before it was given any.
-- Parameters: $run_id, $month, $judge, $prompt_version
SELECT kind, stars, count(*) AS answer_count
FROM judge_controls
WHERE run_id = $run_id
    AND month = $month
    AND judge = $judge
    AND split_part(prompt_version, '/', 1) = $prompt_version
    AND attempt > 0
GROUP BY kind, stars
ORDER BY kind, stars NULLS LAST
