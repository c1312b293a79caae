-- Which questions of the bank was an organisation put before?
-- One row per question, as it stood when it was last put to one of its candidates; in the order of its identifier.
-- Parameters: $organisations (all names of one), $is_simulated
WITH met AS (
    SELECT question_uuid, max(bank_version) AS bank_version
    FROM responses
    WHERE organisation IN (SELECT unnest($organisations::VARCHAR[])) AND is_simulated = $is_simulated
    GROUP BY question_uuid
)

SELECT bank.question_uuid, bank.language, bank.stem, bank.options
FROM met
JOIN bank ON bank.bank_version = met.bank_version AND bank.question_uuid = met.question_uuid
ORDER BY bank.question_uuid
