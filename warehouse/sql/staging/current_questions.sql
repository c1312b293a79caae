-- What does each question say now, after review?
-- One row per question and document it was found in: the highest revision, with the content that the gate accepted where it
-- edited one. Questions that were refused stay here with their outcome; null means not reviewed yet. What a later review left undecided
-- is as it was before. Those of a paper that is held are none yet.
WITH parsed AS (
    SELECT *
    FROM questions
    ANTI JOIN held_documents ON held_documents.document_id = questions.document_id
    QUALIFY row_number() OVER (PARTITION BY question_uuid, document_id ORDER BY revision DESC) = 1
),

decided AS (
    SELECT *
    FROM review_decisions
    QUALIFY
        row_number() OVER (
            PARTITION BY question_uuid ORDER BY outcome <> 'undecided' DESC, decided_at DESC, batch_id DESC
        ) = 1
)

SELECT
    parsed.question_uuid,
    greatest(parsed.revision, coalesce(decided.revision, parsed.revision)) AS revision,
    parsed.lineage_uuid,
    parsed.document_id,
    parsed.document_name,
    parsed.position,
    CASE WHEN decided.revision > parsed.revision THEN decided.question_type ELSE parsed.question_type END AS question_type,
    CASE WHEN decided.revision > parsed.revision THEN decided.discipline ELSE parsed.discipline END AS discipline,
    CASE WHEN decided.revision > parsed.revision THEN decided.sub_discipline ELSE parsed.sub_discipline END AS sub_discipline,
    CASE WHEN decided.revision > parsed.revision THEN decided.source_kind ELSE parsed.source_kind END AS source_kind,
    CASE WHEN decided.revision > parsed.revision THEN decided.language ELSE parsed.language END AS language,
    CASE WHEN decided.revision > parsed.revision THEN decided.stem ELSE parsed.stem END AS stem,
    CASE WHEN decided.revision > parsed.revision THEN decided.material ELSE parsed.material END AS material,
    CASE WHEN decided.revision > parsed.revision THEN decided.options ELSE parsed.options END AS options,
    CASE WHEN decided.revision > parsed.revision THEN decided.answer ELSE parsed.answer END AS answer,
    CASE WHEN decided.revision > parsed.revision THEN decided.explanation ELSE parsed.explanation END AS explanation,
    CASE WHEN decided.revision > parsed.revision THEN decided.pictures ELSE parsed.pictures END AS pictures,
    parsed.parse_confidence,
    parsed.status,
    decided.outcome AS review_outcome,
    decided.decided_at AS reviewed_at
FROM parsed
LEFT JOIN decided ON decided.question_uuid = parsed.question_uuid
