-- Which questions are out of the bank because somebody took them out?
-- One row per question whose latest word is that it is out; of an original, all of its lineage is out.
SELECT question_uuid, lineage_uuid
FROM bank_retirements
QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY retired_at DESC, landing_unit DESC) = 1 AND is_retired
ORDER BY question_uuid
