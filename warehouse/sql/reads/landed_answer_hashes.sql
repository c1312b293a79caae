-- What are the hashes of the answers that these sessions of one month were landed with?
-- One row per answer that a candidate gave: SHA-256 of its text, as hexadecimal text. Failed calls have none, and erased answers
-- are left to the audit log, which has the hashes of all.
-- Parameters: $session_ids, $month
SELECT r.session_id, r.seq, sha256(coalesce(r.response, '')) AS answer_hash
FROM responses AS r
SEMI JOIN (SELECT unnest($session_ids::VARCHAR[]) AS session_id) AS asked ON asked.session_id = r.session_id
ANTI JOIN erasures ON erasures.session_id = r.session_id
WHERE r.month = $month AND r.answer_status <> 'error'
