-- Which entries of the bank are not in the index yet?
-- One row per question and revision that entered, with its content.
-- Parameters: $algorithm
SELECT * EXCLUDE (landing_unit)
FROM bank_contents
ANTI JOIN (SELECT * FROM question_signatures WHERE algorithm = $algorithm) AS indexed
    USING (question_uuid, lineage_uuid, from_version)
ORDER BY question_uuid, from_version
