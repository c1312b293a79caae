-- Which questions of the bank show these pictures to who answers them?
-- One row per question and picture, as it was in any version; in order of question.
-- Parameters: $sha256s
SELECT DISTINCT question_uuid, lineage_uuid, one.sha256
FROM bank_entries
CROSS JOIN unnest(pictures) AS named (one)
WHERE one.sha256 IN (SELECT unnest($sha256s::VARCHAR[])) AND one.place IN ('material', 'stem', 'option')
ORDER BY question_uuid, one.sha256
