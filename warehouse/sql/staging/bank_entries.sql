-- Which questions are or were in the bank, from which version until which?
-- One row per question and revision that entered. until_version is the first bank version without it; null while it is in the
-- bank. exit_reason says why it left.
SELECT
    contents.* EXCLUDE (landing_unit),
    exits.until_version,
    exits.reason AS exit_reason
FROM bank_contents AS contents
LEFT JOIN bank_exits AS exits
    ON
        exits.question_uuid = contents.question_uuid
        AND exits.lineage_uuid = contents.lineage_uuid
        AND exits.from_version = contents.from_version
