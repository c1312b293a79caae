-- Which judgements have stars although nothing could be read, or none although something could?
-- One row per judgement, of responses and of control answers; passes when empty.
SELECT session_id, seq, judge, stars, parse_status
FROM judgements
WHERE (stars IS NULL) <> (parse_status = 'unparsed')
UNION ALL
SELECT run_id AS session_id, NULL AS seq, judge, stars, parse_status
FROM judge_controls
WHERE (stars IS NULL) <> (parse_status = 'unparsed')
ORDER BY ALL
