-- What did everybody who judged one answer say of it, and why?
-- One row per judge, version of its prompt and occasion, by judge and time. For those who may see reference answers: reasons quote
-- them.
-- Parameters: $session_id, $seq, $month
SELECT judge, stars, parse_status, prompt_version, occasion, attempt, judged_at, address, reason, key_verdict
FROM judgements
WHERE month = $month AND session_id = $session_id AND seq = $seq::BIGINT
ORDER BY judge, judged_at, prompt_version
