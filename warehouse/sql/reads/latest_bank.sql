-- Which questions may be examined now, with everything needed to put and score them?
-- One row per question of the latest published bank version, without the unit it was landed with; in order of question.
SELECT * EXCLUDE (landing_unit)
FROM bank
WHERE bank_version = (SELECT max(bank_version) FROM bank_versions)
ORDER BY question_uuid
