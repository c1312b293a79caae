-- Which reviews or gate decisions are of a question that was planted in their batch?
-- One row per such row. A question with a known decision tries an annotator; it is no review of the bank.
SELECT r.batch_id, r.question_uuid
FROM (
    SELECT batch_id, question_uuid FROM reviews
    UNION ALL
    SELECT batch_id, question_uuid FROM review_decisions
) AS r
WHERE EXISTS (
    SELECT 1
    FROM gold_reviews AS g
    WHERE g.batch_id = r.batch_id AND g.question_uuid = r.question_uuid
)
