-- What do these pictures show, in words?
-- One row per picture of which somebody said it: the last words of an annotator in a question that was accepted, else those of the first
-- paper by id that holds it.
-- Parameters: $sha256s
WITH asked AS (
    SELECT unnest($sha256s::VARCHAR[]) AS sha256
),

of_annotators AS (
    SELECT one.sha256, one.alt_text, r.decided_at
    FROM reviews AS r
    SEMI JOIN review_decisions AS d
        ON d.batch_id = r.batch_id AND d.question_uuid = r.question_uuid AND d.outcome = 'accepted'
    CROSS JOIN unnest(from_json(r.edited_fields -> 'pictures', '[{"sha256": "VARCHAR", "alt_text": "VARCHAR"}]')) AS given (one)
    WHERE contains(r.edited_fields, '"pictures"')
),

said AS (
    SELECT sha256, 1 AS place, arg_max(alt_text, decided_at) AS alt_text
    FROM of_annotators
    WHERE alt_text <> ''
    GROUP BY sha256
    UNION ALL
    SELECT sha256, 2 AS place, arg_min(alt_text, document_id) AS alt_text
    FROM pictures
    WHERE alt_text <> ''
    GROUP BY sha256
)

SELECT sha256, arg_min(alt_text, place) AS alt_text
FROM said
SEMI JOIN asked USING (sha256)
GROUP BY sha256
