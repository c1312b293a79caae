-- Which judgements have stars although nothing could be read, or none although something could?
-- One row per judgement, of responses and of control answers; passes when empty. Null is every month.
-- Parameters: $month (default null)
SELECT session_id, seq, judge, stars, parse_status
FROM judgements
WHERE (stars IS NULL) <> (parse_status = 'unparsed') AND ($month::VARCHAR IS NULL OR month = $month)
UNION ALL
SELECT run_id AS session_id, NULL AS seq, judge, stars, parse_status
FROM judge_controls
WHERE (stars IS NULL) <> (parse_status = 'unparsed') AND ($month::VARCHAR IS NULL OR month = $month)
ORDER BY ALL
