-- Where does a judge say something else than the key?
-- One row per judgement of a response that a key decides whose stars and key differ: 2 or 3 stars for an answer that is wrong by
-- the key, 0 or 1 for one that is right. answer is what was read of the response, key the bank's. A list to look at, no correction: an
-- extracted answer may be misread, a key may be wrong. More than a few shut the gate `keys`.
-- Parameters: $run_id (default null), $judge (default null)
-- Shown: run_id, session_id, seq, judge, stars, answer, key, key_verdict
-- No rows: no judge has said anything else than a key: `proctor judge --run RUN` judges a run.
WITH apart AS (
    SELECT *
    FROM judgements
    WHERE (stars >= 2 AND key_verdict = 'wrong' OR stars <= 1 AND attempt > 0 AND key_verdict = 'right')
        AND run_id = coalesce($run_id::VARCHAR, run_id)
        AND judge = coalesce($judge::VARCHAR, judge)
),

-- Texts of answers that were erased are null here, too.
answered AS (
    SELECT month, session_id, seq, question_uuid, bank_version, answer
    FROM responses
    SEMI JOIN apart USING (month, session_id, seq)
),

keys AS (
    SELECT a.question_uuid, a.bank_version, arg_max(c.answer, c.from_version) AS key
    FROM (SELECT DISTINCT question_uuid, bank_version FROM answered) AS a
    JOIN bank_contents AS c ON c.question_uuid = a.question_uuid AND c.from_version <= a.bank_version
    GROUP BY a.question_uuid, a.bank_version
)

SELECT
    j.run_id,
    j.month,
    j.session_id,
    j.seq,
    j.question_uuid,
    j.model,
    j.judge,
    j.prompt_version,
    j.occasion,
    j.stars,
    a.answer,
    k.key,
    j.key_verdict,
    j.reason,
    j.is_simulated
FROM apart AS j
LEFT JOIN answered AS a ON a.month = j.month AND a.session_id = j.session_id AND a.seq = j.seq
LEFT JOIN keys AS k ON k.question_uuid = a.question_uuid AND k.bank_version = a.bank_version
ORDER BY j.month, j.run_id, j.question_uuid, j.session_id, j.seq, j.judge, j.prompt_version, j.occasion
