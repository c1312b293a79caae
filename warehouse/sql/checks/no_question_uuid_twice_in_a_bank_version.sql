-- Which questions are more than once in a bank version?
-- One row per question and bank version; passes when empty.
SELECT bank_version, question_uuid, count(*) AS row_count
FROM bank
GROUP BY bank_version, question_uuid
HAVING count(*) > 1
ORDER BY ALL
