-- What was each question of a paper read as, and what did review make of it?
-- One row per question as it was parsed, in order; outcome and the accepted content are null where review has not decided, and
-- `was_edited` says whether that content is another.
-- Parameters: $document_id
WITH parsed AS (
    SELECT *
    FROM questions
    WHERE document_id = $document_id
    QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY revision) = 1
),

decided AS (
    SELECT *
    FROM review_decisions
    WHERE outcome <> 'undecided'
    QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY decided_at DESC, batch_id DESC) = 1
)

SELECT
    parsed.question_uuid,
    parsed.section,
    parsed.question_type,
    parsed.stem,
    parsed.material,
    parsed.options,
    parsed.answer,
    parsed.pictures,
    parsed.text_start,
    parsed.text_end,
    parsed.parse_confidence,
    parsed.parse_notes,
    parsed.status,
    decided.outcome,
    decided.reject_reason,
    decided.revision > parsed.revision AS was_edited,
    decided.question_type AS accepted_type,
    decided.stem AS accepted_stem,
    decided.material AS accepted_material,
    decided.options AS accepted_options,
    decided.answer AS accepted_answer
FROM parsed
LEFT JOIN decided ON decided.question_uuid = parsed.question_uuid
ORDER BY parsed.position
