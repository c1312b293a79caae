-- What does a lineage hold that is or was in the bank?
-- One row per question and revision that entered, with what is right, in order.
-- Parameters: $lineage_uuid
SELECT *
FROM bank_entries
WHERE lineage_uuid = $lineage_uuid
ORDER BY question_uuid, from_version
