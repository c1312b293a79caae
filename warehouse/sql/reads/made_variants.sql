-- Which questions were made from accepted ones?
-- One row per variant, in order of question.
SELECT *
FROM variants
ORDER BY question_uuid
