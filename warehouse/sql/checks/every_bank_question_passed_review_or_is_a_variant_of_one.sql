-- Which questions are in the bank without having passed the expert review?
-- One row per question and bank version; passes when empty. An original needs an acceptance of its own; a variant needs one
-- of the original of its lineage, and must not have been refused itself.
WITH accepted AS (
    SELECT DISTINCT question_uuid
    FROM review_decisions
    WHERE outcome = 'accepted'
),

refused AS (
    SELECT DISTINCT question_uuid
    FROM review_decisions
    WHERE outcome = 'rejected' AND question_uuid NOT IN (SELECT question_uuid FROM accepted)
)

SELECT bank.bank_version, bank.question_uuid, bank.lineage_uuid, bank.method
FROM bank
WHERE
    CASE WHEN bank.method = 'original' THEN bank.question_uuid ELSE bank.lineage_uuid END
    NOT IN (SELECT question_uuid FROM accepted)
    OR bank.question_uuid IN (SELECT question_uuid FROM refused)
ORDER BY ALL
