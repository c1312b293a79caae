-- Which answers have no text although nobody erased them?
-- One row per response; passes when empty. An empty answer has an empty text. Null is every month.
-- Parameters: $month (default null)
SELECT responses.session_id, responses.seq, responses.answer_status
FROM responses
ANTI JOIN erasures ON erasures.session_id = responses.session_id
WHERE responses.response IS NULL AND responses.answer_status <> 'error' AND ($month::VARCHAR IS NULL OR responses.month = $month)
ORDER BY ALL
