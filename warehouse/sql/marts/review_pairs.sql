-- Which independent decisions are there on the same question by two annotators?
-- One row per question of a closed review batch and pair of annotators, in the order of their names. place_a and place_b are the
-- decisions in the order accept (1), edit (2), reject (3). Adjudications are no independent reviews and are left out.
WITH votes AS (
    SELECT
        r.batch_id,
        r.question_uuid,
        a.discipline,
        r.annotator,
        r.decision,
        list_position(['accept', 'edit', 'reject'], r.decision) AS place
    FROM reviews AS r
    JOIN review_assignments AS a
        ON a.batch_id = r.batch_id AND a.question_uuid = r.question_uuid AND a.annotator = r.annotator
    WHERE a.role = 'reviewer'
)

SELECT
    a.batch_id,
    a.question_uuid,
    a.discipline,
    a.annotator AS annotator_a,
    b.annotator AS annotator_b,
    a.decision AS decision_a,
    b.decision AS decision_b,
    a.place AS place_a,
    b.place AS place_b,
    count(*) OVER (PARTITION BY a.batch_id, a.question_uuid) AS pair_count,
    (1 + sqrt(1 + 8 * count(*) OVER (PARTITION BY a.batch_id, a.question_uuid))) / 2 AS rating_count
FROM votes AS a
JOIN votes AS b
    ON b.batch_id = a.batch_id AND b.question_uuid = a.question_uuid AND b.annotator > a.annotator
