-- When was a question taken out of the bank, and back in?
-- One row per time, the earliest first.
-- Parameters: $question_uuid
SELECT question_uuid, lineage_uuid, is_retired, reason, retired_at
FROM bank_retirements
WHERE question_uuid = $question_uuid
ORDER BY retired_at, landing_unit
