-- Which questions were taken out of the bank by somebody?
-- One row per question; of an original, all of its lineage is out.
SELECT question_uuid, lineage_uuid
FROM bank_retirements
WHERE is_retired
ORDER BY question_uuid
