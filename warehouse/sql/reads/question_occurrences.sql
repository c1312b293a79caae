-- In which documents does each question stand?
-- One row per question and document. has_other_key: it prints another key than the one that review accepted; of choices and statements.
WITH accepted AS (
    SELECT question_uuid, arg_max(answer, (decided_at, batch_id)) AS answer
    FROM review_decisions
    WHERE outcome = 'accepted'
    GROUP BY question_uuid
)

SELECT
    questions.question_uuid,
    questions.document_id,
    coalesce(bool_or(
        questions.question_type IN ('multiple_choice', 'true_false')
        AND len(questions.answer) > 0
        AND questions.answer <> accepted.answer
    ), false) AS has_other_key
FROM questions
LEFT JOIN accepted ON accepted.question_uuid = questions.question_uuid
GROUP BY questions.question_uuid, questions.document_id
ORDER BY ALL
