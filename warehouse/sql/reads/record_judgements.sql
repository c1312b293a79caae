-- What did the judges of a run say?
-- One row per response and judge, its last judgement, in order of session, position and judge.
-- Parameters: $run_id
SELECT
    session_id,
    seq,
    judge,
    raw,
    stars,
    reason
FROM judgements
WHERE run_id = $run_id
QUALIFY row_number() OVER (PARTITION BY session_id, seq, judge ORDER BY judged_at DESC) = 1
ORDER BY session_id, seq, judge
