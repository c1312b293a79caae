-- What do these questions of the bank say now, as review last left them?
-- One row per question that is or was in the bank, by UUID. Of what was decided and is not published yet the decision counts. Those that
-- no paper holds have neither place nor notes.
-- Parameters: $question_uuids
WITH said AS (
    SELECT
        question_uuid,
        revision,
        lineage_uuid,
        document_id,
        question_type,
        discipline,
        sub_discipline,
        source_kind,
        language,
        stem,
        material,
        options,
        answer,
        explanation,
        pictures,
        from_version
    FROM bank_contents
    WHERE list_contains($question_uuids::VARCHAR[], question_uuid)
    UNION ALL BY NAME
    SELECT
        question_uuid,
        revision,
        lineage_uuid,
        document_id,
        question_type,
        discipline,
        sub_discipline,
        source_kind,
        language,
        stem,
        material,
        options,
        answer,
        explanation,
        pictures
    FROM review_decisions
    SEMI JOIN bank_contents USING (question_uuid)
    WHERE list_contains($question_uuids::VARCHAR[], question_uuid) AND outcome = 'accepted'
),

latest AS (
    SELECT * EXCLUDE (from_version)
    FROM said
    QUALIFY row_number() OVER (PARTITION BY question_uuid ORDER BY revision DESC, from_version DESC NULLS LAST) = 1
)

SELECT
    latest.*,
    found.document_name,
    found.position,
    found.number_label,
    found.parse_notes,
    found.status
FROM latest
LEFT JOIN questions AS found
    ON found.question_uuid = latest.question_uuid AND found.document_id = latest.document_id
QUALIFY row_number() OVER (PARTITION BY latest.question_uuid ORDER BY found.position) = 1
ORDER BY latest.question_uuid
