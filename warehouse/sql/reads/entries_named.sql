-- Which questions have an identifier that begins so?
-- One row per question and revision that entered the bank.
-- Parameters: $name
SELECT *
FROM bank_entries
WHERE starts_with(question_uuid, $name)
ORDER BY question_uuid, from_version
