-- Which decisions of reviewers did the lake take last?
-- One row per decision, the newest 10,000.
SELECT
    batch_id,
    question_uuid,
    annotator
FROM reviews
ORDER BY decided_at DESC, batch_id, question_uuid, annotator
LIMIT 10000
