-- What was answered in sessions of one month, and why did each judge give its stars?
-- One row per response, in order of session and position; reasons by `judge/version of its prompt`, the last of each. erased_at: when
-- texts and reasons were erased; null where they were not.
-- Parameters: $session_ids, $month
WITH reasons AS (
    SELECT session_id, seq, judge || '/' || split_part(prompt_version, '/', 1) AS judge, reason
    FROM judgements
    WHERE month = $month AND list_contains($session_ids::VARCHAR[], session_id)
    QUALIFY row_number() OVER (PARTITION BY session_id, seq, judge, split_part(prompt_version, '/', 1) ORDER BY judged_at DESC) = 1
)

SELECT
    r.session_id,
    r.seq,
    r.bank_version,
    r.response,
    r.reasoning,
    r.answer,
    r.answer_status,
    r.finish_reason,
    r.input_tokens,
    r.output_tokens,
    r.cost_usd,
    r.latency_ms,
    erasures.erased_at,
    (
        SELECT list({judge: reasons.judge, reason: reasons.reason})
        FROM reasons
        WHERE reasons.session_id = r.session_id AND reasons.seq = r.seq
    ) AS reasons
FROM responses AS r
LEFT JOIN erasures ON erasures.session_id = r.session_id
WHERE r.month = $month AND list_contains($session_ids::VARCHAR[], r.session_id)
ORDER BY r.session_id, r.seq
