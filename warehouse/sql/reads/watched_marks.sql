-- What did each judge give the answers of a candidate in a run, of which not every session has landed?
-- One row per response and judge, its last reply; stars is null where it could not be read. No text is read.
-- Parameters: $run_id, $month, $model
SELECT session_id, seq, judge, arg_max_null(stars, judged_at) AS stars
FROM judgements
WHERE run_id = $run_id AND month = $month AND model = $model
GROUP BY session_id, seq, judge
ORDER BY session_id, seq, judge
