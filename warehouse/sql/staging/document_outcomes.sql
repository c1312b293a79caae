-- What came of each source paper, from its text to the bank?
-- One row per document: questions found, accepted, refused, and in the latest bank version (originals only).
WITH reviewed AS (
    SELECT
        document_id,
        count(*) AS question_count,
        count(*) FILTER (WHERE review_outcome = 'accepted') AS accepted_count,
        count(*) FILTER (WHERE review_outcome = 'rejected') AS rejected_count
    FROM current_questions
    GROUP BY document_id
),

banked AS (
    SELECT document_id, count(*) AS banked_count
    FROM current_bank
    WHERE method = 'original'
    GROUP BY document_id
)

SELECT
    documents.document_id,
    documents.document_name,
    document_states.status,
    coalesce(reviewed.question_count, 0) AS question_count,
    coalesce(reviewed.accepted_count, 0) AS accepted_count,
    coalesce(reviewed.rejected_count, 0) AS rejected_count,
    coalesce(banked.banked_count, 0) AS banked_count,
    (SELECT count(*) FROM quarantine WHERE table_name = 'questions' AND unit = documents.document_id) AS quarantined_count
FROM documents
JOIN document_states ON document_states.document_id = documents.document_id
LEFT JOIN reviewed ON reviewed.document_id = documents.document_id
LEFT JOIN banked ON banked.document_id = documents.document_id
