-- Which rows hold a text of a session whose texts were erased?
-- One row per response or judgement; passes when empty. After a restore of an older lake `proctor erase --again` erases it again.
-- Null is every month.
-- Parameters: $month (default null)
SELECT 'responses' AS table_name, responses.session_id, responses.seq, NULL AS judge
FROM responses
SEMI JOIN erasures ON erasures.session_id = responses.session_id
WHERE
    (responses.response IS NOT NULL OR responses.reasoning IS NOT NULL OR responses.answer IS NOT NULL)
    AND ($month::VARCHAR IS NULL OR responses.month = $month)
UNION ALL
SELECT 'judgements' AS table_name, judgements.session_id, judgements.seq, judgements.judge
FROM judgements
SEMI JOIN erasures ON erasures.session_id = judgements.session_id
WHERE
    (judgements.reason IS NOT NULL OR judgements.raw IS NOT NULL)
    AND ($month::VARCHAR IS NULL OR judgements.month = $month)
ORDER BY ALL
