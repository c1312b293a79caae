-- What did everybody who judged one answer say of it, and with what did it land?
-- One row per judge, version of its prompt and occasion.
-- Parameters: $session_id, $seq, $month
SELECT landing_unit AS unit, judge, stars, raw, parse_status, prompt_version, occasion, attempt
FROM judgements
WHERE month = $month AND session_id = $session_id AND seq = $seq::BIGINT
ORDER BY judge, prompt_version, occasion
