-- Which questions were answered in these sessions, as they stood in the bank version that was drawn from?
-- One row per question and bank version. $months are those of the sessions: no other month is read.
-- Parameters: $session_ids, $months
SELECT bank.*
FROM bank
SEMI JOIN (
    SELECT bank_version, question_uuid
    FROM responses
    WHERE list_contains($months::VARCHAR[], month) AND list_contains($session_ids::VARCHAR[], session_id)
) AS put USING (bank_version, question_uuid)
