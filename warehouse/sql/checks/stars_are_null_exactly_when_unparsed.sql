-- Which judgements have stars although nothing could be read, or none although something could?
-- One row per judgement; passes when empty.
SELECT session_id, seq, judge, stars, parse_status
FROM judgements
WHERE (stars IS NULL) <> (parse_status = 'unparsed')
ORDER BY ALL
