-- Which questions may be examined now, with everything needed to put and score them?
-- One row per question of the latest published bank version; in order of question.
SELECT *
FROM current_bank
ORDER BY question_uuid
